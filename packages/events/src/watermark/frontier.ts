import type { EntryMark, Seq } from "@tidemark/protocol";

/** What frontier arithmetic looks at: place and mark. */
export interface FrontierEntry {
  readonly seq: Seq;
  readonly index: number;
  readonly consequenced?: true;
}

/**
 * Moves one stream's `eventWatermark` over the contiguous, fully marked prefix of its entries.
 * Entries that share a seq pass together or not at all, since the frontier is a seq (seed 000 §4).
 *
 * `entries` are the stored ones above `frontier` in (seq, index) order; `marks` are those about to
 * commit with it.
 */
export function advanceFrontier(
  frontier: Seq,
  entries: Iterable<FrontierEntry>,
  marks: readonly Pick<EntryMark, "seq" | "index">[] = [],
): Seq {
  const marked = new Set(marks.map(placeKey));
  let settled = frontier;
  let last = frontier;
  for (const entry of entries) {
    if (entry.seq <= frontier) continue;
    // The group below is complete only once a later seq is met.
    if (entry.seq !== last) settled = last;
    if (entry.consequenced !== true && !marked.has(placeKey(entry))) return settled;
    last = entry.seq;
  }
  return last;
}

/** Whether the frontier has passed an event: at or below it, it is never processed again. */
export function isBehindFrontier(seq: Seq, frontier: Seq): boolean {
  return seq <= frontier;
}

function placeKey(place: Pick<EntryMark, "seq" | "index">): string {
  return `${place.seq}:${place.index}`;
}
