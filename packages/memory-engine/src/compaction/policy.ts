import type { Seq } from "@tidemark/protocol";

/** When a consumed stream entry may go (R1). */
export interface CompactionPolicy {
  /** ms. An entry younger than this stays unless `maxEntries` newer ones stand in its stream. */
  readonly compactAfterMs: number;
  /** An entry with fewer newer ones in its stream stays. */
  readonly compactAfterEntries: number;
  /** With this many newer ones in its stream an entry goes whatever its age. */
  readonly compactMaxEntries: number;
  /** Most rows one call removes, so that a call never holds the store for long. */
  readonly maxRowsPerCall: number;
}

/** R1: ten minutes old and 64 newer ones, or 10,000 newer ones. */
export const DEFAULT_COMPACTION_POLICY: CompactionPolicy = {
  compactAfterMs: 10 * 60_000,
  compactAfterEntries: 64,
  compactMaxEntries: 10_000,
  maxRowsPerCall: 5_000,
};

export interface CompactionResult {
  readonly removed: number;
  /** True where the row bound ended the call: call again. */
  readonly more: boolean;
}

/** Which history may go (R30). The same shape as R1: old and enough newer, or plenty newer. */
export interface PrunePolicy {
  /** ms. A commit younger than this stays readable unless `pruneMaxCommits` newer ones stand. */
  readonly pruneAfterMs: number;
  /** A commit with fewer newer ones stays readable. */
  readonly pruneAfterCommits: number;
  readonly pruneMaxCommits: number;
  /** Most commits one call moves the horizon by. */
  readonly maxCommitsPerCall: number;
  /** Verdicts kept per open of a session, newest first; older ones go with the history. */
  readonly keepReplaysPerOpen: number;
}

export const DEFAULT_PRUNE_POLICY: PrunePolicy = {
  pruneAfterMs: 10 * 60_000,
  pruneAfterCommits: 1_000,
  pruneMaxCommits: 20_000,
  maxCommitsPerCall: 5_000,
  keepReplaysPerOpen: 1_024,
};

export interface PruneResult {
  readonly horizon: Seq;
  readonly removedRevisions: number;
  readonly removedCommits: number;
  readonly removedReplays: number;
  readonly more: boolean;
}
