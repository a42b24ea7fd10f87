import {
  docKind,
  SPACE_SCOPE_KEY,
  type DocId,
  type JsonValue,
  type ScopeKey,
} from "@tidemark/protocol";
import { sql } from "kysely";
import type { BranchRow } from "../branch/branches.js";
import type { SqlDriver } from "../sqlite/driver.js";
import { prepareLazily, statement } from "../sqlite/statement.js";
import { KIND, lastPosOf, MAIN_BRANCH_NO } from "../sqlite/tables.js";
import { classNumber, neverWritten, type DocumentState } from "./document-state.js";

const RECEIPT = {
  insert: statement<[pos: number, id: string, actor: number | null, data: string]>()((db, p) =>
    db.insertInto("receipt").values({ pos: p(0), id: p(1), actor: p(2), data: p(3) }),
  ),
  find: statement<[id: string]>()((db, p) =>
    db.selectFrom("receipt").select(["pos", "actor", "data"]).where("id", "=", p(0)),
  ),
  remove: statement<[pos: number]>()((db, p) => db.deleteFrom("receipt").where("pos", "=", p(0))),
  revision: statement<[id: string, after: number]>()((db, p) =>
    db
      .selectFrom("receipt as r")
      .leftJoin("commit as c", (join) => join.on(sql`c.seq`, "=", sql`r.pos >> 20`))
      .select(["r.pos", "r.data", "r.actor as attributed", "c.actor", "c.at"])
      .where("r.id", "=", p(0))
      .where("r.pos", ">", p(1)),
  ),
} as const;

/** The only revision of a receipt is a value that a derived commit set on the main branch. */
const ONLY_REVISION = { kind: KIND.set, class: classNumber("derived") } as const;

/** Whether an instance can be a row of the receipts. */
export function isReceipt(id: DocId, scopeKey: ScopeKey): boolean {
  return scopeKey === SPACE_SCOPE_KEY && docKind(id) === "receipt";
}

/**
 * Receipts that were written once, as nearly all of them are: id and value in one row. There is one for
 * each event, and as documents with a revision and a head they were half of the rows of an event. Whoever
 * reads one sees a document as any other; a second write makes it one.
 */
export class Receipts {
  readonly #q;

  constructor(driver: SqlDriver) {
    this.#q = prepareLazily(driver, RECEIPT);
  }

  insert(pos: number, id: DocId, actor: number | null, data: string): void {
    this.#q.insert.run(pos, id, actor, data);
  }

  /** The instance as a branch sees it at a position; one that never was, where it does not. */
  stateIn(branch: BranchRow, id: DocId, scopeKey: ScopeKey, maxPos: number): DocumentState {
    const state = neverWritten(0);
    const row = isReceipt(id, scopeKey) ? this.#q.find.get(id) : undefined;
    if (row === undefined || row.pos > Math.min(maxPos, reachOf(branch))) return state;
    state.pos = row.pos;
    state.kind = ONLY_REVISION.kind;
    state.class = ONLY_REVISION.class;
    state.value = JSON.parse(row.data) as JsonValue;
    state.valueBytes = row.data.length;
    return state;
  }

  /** Its row of a history, with `pos > after`. */
  revision(id: DocId, scopeKey: ScopeKey, after: number) {
    const row = isReceipt(id, scopeKey) ? this.#q.revision.get(id, after) : undefined;
    return row === undefined ? undefined : { ...row, ...ONLY_REVISION };
  }

  /** Takes the row out, for it to become a document with a revision. */
  take(id: DocId, scopeKey: ScopeKey) {
    const row = isReceipt(id, scopeKey) ? this.#q.find.get(id) : undefined;
    if (row === undefined) return undefined;
    this.#q.remove.run(row.pos);
    return { ...row, ...ONLY_REVISION };
  }
}

/** The last position of the main branch that a branch reads through to. */
function reachOf(branch: BranchRow): number {
  let reach = Number.MAX_SAFE_INTEGER;
  for (let at: BranchRow | undefined = branch; at !== undefined; at = at.parent) {
    if (at.no !== MAIN_BRANCH_NO) reach = Math.min(reach, lastPosOf(at.atSeq));
  }
  return reach;
}
