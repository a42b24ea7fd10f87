import {
  asLink,
  getOwn,
  isJsonObject,
  SPACE_SCOPE_KEY,
  type DocId,
  type JsonValue,
  type ScopeKey,
} from "@tidemark/protocol";
import type { SqlDriver } from "../sqlite/driver.js";
import { prepareLazily, statement } from "../sqlite/statement.js";

const PIECE = {
  forget: statement<[piece: string]>()((db, p) =>
    db.deleteFrom("piece_node").where("piece", "=", p(0)),
  ),
  insert: statement<[node: string, piece: string]>()((db, p) =>
    db
      .insertInto("piece_node")
      .values({ node: p(0), piece: p(1) })
      // The piece that named a node first keeps it: a later one only passes the link on.
      .onConflict((oc) => oc.doNothing()),
  ),
  find: statement<[node: string]>()((db, p) =>
    db.selectFrom("piece_node").select("piece").where("node", "=", p(0)),
  ),
} as const;

/** The places of a piece's document whose links are its own nodes and streams (R20). */
const OWN_LINKS = ["result", "internal"] as const;

/** True for a document instance that is indexed. */
export function isPieceDocument(id: DocId, scopeKey: ScopeKey): boolean {
  return scopeKey === SPACE_SCOPE_KEY && id.startsWith("piece:");
}

/** Which piece a node or stream belongs to, so that an event starts a piece nobody has loaded. */
export class PieceIndex {
  readonly #q;

  constructor(driver: SqlDriver) {
    this.#q = prepareLazily(driver, PIECE);
  }

  pieceOf(node: DocId): DocId | undefined {
    return this.#q.find.get(node)?.piece as DocId | undefined;
  }

  update(piece: DocId, value: JsonValue | undefined): void {
    this.#q.forget.run(piece);
    for (const node of linkedNodes(value)) this.#q.insert.run(node, piece);
  }
}

/** Targets of every link under `result` and `internal` of a piece's value. */
export function linkedNodes(value: JsonValue | undefined): ReadonlySet<DocId> {
  const found = new Set<DocId>();
  if (value === undefined || !isJsonObject(value)) return found;
  const open: JsonValue[] = [];
  for (const key of OWN_LINKS) {
    const part = getOwn(value, key);
    if (part !== undefined) open.push(part);
  }
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const link = asLink(at);
    if (link !== undefined) {
      if (link.space === undefined) found.add(link.id);
    } else if (typeof at === "object" && at !== null) {
      // One by one: as many as a client may send do not fit into a call's arguments.
      for (const part of Object.values(at) as JsonValue[]) open.push(part);
    }
  }
  return found;
}
