import { type EffectErrorKind, EffectError } from "../effects/performer.js";

/**
 * One way in which a performer fails. What is said here is stored in the space, so it is made of our own words and of
 * what the request held; never of what an answer, an address or a credential held.
 */
export function failure(
  kind: EffectErrorKind,
  reason: string,
  message: string,
  status?: number,
): EffectError {
  return new EffectError(message, { kind, reason, ...(status === undefined ? {} : { status }) });
}

/** Nobody waits any more: the tenure ended, or its process stops. */
export function aborted(): EffectError {
  return failure("network", "aborted", "the request was given up before its answer came");
}
