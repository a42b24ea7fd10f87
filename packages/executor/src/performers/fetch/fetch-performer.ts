import type { Clock, JsonValue } from "@tidemark/protocol";
import type { DispatchedCall, EffectCall, EffectPerformer } from "../../effects/performer.js";
import { withDeadline } from "../deadline.js";
import { type EgressOptions, type EgressPolicy, egressPolicy, targetOf } from "../egress/policy.js";
import { type Hop, isRedirect, nextHop } from "../egress/redirect.js";
import { type Resolver, resolveTarget, systemResolver } from "../egress/resolve.js";
import { failure } from "../failure.js";
import { exchange, type ExchangeAnswer, type ExchangeLimits } from "../http/exchange.js";
import { bodyValue } from "../http/media.js";
import { readFetchRequest } from "./fetch-request.js";

/** Bounds of one `fetchData`. Times in ms, sizes in bytes. */
export interface FetchLimits extends ExchangeLimits {
  /** From the first look-up to the last byte, redirects included. */
  readonly wholeMs: number;
  readonly redirects: number;
}

/** A call that may say what tells its attempts from other requests. */
type FetchCall = EffectCall & Partial<Pick<DispatchedCall, "key">>;

/** What {@link createFetchPerformer} is made with. */
export interface FetchPerformerOptions {
  readonly clock: Clock;
  /** Where requests may go. Default: ports 80 and 443 of public addresses. */
  readonly egress?: EgressOptions;
  readonly limits?: Partial<FetchLimits>;
  /** Looks names up. Default: the system. */
  readonly resolver?: Resolver;
  /** Certificates (PEM) that count in place of the system's own. */
  readonly ca?: string;
}

export const DEFAULT_FETCH_LIMITS: FetchLimits = {
  connectMs: 5_000,
  headMs: 15_000,
  wholeMs: 30_000,
  headBytes: 16_384,
  bodyBytes: 1_048_576,
  redirects: 5,
};

/**
 * `fetchData` (builtins.md): one HTTP request under a deployment's egress policy. The result is the body of the
 * answer, as `bodyValue` says; every status but 2xx is the error "provider" with that status. Redirects are followed
 * by hand, each checked as the first request was, and every connection goes to an address that was checked.
 *
 * @throws ProtocolError for a policy that does not parse.
 */
export function createFetchPerformer(options: FetchPerformerOptions): EffectPerformer {
  return new FetchPerformer(options);
}

class FetchPerformer implements EffectPerformer {
  readonly #clock: Clock;
  readonly #policy: EgressPolicy;
  readonly #limits: FetchLimits;
  readonly #resolver: Resolver;
  readonly #ca: string | undefined;

  constructor(options: FetchPerformerOptions) {
    this.#clock = options.clock;
    this.#policy = egressPolicy(options.egress);
    this.#limits = { ...DEFAULT_FETCH_LIMITS, ...options.limits };
    this.#resolver = options.resolver ?? systemResolver;
    this.#ca = options.ca;
  }

  async perform(call: FetchCall): Promise<JsonValue> {
    const { first, check } = readFetchRequest(this.#policy, call.request, call.key);
    const { status, headers, body } = await withDeadline(
      {
        clock: this.#clock,
        ms: this.#limits.wholeMs,
        signal: call.signal,
        what: "fetchData: the request",
      },
      (signal) => this.#follow(first, signal),
    );
    if (!isSuccess(status)) {
      throw failure("provider", "status", `fetchData: the host answered ${status}`, status);
    }
    if (first.method === "HEAD" || status === 204 || status === 205) return null;
    const value = bodyValue(body, headers["content-type"]);
    const problem = check?.(value);
    if (problem === undefined) return value;
    throw failure("invalid", "mismatch", `fetchData: the answer is not of the schema: ${problem}`);
  }

  async #follow(first: Hop, signal: AbortSignal): Promise<ExchangeAnswer> {
    let hop = first;
    for (let followed = 0; ; followed += 1) {
      const answer = await this.#ask(hop, signal);
      const { location } = answer.headers;
      if (location === undefined || !isRedirect(answer.status)) return answer;
      if (followed === this.#limits.redirects) {
        throw failure("refused", "redirects", `fetchData: more than ${followed} redirects`);
      }
      hop = nextHop(hop, answer.status, location);
    }
  }

  async #ask(hop: Hop, signal: AbortSignal): Promise<ExchangeAnswer> {
    const clock = this.#clock;
    const addresses = await resolveTarget(targetOf(this.#policy, hop.url), {
      policy: this.#policy,
      resolver: this.#resolver,
      clock,
      ms: this.#limits.connectMs,
      signal,
    });
    return exchange(
      { ...hop, addresses, ca: this.#ca },
      { limits: this.#limits, clock, signal, wantsBody: isSuccess },
    );
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
