import type { Engine } from "@tidemark/memory-engine";
import type { Seq, StreamEntry } from "@tidemark/protocol";
import type { SpaceStats } from "../stats/counters.js";
import { placeKey } from "./places.js";

/** Entries one pass takes up: what a wave may grow to before other spaces and input get a turn. */
export const ENTRIES_PER_PASS = 512;

/** What {@link standingEntries} asks. */
export interface StandingOptions {
  readonly entries: Pick<Engine["entries"], "pending">;
  readonly stats: SpaceStats;
  /** The seq the replica stands at: what is above it is the next cycle's input. */
  readonly seq: () => Seq;
  /** Moves the replica up to the store, if it may move now. */
  readonly catchUp: () => void;
}

/** The store's pending entries, in arrival order. */
export interface Standing {
  readonly entries: readonly StreamEntry[];
  /** The first one that this pass does not take up. */
  readonly beyond: StreamEntry | undefined;
}

/**
 * What the store holds pending. Where the replica lags behind some of it, the frames that are due are
 * asked for once, and the store is read again: what was ended meanwhile needs no dispatch (seed 000 §2).
 */
export function standingEntries(options: StandingOptions): Standing {
  const found = read(options);
  const lagging = found.entries.filter((entry) => entry.seq > options.seq());
  if (lagging.length === 0) return found;
  const { events } = options.stats;
  events.visibilityBarriers += 1;
  options.catchUp();
  const again = read(options);
  const standing = new Map(again.entries.map((entry) => [placeKey(entry), entry.eventId]));
  events.visibilityRecoveries += lagging.filter(
    (entry) => entry.seq <= options.seq() && standing.get(placeKey(entry)) === entry.eventId,
  ).length;
  return again;
}

function read({ entries }: StandingOptions): Standing {
  const pending = entries.pending(ENTRIES_PER_PASS + 1);
  return { entries: pending.slice(0, ENTRIES_PER_PASS), beyond: pending[ENTRIES_PER_PASS] };
}
