import type { RetryClass } from "../types.js";

/** A transient failure is tried this often (SC-13). */
export const TRANSIENT_TRIES = 10;
/** A run that is not ready is tried this often at once, then parked until an input changes (WV-05). */
export const NOT_READY_TRIES = 5;

/** Whether a run that was tried `tries` times is tried again on a later pass. */
export function triesAgain(retry: RetryClass, tries: number, passBudget: number): boolean {
  switch (retry) {
    case "transient":
      return tries < TRANSIENT_TRIES;
    case "not-ready":
      return tries < NOT_READY_TRIES;
    case "stale":
      // Its basis moved, so the next try is expected to do better; the pass budget bounds a basis that never rests.
      return tries < passBudget;
    case "none":
      return false;
  }
}
