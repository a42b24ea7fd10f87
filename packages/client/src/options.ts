import type { BackoffDelays, BackoffPolicy } from "./session/backoff.js";
import type { LinkPolicy } from "./session/link.js";
import type { Pacing } from "./queue/token-bucket.js";

/** Everything about a client that is a number. */
export interface ClientPolicy {
  /** Reconnecting, and trying again what was refused for now. */
  readonly backoff: BackoffPolicy;
  /**
   * How often a space that may not be read is asked for again: on a timer, and early, after something of
   * one's own was accepted there.
   */
  readonly denied: BackoffDelays & { readonly early: Pacing };
  readonly link: LinkPolicy;
  /** Appends per stream (speculation.md §Offline). */
  readonly appendPacing: Pacing;
  /** How long a frame waits for the echo of an asynchronous handler before it is shown without, ms. */
  readonly echoBudgetMs: number;
  /** The largest message that is sent, bytes of UTF-8; what is larger is refused here (SY-10). */
  readonly maxMessageBytes: number;
}

/** What a client does unless it is told otherwise. */
export const DEFAULT_POLICY: ClientPolicy = {
  backoff: { baseMs: 250, capMs: 4000, minLifetimeMs: 5000 },
  denied: { baseMs: 1000, capMs: 30_000, early: { burst: 4, ratePerSecond: 1 } },
  link: {
    handshakeTimeoutMs: 10_000,
    pingMs: 30_000,
    pongTimeoutMs: 10_000,
    maxServerMessageBytes: 64 * 1024 * 1024,
  },
  appendPacing: { burst: 20, ratePerSecond: 20 },
  echoBudgetMs: 50,
  maxMessageBytes: 4 * 1024 * 1024,
};

/** A policy with some numbers changed. */
export type PolicyOverrides = {
  readonly [K in keyof ClientPolicy]?: ClientPolicy[K] extends number
    ? ClientPolicy[K]
    : Partial<ClientPolicy[K]>;
};

/** The default policy with overrides. */
export function policyOf(overrides: PolicyOverrides = {}): ClientPolicy {
  return {
    backoff: { ...DEFAULT_POLICY.backoff, ...overrides.backoff },
    denied: { ...DEFAULT_POLICY.denied, ...overrides.denied },
    link: { ...DEFAULT_POLICY.link, ...overrides.link },
    appendPacing: { ...DEFAULT_POLICY.appendPacing, ...overrides.appendPacing },
    echoBudgetMs: overrides.echoBudgetMs ?? DEFAULT_POLICY.echoBudgetMs,
    maxMessageBytes: overrides.maxMessageBytes ?? DEFAULT_POLICY.maxMessageBytes,
  };
}
