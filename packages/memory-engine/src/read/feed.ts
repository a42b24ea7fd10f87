import type {
  AcceptedCommit,
  DocChange,
  DocId,
  LocalSeq,
  ScopeKey,
  Seq,
  StreamEntry,
} from "@tidemark/protocol";
import { decodeDetail } from "../commit/detail.js";
import { lastPosOf, MAIN_BRANCH_NO, seqOfPos } from "../sqlite/tables.js";
import type { Store } from "../store.js";
import { className } from "./document-state.js";
import { operationOf } from "./documents.js";
import { identityOf } from "./history.js";

const DEFAULT_LIMIT = 1_000;

/**
 * Accepted commits from the tables (R19): what a loop or a watcher missed, whoever committed it.
 * Three range reads, whatever the number of commits.
 *
 * @throws HistoryHorizonError
 */
export function commitsSince(
  store: Store,
  after: Seq,
  limit: number = DEFAULT_LIMIT,
): readonly AcceptedCommit[] {
  store.requireReadable(after);
  const rows = store.q.commitsAfter.all(MAIN_BRANCH_NO, after, limit);
  const last = rows.at(-1);
  if (last === undefined) return [];
  const upTo = last.seq as Seq;
  const changes = changesBySeq(store, after, upTo);
  const appends = groupBySeq(store.entries.appendedBetween(after, upTo));
  return rows.map((row) => {
    const { marks, frontiers, consequenceOf, capabilityRef } = decodeDetail(row.detail);
    return {
      seq: row.seq as Seq,
      class: className(row.class),
      at: row.at,
      ...identityOf(store.actors.byNo(row.actor)),
      ...(row.local_seq === null ? {} : { localSeq: row.local_seq as LocalSeq }),
      changes: changes.get(row.seq) ?? [],
      appends: appends.get(row.seq) ?? [],
      marks,
      frontiers,
      ...(row.derived_through === null ? {} : { derivedThrough: row.derived_through as Seq }),
      ...(row.watermark === null ? {} : { watermark: row.watermark as Seq }),
      ...(consequenceOf === undefined ? {} : { consequenceOf }),
      ...(capabilityRef === undefined ? {} : { capabilityRef }),
    };
  });
}

function changesBySeq(store: Store, after: Seq, upTo: Seq): Map<number, DocChange[]> {
  const bySeq = new Map<number, DocChange[]>();
  const [from, to] = [lastPosOf(after), lastPosOf(upTo)];
  const rows = store.q.changesBetween.all(from, to, from, to);
  for (const row of rows) {
    push(bySeq, seqOfPos(row.pos), {
      id: row.id as DocId,
      scopeKey: row.scope_key as ScopeKey,
      op: operationOf(row.kind, row.data),
    });
  }
  return bySeq;
}

function groupBySeq(entries: readonly StreamEntry[]): Map<number, StreamEntry[]> {
  const bySeq = new Map<number, StreamEntry[]>();
  for (const entry of entries) push(bySeq, entry.seq, entry);
  return bySeq;
}

function push<V>(map: Map<number, V[]>, key: number, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
