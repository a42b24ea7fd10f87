import type { Seq } from "@tidemark/protocol";
import { sql } from "kysely";
import { prepareLazily, statement } from "../sqlite/statement.js";
import { lastPosOf, MAIN_BRANCH_NO } from "../sqlite/tables.js";
import type { Store } from "../store.js";
import type { PrunePolicy, PruneResult } from "./policy.js";

const PRUNE = {
  /** The newest commit that is old enough: commits are numbered in the order of their instants. */
  newestOlderThan: statement<[after: number, upTo: number, at: number]>()((db, p) =>
    db
      .selectFrom("commit")
      .select("seq")
      .where("seq", ">", p(0))
      .where("seq", "<=", p(1))
      .where("at", "<=", p(2))
      .orderBy("seq", "desc")
      .limit(sql.lit(1)),
  ),
  documentsBetween: statement<[after: number, upTo: number]>()((db, p) =>
    db
      .selectFrom("revision")
      .select(["document", "branch"])
      .distinct()
      .where("pos", ">", p(0))
      .where("pos", "<=", p(1)),
  ),
  fullRevisionAt: statement<[document: number, branch: number, pos: number]>()((db, p) =>
    db
      .selectFrom("revision")
      .select("pos")
      .where("document", "=", p(0))
      .where("branch", "=", p(1))
      .where("pos", "<=", p(2))
      .where("kind", "<>", sql.lit(1))
      .orderBy("pos", "desc")
      .limit(sql.lit(1)),
  ),
  snapshotAt: statement<[document: number, branch: number, pos: number]>()((db, p) =>
    db
      .selectFrom("snapshot")
      .select("pos")
      .where("document", "=", p(0))
      .where("branch", "=", p(1))
      .where("pos", "<=", p(2))
      .orderBy("pos", "desc")
      .limit(sql.lit(1)),
  ),
  removeRevisions: statement<[document: number, branch: number, before: number]>()((db, p) =>
    db
      .deleteFrom("revision")
      .where("document", "=", p(0))
      .where("branch", "=", p(1))
      .where("pos", "<", p(2)),
  ),
  removeSnapshots: statement<[document: number, branch: number, before: number]>()((db, p) =>
    db
      .deleteFrom("snapshot")
      .where("document", "=", p(0))
      .where("branch", "=", p(1))
      .where("pos", "<", p(2)),
  ),
  removeCommits: statement<[upTo: number]>()((db, p) =>
    db.deleteFrom("commit").where("seq", "<=", p(0)),
  ),
  newestReplays: statement<[]>()((db) =>
    db
      .selectFrom("replay")
      .select(["open", (eb) => eb.fn.max("local_seq").as("newest")])
      .groupBy("open"),
  ),
  removeReplays: statement<[open: number, upToLocal: number, upToSeq: number]>()((db, p) =>
    db
      .deleteFrom("replay")
      .where("open", "=", p(0))
      .where("local_seq", "<=", p(1))
      .where("seq", "<=", p(2)),
  ),
} as const;

/** What decides how far history may be cut. */
export interface HorizonInput {
  readonly head: Seq;
  readonly horizon: Seq;
  /** The newest commit that is old enough by the policy. */
  readonly newestOldEnough: Seq;
  /** Seqs that must stay readable: branch points, and what lies before the oldest pending entry. */
  readonly needed: readonly Seq[];
}

/** The horizon after this call: never back, never past what is needed, never the newest commit. */
export function nextHorizon(input: HorizonInput, policy: PrunePolicy): Seq {
  const { head, horizon, newestOldEnough, needed } = input;
  const byAge = Math.min(newestOldEnough, head - policy.pruneAfterCommits);
  const byCount = head - policy.pruneMaxCommits;
  const wanted = Math.min(Math.max(byAge, byCount), head - 1, ...needed);
  return Math.max(horizon, Math.min(wanted, horizon + policy.maxCommitsPerCall)) as Seq;
}

/**
 * Removes history that nothing needs (R30): commit rows, superseded revisions, snapshots and
 * verdicts up to a new horizon. What is newest of each document stays, however old it is. Costs
 * what the horizon moves by, not what the store holds.
 */
export function pruneHistory(store: Store, policy: PrunePolicy): PruneResult {
  const q = prepareLazily(store.driver, PRUNE);
  const head = store.head();
  const from = store.horizon();
  const oldEnough = store.clock.now() - policy.pruneAfterMs;
  const input: HorizonInput = {
    head,
    horizon: from,
    newestOldEnough: (q.newestOlderThan.get(from, head, oldEnough)?.seq ?? 0) as Seq,
    needed: neededSeqs(store),
  };
  const horizon = nextHorizon(input, policy);
  const more = horizon - from >= policy.maxCommitsPerCall;
  if (horizon === from) {
    return { horizon, removedRevisions: 0, removedCommits: 0, removedReplays: 0, more: false };
  }
  let removedRevisions = 0;
  for (const { document, branch } of q.documentsBetween.all(lastPosOf(from), lastPosOf(horizon))) {
    const upTo = lastPosOf(horizon);
    const full = q.fullRevisionAt.get(document, branch, upTo)?.pos ?? 0;
    const snapshot = q.snapshotAt.get(document, branch, upTo)?.pos ?? 0;
    const base = Math.max(full, snapshot);
    removedRevisions += q.removeRevisions.run(document, branch, base).changes;
    q.removeSnapshots.run(document, branch, base);
  }
  const removedCommits = q.removeCommits.run(horizon).changes;
  let removedReplays = 0;
  for (const { open, newest } of q.newestReplays.all()) {
    const upToLocal = newest - policy.keepReplaysPerOpen;
    removedReplays += q.removeReplays.run(open, upToLocal, horizon).changes;
  }
  store.setHorizon(horizon);
  return { horizon, removedRevisions, removedCommits, removedReplays, more };
}

function neededSeqs(store: Store): readonly Seq[] {
  const needed = store.branches
    .list()
    .filter((branch) => branch.no !== MAIN_BRANCH_NO)
    .map((branch) => branch.atSeq);
  const pending = store.entries.oldestPendingSeq();
  return pending === undefined ? needed : [...needed, (pending - 1) as Seq];
}
