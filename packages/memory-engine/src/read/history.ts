import type { DocId, ScopeKey, Seq } from "@tidemark/protocol";
import type { BranchRow } from "../branch/branches.js";
import type { ActorRef } from "../commit/actors.js";
import type { HistoryOptions, Revision } from "../engine-types.js";
import { indexOfPos, lastPosOf, MAIN_BRANCH_NO, seqOfPos } from "../sqlite/tables.js";
import type { Store } from "../store.js";
import { className } from "./document-state.js";
import { operationOf } from "./documents.js";

const NO_LIMIT = -1;

/** An instance, and the number that it has among the documents; 0: it is none, or a receipt alone. */
export interface NumberedInstance {
  readonly no: number;
  readonly id: DocId;
  readonly scopeKey: ScopeKey;
}

/** Stored changes of a document with `seq > after`, through the branch's parents, oldest first. */
export function revisionsAfter(
  store: Store,
  branch: BranchRow,
  document: NumberedInstance,
  after: Seq,
  limit: number = NO_LIMIT,
): readonly Revision[] {
  const own = rowsOf(store, branch.no, document, after, limit).map((row) => revisionOf(store, row));
  const { parent, atSeq } = branch;
  if (parent === undefined || after >= atSeq) return own;
  const inherited = revisionsAfter(store, parent, document, after, limit);
  const all = [...inherited.filter((revision) => revision.seq <= atSeq), ...own];
  return limit === NO_LIMIT ? all : all.slice(0, limit);
}

/** @throws HistoryHorizonError when `after` lies below what is kept */
export function historyOf(
  store: Store,
  branch: BranchRow,
  id: DocId,
  scopeKey: ScopeKey,
  options: HistoryOptions,
): readonly Revision[] {
  const after = options.after ?? store.horizon();
  store.requireReadable(after);
  const { no } = store.documents.state(branch, id, scopeKey);
  return revisionsAfter(store, branch, { no, id, scopeKey }, after, options.limit);
}

interface HistoryRow {
  readonly pos: number;
  readonly kind: number;
  readonly class: number;
  readonly data: string | null;
  readonly attributed: number | null;
  readonly actor: number | null;
  readonly at: number | null;
}

function rowsOf(
  store: Store,
  branch: number,
  { no, id, scopeKey }: NumberedInstance,
  after: Seq,
  limit: number,
): readonly HistoryRow[] {
  if (no !== 0) return store.q.revisionsAfter.all(no, branch, lastPosOf(after), limit);
  if (branch !== MAIN_BRANCH_NO || limit === 0) return [];
  const only = store.documents.receipts.revision(id, scopeKey, lastPosOf(after));
  return only === undefined ? [] : [only];
}

function revisionOf(store: Store, row: HistoryRow): Revision {
  return {
    seq: seqOfPos(row.pos) as Seq,
    opIndex: indexOfPos(row.pos),
    class: className(row.class),
    op: operationOf(row.kind, row.data),
    ...(row.at === null ? {} : { at: row.at }),
    ...identityOf(store.actors.byNo(row.actor)),
    ...attributionOf(store.actors.byNo(row.attributed)),
  };
}

/** The identity fields of a commit's envelope. */
export function identityOf(by: ActorRef): Pick<Revision, "principal" | "session" | "holder"> {
  return {
    ...(by.principal === undefined ? {} : { principal: by.principal }),
    ...(by.session === undefined || by.session === "server" ? {} : { session: by.session }),
    ...(by.holder === undefined ? {} : { holder: by.holder }),
  };
}

function attributionOf({ principal, session }: ActorRef): Pick<Revision, "attribution"> {
  if (principal === undefined && session === undefined) return {};
  return {
    attribution: {
      ...(principal === undefined ? {} : { user: principal }),
      ...(session === undefined ? {} : { session }),
    },
  };
}
