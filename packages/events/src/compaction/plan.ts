import type { Seq, StreamEntry } from "@tidemark/protocol";

/** When a consumed entry may go (R1, `scenarios/FORMAT.md` "Retention"). */
export interface CompactionPolicy {
  /** Least age in milliseconds of the server's clock. */
  readonly afterMs: number;
  /** So many newer entries stand in the stream. */
  readonly afterEntries: number;
  /** So many newer entries let an entry go whatever its age. */
  readonly maxEntries: number;
}

/** Ten minutes and 64 newer entries, or 10,000 newer ones. */
export const DEFAULT_COMPACTION_POLICY: CompactionPolicy = {
  afterMs: 600_000,
  afterEntries: 64,
  maxEntries: 10_000,
};

/** The columns of an entry that the plan needs. */
export type CompactionEntry = Pick<
  StreamEntry,
  "seq" | "index" | "appendedAt" | "consequenced" | "status"
> & { readonly resolved?: boolean };

/** One stream as compaction sees it. `entries` are in (seq, index) order. */
export interface CompactionInput<E extends CompactionEntry> {
  readonly entries: readonly E[];
  readonly frontier: Seq;
  readonly now: number;
  readonly policy: CompactionPolicy;
}

/**
 * The entries of one stream that may be deleted: consumed, behind the frontier, without an
 * unresolved notice, and old enough by the policy (seed 000 §4, R1, R30).
 */
export function planCompaction<E extends CompactionEntry>(input: CompactionInput<E>): readonly E[] {
  const { entries, frontier, now, policy } = input;
  return entries.filter((entry, position) => {
    const newer = entries.length - 1 - position;
    return mayCompact(entry, { newer, frontier, now, policy });
  });
}

/** The same rule for one entry, for stores that page: `newer` counts the entries after it. */
export function mayCompact(
  entry: CompactionEntry,
  at: {
    readonly newer: number;
    readonly frontier: Seq;
    readonly now: number;
    readonly policy: CompactionPolicy;
  },
): boolean {
  if (!isSpent(entry) || entry.seq > at.frontier) return false;
  if (at.newer >= at.policy.maxEntries) return true;
  return at.newer >= at.policy.afterEntries && at.now - entry.appendedAt >= at.policy.afterMs;
}

/**
 * Whether a consumed entry sheds its payload: nothing unresolved needs it any more (R21). An
 * unresolved notice does, since a Retry sends the same payload again.
 */
export function shedsPayload(
  entry: Pick<CompactionEntry, "consequenced" | "status" | "resolved">,
): boolean {
  return isSpent(entry);
}

function isSpent(entry: Pick<CompactionEntry, "consequenced" | "status" | "resolved">): boolean {
  if (entry.consequenced !== true) return false;
  return entry.status !== "needs-attention" || entry.resolved === true;
}
