import type { Clock } from "@tidemark/protocol";
import { aborted, failure } from "./failure.js";

/** How long work may take, and who else may end it. */
export interface Deadline {
  readonly clock: Clock;
  readonly ms: number;
  /** Ends the work too. */
  readonly signal: AbortSignal;
  /** What was not done in time, for the error's words. */
  readonly what: string;
}

/**
 * Runs `work` under a deadline. The signal it gets is aborted when time is up or the outer signal is, with the error
 * that this function then throws at once, whether or not `work` listens (a look-up by the system cannot be ended).
 *
 * @throws EffectError "timeout", or "network" (reason `aborted`) where the outer signal ended it.
 */
export async function withDeadline<T>(
  { clock, ms, signal, what }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw abortReason(signal);
  const ending = new AbortController();
  const ended = new Promise<never>((_resolve, reject) => {
    ending.signal.addEventListener("abort", () => reject(ending.signal.reason), { once: true });
  });
  const timer = clock.timer(ms, () =>
    ending.abort(failure("timeout", "late", `${what} took longer than ${ms} ms`)),
  );
  const passOn = (): void => ending.abort(abortReason(signal));
  signal.addEventListener("abort", passOn, { once: true });
  try {
    return await Promise.race([work(ending.signal), ended]);
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", passOn);
  }
}

/** Why a signal of ours was aborted; an outsider's reason is none that may be stored. */
export function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error && reason.name === "EffectError" ? reason : aborted();
}
