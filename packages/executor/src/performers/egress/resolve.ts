import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Clock } from "@tidemark/protocol";
import { withDeadline } from "../deadline.js";
import { failure } from "../failure.js";
import { addressAllowed, type EgressPolicy, type EgressTarget } from "./policy.js";

/** Names to addresses. Rejects as Node's look-ups do, with a `code`. */
export type Resolver = (host: string) => Promise<readonly string[]>;

/** What the system itself answers, hosts file included. */
export const systemResolver: Resolver = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** How a target is looked up. */
export interface ResolveOptions {
  readonly policy: EgressPolicy;
  readonly resolver: Resolver;
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
}

/**
 * Looks a target up, once, and checks every address. The caller connects to what is returned and to nothing else, so
 * that a second look-up with another answer (DNS rebinding) never happens.
 *
 * A name without an address and a name with an inner one fail alike: which inner names exist is nobody's business.
 *
 * @throws EffectError "refused" (reason `address`), "network" (reason `dns`) or "timeout".
 */
export async function resolveTarget(
  { host }: EgressTarget,
  { policy, resolver, clock, ms, signal }: ResolveOptions,
): Promise<readonly string[]> {
  const addresses =
    isIP(host) !== 0
      ? [host]
      : await withDeadline({ clock, ms, signal, what: "fetchData: the look-up of the host" }, () =>
          found(resolver, host),
        );
  if (addresses.length === 0 || !addresses.every((address) => addressAllowed(policy, address))) {
    throw failure(
      "refused",
      "address",
      "fetchData: the host has no address that may be reached from here",
    );
  }
  return addresses;
}

async function found(resolver: Resolver, host: string): Promise<readonly string[]> {
  try {
    return await resolver(host);
  } catch (error) {
    if ((error as { readonly code?: unknown } | undefined)?.code !== "EAI_AGAIN") return [];
    throw failure("network", "dns", "fetchData: host names cannot be looked up now");
  }
}
