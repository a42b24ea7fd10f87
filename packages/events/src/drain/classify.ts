import type { EntryMark, StreamEntry } from "@tidemark/protocol";
import { duplicateMarkFor } from "../entry/end.js";

/** What processing does with a pending entry. */
export type PendingDecision =
  | { readonly kind: "run" }
  /** Passed over: the mark commits, the handler does not run, `skippedIdempotent` counts one (R1). */
  | { readonly kind: "pass-over"; readonly mark: EntryMark };

/**
 * Decides a pending entry against the entry of the same id that was consumed before it, if one still
 * stands in its stream. After compaction the id is a new event and runs (R1).
 */
export function decidePending(
  entry: StreamEntry,
  consumed: StreamEntry | undefined,
): PendingDecision {
  if (consumed?.consequenced !== true || !comesBefore(consumed, entry)) return { kind: "run" };
  return { kind: "pass-over", mark: duplicateMarkFor(entry, consumed) };
}

/** Arrival order of a space: by seq, then by index (seed 000 §2, Ordering). */
export function compareArrival(
  a: Pick<StreamEntry, "seq" | "index">,
  b: Pick<StreamEntry, "seq" | "index">,
): number {
  return a.seq - b.seq || a.index - b.index;
}

function comesBefore(a: StreamEntry, b: StreamEntry): boolean {
  return compareArrival(a, b) < 0;
}
