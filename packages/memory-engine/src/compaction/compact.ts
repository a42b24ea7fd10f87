import { sql } from "kysely";
import { prepareLazily, rowsUpTo, statement } from "../sqlite/statement.js";
import { lastPosOf } from "../sqlite/tables.js";
import type { Store } from "../store.js";
import type { CompactionPolicy, CompactionResult } from "./policy.js";

const COMPACT = {
  streams: statement<[]>()((db) =>
    db.selectFrom("stream").select(["no", "frontier"]).where("frontier", ">", sql.lit(0)),
  ),
  /** The newest entry that has this many newer ones in its stream. */
  posWithNewer: statement<[stream: number, newer: number]>()((db, p) =>
    db
      .selectFrom("stream_entry")
      .select("pos")
      .where("stream", "=", p(0))
      .orderBy("pos", "desc")
      .limit(sql.lit(1))
      .offset(p(1)),
  ),
  remove: statement<
    [stream: number, upTo: number, frontier: number, appendedUpTo: number, limit: number]
  >()((db, p) =>
    db.deleteFrom("stream_entry").where("pos", "in", (eb) =>
      eb
        .selectFrom("stream_entry")
        .select("pos")
        .where("stream", "=", p(0))
        .where("pos", "<=", p(1))
        .where("pos", "<=", p(2))
        .where("appended_at", "<=", p(3))
        .where("consequenced", "=", sql.lit(1))
        // An unresolved notice keeps its entry, whatever its age (seed 000 §4).
        .where((or) =>
          or.or([or("status", "is", null), or("status", "<>", sql.lit("needs-attention"))]),
        )
        .orderBy("pos")
        .limit(rowsUpTo(p(4))),
    ),
  ),
} as const;

const ANY_AGE = Number.MAX_SAFE_INTEGER;

/** Removes consumed entries at or below their stream's frontier that the policy lets go (R1, R30). */
export function compactStreams(store: Store, policy: CompactionPolicy): CompactionResult {
  const q = prepareLazily(store.driver, COMPACT);
  const oldEnough = store.clock.now() - policy.compactAfterMs;
  let room = policy.maxRowsPerCall;
  for (const { no, frontier } of q.streams.all()) {
    const remove = (newer: number, appendedUpTo: number): void => {
      const pos = room > 0 ? q.posWithNewer.get(no, newer)?.pos : undefined;
      if (pos === undefined) return;
      room -= q.remove.run(no, pos, lastPosOf(frontier), appendedUpTo, room).changes;
    };
    remove(policy.compactAfterEntries, oldEnough);
    remove(policy.compactMaxEntries, ANY_AGE);
    if (room <= 0) break;
  }
  return { removed: policy.maxRowsPerCall - room, more: room <= 0 };
}
