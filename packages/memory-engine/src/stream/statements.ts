import { sql } from "kysely";
import { rowsUpTo, statement } from "../sqlite/statement.js";

type N = number | null;
type T = string | null;

const COLUMNS = [
  "e.pos",
  "s.id as stream",
  "e.event_id",
  "e.payload",
  "e.actor",
  "e.client_seq",
  "e.appended_at",
  "e.consequenced",
  "e.status",
  "e.outcome",
  "e.extra",
] as const;

/** A stored entry with its stream's id. */
export interface EntryRow {
  readonly pos: number;
  readonly stream: string;
  readonly event_id: string;
  readonly payload: T;
  readonly actor: number;
  readonly client_seq: N;
  readonly appended_at: number;
  readonly consequenced: number;
  readonly status: T;
  readonly outcome: T;
  readonly extra: T;
}

export const STREAM = {
  find: statement<[id: string]>()((db, p) =>
    db.selectFrom("stream").select(["no", "frontier"]).where("id", "=", p(0)),
  ),
  create: statement<[id: string]>()((db, p) =>
    db.insertInto("stream").values({ id: p(0), frontier: sql.lit(0) }),
  ),
  frontiers: statement<[]>()((db) =>
    db
      .selectFrom("stream")
      .select(["id", "frontier"])
      .where("frontier", ">", sql.lit(0))
      .orderBy("id"),
  ),
  advance: statement<[frontier: number, no: number, floor: number]>()((db, p) =>
    db
      .updateTable("stream")
      .set({ frontier: p(0) })
      .where("no", "=", p(1))
      .where("frontier", "<", p(2)),
  ),
  insert: statement<
    [
      pos: number,
      stream: number,
      eventId: string,
      payload: string,
      actor: number,
      clientSeq: N,
      appendedAt: number,
      extra: T,
    ]
  >()((db, p) =>
    db.insertInto("stream_entry").values({
      pos: p(0),
      stream: p(1),
      event_id: p(2),
      payload: p(3),
      actor: p(4),
      client_seq: p(5),
      appended_at: p(6),
      consequenced: sql.lit(0),
      extra: p(7),
    }),
  ),
  markAndShed: statement<[status: T, outcome: T, pos: number, stream: number, eventId: string]>()(
    (db, p) =>
      db
        .updateTable("stream_entry")
        .set({ status: p(0), outcome: p(1), consequenced: sql.lit(1), payload: sql.lit(null) })
        .where("pos", "=", p(2))
        .where("stream", "=", p(3))
        .where("event_id", "=", p(4))
        .where("consequenced", "=", sql.lit(0)),
  ),
  markAndKeep: statement<[status: T, outcome: T, pos: number, stream: number, eventId: string]>()(
    (db, p) =>
      db
        .updateTable("stream_entry")
        .set({ status: p(0), outcome: p(1), consequenced: sql.lit(1) })
        .where("pos", "=", p(2))
        .where("stream", "=", p(3))
        .where("event_id", "=", p(4))
        .where("consequenced", "=", sql.lit(0)),
  ),
  oldestPending: statement<[]>()((db) =>
    db
      .selectFrom("stream_entry")
      .select("pos")
      .where("consequenced", "=", sql.lit(0))
      .orderBy("pos")
      .limit(sql.lit(1)),
  ),
  pending: statement<[limit: number]>()((db, p) =>
    db
      .selectFrom("stream_entry as e")
      .innerJoin("stream as s", "s.no", "e.stream")
      .select(COLUMNS)
      .where("e.consequenced", "=", sql.lit(0))
      .orderBy("e.pos")
      .limit(rowsUpTo(p(0))),
  ),
  byEvent: statement<[eventId: string, stream: number]>()((db, p) =>
    db
      .selectFrom("stream_entry as e")
      .innerJoin("stream as s", "s.no", "e.stream")
      .select(COLUMNS)
      .where("e.event_id", "=", p(0))
      .where("e.stream", "=", p(1))
      .orderBy("e.pos"),
  ),
  consumed: statement<[eventIds: string]>()((db, p) =>
    db
      .selectFrom("stream_entry as e")
      .innerJoin("stream as s", "s.no", "e.stream")
      .select(COLUMNS)
      .where(sql<boolean>`e.event_id in (select value from json_each(${p(0)}))`)
      .where("e.consequenced", "=", sql.lit(1))
      .orderBy("e.pos"),
  ),
  progress: statement<[stream: number, after: number, limit: number]>()((db, p) =>
    db
      .selectFrom("stream_entry")
      .select(["pos", "consequenced"])
      .where("stream", "=", p(0))
      .where("pos", ">", p(1))
      .orderBy("pos")
      .limit(rowsUpTo(p(2))),
  ),
  count: statement<[stream: number, after: number, through: number]>()((db, p) =>
    db
      .selectFrom("stream_entry")
      .select((eb) => eb.fn.countAll<number>().as("n"))
      .where("stream", "=", p(0))
      .where("pos", ">", p(1))
      .where("pos", "<=", p(2)),
  ),
  duplicate: statement<[eventId: string, stream: number, after: number]>()((db, p) =>
    db
      .selectFrom("stream_entry")
      .select("pos")
      .where("event_id", "=", p(0))
      .where("stream", "=", p(1))
      .where("pos", ">", p(2))
      .orderBy("pos")
      .limit(sql.lit(1)),
  ),
  byPos: statement<[pos: number]>()((db, p) =>
    db
      .selectFrom("stream_entry as e")
      .innerJoin("stream as s", "s.no", "e.stream")
      .select(COLUMNS)
      .where("e.pos", "=", p(0)),
  ),
  list: statement<[stream: number, after: number, limit: number]>()((db, p) =>
    db
      .selectFrom("stream_entry as e")
      .innerJoin("stream as s", "s.no", "e.stream")
      .select(COLUMNS)
      .where("e.stream", "=", p(0))
      .where("e.pos", ">", p(1))
      .orderBy("e.pos")
      .limit(rowsUpTo(p(2))),
  ),
  between: statement<[after: number, upTo: number]>()((db, p) =>
    db
      .selectFrom("stream_entry as e")
      .innerJoin("stream as s", "s.no", "e.stream")
      .select(COLUMNS)
      .where("e.pos", ">", p(0))
      .where("e.pos", "<=", p(1))
      .orderBy("e.pos"),
  ),
} as const;
