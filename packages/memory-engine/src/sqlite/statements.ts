import { sql } from "kysely";
import { rowsUpTo, statement } from "./statement.js";

type N = number | null;
type T = string | null;

/** Statements of the commit and read paths. Streams, basis and the rest have files of their own. */
export const CORE = {
  maxSeq: statement<[]>()((db) =>
    db.selectFrom("commit").select((eb) => eb.fn.max("seq").as("seq")),
  ),
  maxDocument: statement<[]>()((db) =>
    db.selectFrom("document").select((eb) => eb.fn.max("no").as("no")),
  ),
  insertDocument: statement<[no: number, id: string, scopeKey: string]>()((db, p) =>
    db.insertInto("document").values({ no: p(0), id: p(1), scope_key: p(2) }),
  ),
  /** Everything a read of a current value needs, in one look. */
  current: statement<[branch: number, scopeKey: string, id: string]>()((db, p) =>
    db
      .selectFrom("document as d")
      .leftJoin("head as h", (join) =>
        join.onRef("h.document", "=", "d.no").on("h.branch", "=", p(0)),
      )
      .leftJoin("revision as r", "r.pos", "h.pos")
      .select(["d.no", "h.pos", "r.kind", "r.class", "r.data"])
      .where("d.scope_key", "=", p(1))
      .where("d.id", "=", p(2)),
  ),
  /** The same for an id of a receipt, which may be a row of its own: then it has no number. */
  currentReceipt: statement<[branch: number, scopeKey: string, id: string, id: string]>()((db, p) =>
    db
      .selectFrom("document as d")
      .leftJoin("head as h", (join) =>
        join.onRef("h.document", "=", "d.no").on("h.branch", "=", p(0)),
      )
      .leftJoin("revision as r", "r.pos", "h.pos")
      .select(["d.no as no", "h.pos as pos"])
      .select(["r.kind as kind", "r.class as class", "r.data as data"])
      .where("d.scope_key", "=", p(1))
      .where("d.id", "=", p(2))
      .unionAll(
        db
          .selectFrom("receipt as o")
          .select([sql<number>`0`.as("no"), "o.pos as pos"])
          .select([sql<number>`0`.as("kind"), sql<number>`1`.as("class"), "o.data as data"])
          .where("o.id", "=", p(3)),
      ),
  ),
  insertRevision: statement<
    [pos: number, branch: number, document: number, kind: number, cls: number, actor: N, data: T]
  >()((db, p) =>
    db.insertInto("revision").values({
      pos: p(0),
      branch: p(1),
      document: p(2),
      kind: p(3),
      class: p(4),
      actor: p(5),
      data: p(6),
    }),
  ),
  setHead: statement<[branch: number, document: number, pos: number]>()((db, p) =>
    db
      .insertInto("head")
      .values({ branch: p(0), document: p(1), pos: p(2) })
      .onConflict((oc) =>
        oc.columns(["branch", "document"]).doUpdateSet((eb) => ({ pos: eb.ref("excluded.pos") })),
      ),
  ),
  insertSnapshot: statement<[branch: number, document: number, pos: number, data: string]>()(
    (db, p) =>
      db.insertInto("snapshot").values({ branch: p(0), document: p(1), pos: p(2), data: p(3) }),
  ),
  /** The newest full value at or below a position: a snapshot. */
  snapshotAt: statement<[document: number, branch: number, pos: number]>()((db, p) =>
    db
      .selectFrom("snapshot")
      .select(["pos", "data"])
      .where("document", "=", p(0))
      .where("branch", "=", p(1))
      .where("pos", "<=", p(2))
      .orderBy("pos", "desc")
      .limit(sql.lit(1)),
  ),
  /** The newest full value at or below a position: a revision that is no patch. */
  fullRevisionAt: statement<[document: number, branch: number, pos: number]>()((db, p) =>
    db
      .selectFrom("revision")
      .select(["pos", "kind", "class", "data"])
      .where("document", "=", p(0))
      .where("branch", "=", p(1))
      .where("pos", "<=", p(2))
      .where("kind", "<>", sql.lit(1))
      .orderBy("pos", "desc")
      .limit(sql.lit(1)),
  ),
  revisionsBetween: statement<[document: number, branch: number, after: number, upTo: number]>()(
    (db, p) =>
      db
        .selectFrom("revision")
        .select(["pos", "kind", "class", "data"])
        .where("document", "=", p(0))
        .where("branch", "=", p(1))
        .where("pos", ">", p(2))
        .where("pos", "<=", p(3))
        .orderBy("pos"),
  ),
  revisionsAfter: statement<[document: number, branch: number, after: number, limit: number]>()(
    (db, p) =>
      db
        .selectFrom("revision as r")
        .leftJoin("commit as c", (join) => join.on(sql`c.seq`, "=", sql`r.pos >> 20`))
        .select([
          "r.pos",
          "r.kind",
          "r.class",
          "r.data",
          "r.actor as attributed",
          "c.actor",
          "c.at",
        ])
        .where("r.document", "=", p(0))
        .where("r.branch", "=", p(1))
        .where("r.pos", ">", p(2))
        .orderBy("r.pos")
        .limit(rowsUpTo(p(3))),
  ),
  insertCommit: statement<
    [
      seq: number,
      branch: number,
      cls: number,
      at: number,
      actor: N,
      localSeq: N,
      derivedThrough: N,
      watermark: N,
      detail: T,
    ]
  >()((db, p) =>
    db.insertInto("commit").values({
      seq: p(0),
      branch: p(1),
      class: p(2),
      at: p(3),
      actor: p(4),
      local_seq: p(5),
      derived_through: p(6),
      watermark: p(7),
      detail: p(8),
    }),
  ),
  commitsAfter: statement<[branch: number, seq: number, limit: number]>()((db, p) =>
    db
      .selectFrom("commit")
      .select([
        "seq",
        "class",
        "at",
        "actor",
        "local_seq",
        "derived_through",
        "watermark",
        "detail",
      ])
      .where("branch", "=", p(0))
      .where("seq", ">", p(1))
      .orderBy("seq")
      .limit(rowsUpTo(p(2))),
  ),
  /** Of the main branch, receipts among them. */
  changesBetween: statement<
    [after: number, upTo: number, receiptsAfter: number, receiptsUpTo: number]
  >()((db, p) =>
    db
      .selectFrom("revision as r")
      .innerJoin("document as d", "d.no", "r.document")
      .select(["r.pos as pos", "r.kind as kind", "r.data as data", "d.id as id"])
      .select("d.scope_key as scope_key")
      .where("r.branch", "=", sql.lit(0))
      .where("r.pos", ">", p(0))
      .where("r.pos", "<=", p(1))
      .unionAll(
        db
          .selectFrom("receipt as o")
          .select(["o.pos as pos", sql<number>`0`.as("kind"), "o.data as data", "o.id as id"])
          .select(sql<string>`'space'`.as("scope_key"))
          .where("o.pos", ">", p(2))
          .where("o.pos", "<=", p(3)),
      )
      .orderBy("pos"),
  ),
  listByPrefix: statement<
    [branch: number, scopeKey: string, from: string, end: string, limit: number]
  >()((db, p) =>
    db
      .selectFrom("document as d")
      .innerJoin("head as h", (join) =>
        join.onRef("h.document", "=", "d.no").on("h.branch", "=", p(0)),
      )
      .innerJoin("revision as r", "r.pos", "h.pos")
      .select(["d.id", "h.pos"])
      .where("d.scope_key", "=", p(1))
      .where("d.id", ">=", p(2))
      .where("d.id", "<", p(3))
      .where("r.kind", "<>", sql.lit(2))
      .orderBy("d.id")
      .limit(rowsUpTo(p(4))),
  ),
  /** The same with the receipts that are rows of their own. */
  listWithReceipts: statement<
    [scopeKey: string, from: string, end: string, from: string, end: string, limit: number]
  >()((db, p) =>
    db
      .selectFrom("document as d")
      .innerJoin("head as h", (join) =>
        join.onRef("h.document", "=", "d.no").on("h.branch", "=", sql.lit(0)),
      )
      .innerJoin("revision as r", "r.pos", "h.pos")
      .select(["d.id as id", "h.pos as pos"])
      .where("d.scope_key", "=", p(0))
      .where("d.id", ">=", p(1))
      .where("d.id", "<", p(2))
      .where("r.kind", "<>", sql.lit(2))
      .unionAll(
        db
          .selectFrom("receipt as o")
          .select(["o.id as id", "o.pos as pos"])
          .where("o.id", ">=", p(3))
          .where("o.id", "<", p(4)),
      )
      .orderBy("id")
      .limit(rowsUpTo(p(5))),
  ),
  insertActor: statement<[principal: string, session: string, holder: string]>()((db, p) =>
    db.insertInto("actor").values({ principal: p(0), session: p(1), holder: p(2) }),
  ),
  findActor: statement<[principal: string, session: string, holder: string]>()((db, p) =>
    db
      .selectFrom("actor")
      .select("no")
      .where("principal", "=", p(0))
      .where("session", "=", p(1))
      .where("holder", "=", p(2)),
  ),
  actorByNo: statement<[no: number]>()((db, p) =>
    db.selectFrom("actor").select(["principal", "session", "holder"]).where("no", "=", p(0)),
  ),
} as const;
