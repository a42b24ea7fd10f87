import { SPACE_SCOPE_KEY, type DocId, type ScopeKey, type Seq } from "@tidemark/protocol";
import type { ListedDocument, ListOptions } from "../engine-types.js";
import { MAIN_BRANCH_NO, seqOfPos } from "../sqlite/tables.js";
import type { Store } from "../store.js";

const NO_LIMIT = -1;

const RECEIPTS = "receipt:";

/** Above every id that starts with the prefix, in SQLite's byte order. */
const LAST_CODE_POINT = "\u{10FFFF}";

/** Ids hold no control characters, so this is the least text above an id. */
const FIRST_AFTER = "\u0001";

/** Present documents of the main branch by id; a deleted one is not listed. */
export function listByPrefix(
  store: Store,
  prefix: string,
  scopeKey: ScopeKey,
  options: ListOptions,
): readonly ListedDocument[] {
  const from = options.after === undefined ? prefix : `${options.after}${FIRST_AFTER}`;
  const end = `${prefix}${LAST_CODE_POINT}`;
  const limit = options.limit ?? NO_LIMIT;
  const rows = mayListReceipts(prefix, scopeKey)
    ? store.q.listWithReceipts.all(scopeKey, from, end, from, end, limit)
    : store.q.listByPrefix.all(MAIN_BRANCH_NO, scopeKey, from, end, limit);
  return rows.map((row) => ({ id: row.id as DocId, seq: seqOfPos(row.pos) as Seq }));
}

function mayListReceipts(prefix: string, scopeKey: ScopeKey): boolean {
  const overlaps = prefix.startsWith(RECEIPTS) || RECEIPTS.startsWith(prefix);
  return scopeKey === SPACE_SCOPE_KEY && overlaps;
}
