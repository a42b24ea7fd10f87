import {
  applyOperation,
  instanceKey,
  type DocId,
  type JsonValue,
  type PatchOp,
  type ScopeKey,
  type ValueOperation,
} from "@tidemark/protocol";
import type { BranchRow } from "../branch/branches.js";
import type { SqlDriver } from "../sqlite/driver.js";
import { prepareLazily } from "../sqlite/statement.js";
import { CORE } from "../sqlite/statements.js";
import { KIND, lastPosOf, MAIN_BRANCH_NO } from "../sqlite/tables.js";
import { TwoGenerationCache } from "./cache.js";
import { neverWritten, type DocumentState } from "./document-state.js";
import { isReceipt, Receipts } from "./receipts.js";

/** Bytes a cached state weighs beside its value: map entry, key and fields. */
const STATE_OVERHEAD_BYTES = 320;

interface RevisionRow {
  readonly pos: number;
  readonly kind: number;
  readonly class: number;
  readonly data: string | null;
}

/** A value rebuilt from a full value and the patches after it. */
interface Rebuilt {
  readonly pos: number;
  readonly kind: number;
  readonly class: number;
  readonly value: JsonValue | undefined;
  readonly ops: number;
  readonly patchBytes: number;
  readonly valueBytes: number;
}

/** Reads document instances: newest values through a bounded cache, older ones by replay. */
export class Documents {
  readonly receipts: Receipts;
  readonly #q;
  readonly #cache: TwoGenerationCache<DocumentState>;
  #maxNo: number | undefined;

  constructor(driver: SqlDriver, cacheBytes: number) {
    this.receipts = new Receipts(driver);
    this.#q = prepareLazily(driver, CORE);
    this.#cache = new TwoGenerationCache(
      cacheBytes,
      (state) => STATE_OVERHEAD_BYTES + 2 * state.valueBytes,
    );
  }

  /** Drops what is in memory: another process committed, or a transaction rolled back. */
  forget(): void {
    this.#cache.clear();
    this.#maxNo = undefined;
  }

  /** The newest state on a branch; the value is not necessarily loaded. */
  state(branch: BranchRow, id: DocId, scopeKey: ScopeKey): DocumentState {
    if (branch.no !== MAIN_BRANCH_NO) return this.#branchState(branch, id, scopeKey);
    const key = instanceKey(id, scopeKey);
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const state = this.#load(id, scopeKey);
    if (isKept(id, scopeKey)) this.#cache.set(key, state);
    return state;
  }

  /** The newest value, replaying patches at most once. */
  value(state: DocumentState): JsonValue | undefined {
    if (state.loaded) return state.value;
    if (state.kind === KIND.patch) {
      adopt(state, this.#rebuild(state.no, MAIN_BRANCH_NO, state.pos, absent));
    } else {
      state.value = state.raw === undefined ? undefined : (JSON.parse(state.raw) as JsonValue);
    }
    state.raw = undefined;
    state.loaded = true;
    return state.value;
  }

  /** Keeps what a commit on the main branch wrote. */
  keep(id: DocId, scopeKey: ScopeKey, state: DocumentState): void {
    if (isKept(id, scopeKey)) this.#cache.set(instanceKey(id, scopeKey), state);
  }

  /** The state as of a position of the branch; history below the horizon is the caller's to refuse. */
  stateAt(branch: BranchRow, id: DocId, scopeKey: ScopeKey, maxPos: number): DocumentState {
    const { no } = this.state(branch, id, scopeKey);
    if (no === 0) return this.receipts.stateIn(branch, id, scopeKey, maxPos);
    return this.#stateIn(branch, no, maxPos);
  }

  /** Gives a number to an instance seen for the first time. Inside the commit's transaction. */
  intern(state: DocumentState, id: DocId, scopeKey: ScopeKey): void {
    if (state.no !== 0) return;
    this.#maxNo ??= this.#q.maxDocument.get()?.no ?? 0;
    this.#maxNo += 1;
    this.#q.insertDocument.run(this.#maxNo, id, scopeKey);
    state.no = this.#maxNo;
    this.#unfold(state.no, id, scopeKey);
    // Written on another branch first: the main branch knows the instance by now, too.
    const known = this.#cache.get(instanceKey(id, scopeKey));
    if (known !== undefined) known.no = state.no;
  }

  /** A receipt that is written again becomes a document as any other. */
  #unfold(no: number, id: DocId, scopeKey: ScopeKey): void {
    const row = this.receipts.take(id, scopeKey);
    if (row === undefined) return;
    const { pos, kind, class: cls, actor, data } = row;
    this.#q.insertRevision.run(pos, MAIN_BRANCH_NO, no, kind, cls, actor, data);
    this.#q.setHead.run(MAIN_BRANCH_NO, no, pos);
  }

  #load(id: DocId, scopeKey: ScopeKey): DocumentState {
    const row = this.#current(id, scopeKey);
    const state = neverWritten(row?.no ?? 0);
    if (row === undefined || row.pos === null) return state;
    state.pos = row.pos;
    state.kind = row.kind ?? KIND.delete;
    state.class = row.class ?? 0;
    state.raw = row.data ?? undefined;
    state.loaded = false;
    state.valueBytes = row.data?.length ?? 0;
    return state;
  }

  #current(id: DocId, scopeKey: ScopeKey) {
    return isReceipt(id, scopeKey)
      ? this.#q.currentReceipt.get(MAIN_BRANCH_NO, scopeKey, id, id)
      : this.#q.current.get(MAIN_BRANCH_NO, scopeKey, id);
  }

  #branchState(branch: BranchRow, id: DocId, scopeKey: ScopeKey): DocumentState {
    const no = this.#current(id, scopeKey)?.no ?? 0;
    if (no === 0) return this.receipts.stateIn(branch, id, scopeKey, Infinity);
    return this.#stateIn(branch, no, Infinity);
  }

  /** Walks from the branch to its parents until one holds the instance at or below the position. */
  #stateIn(branch: BranchRow, no: number, maxPos: number): DocumentState {
    const state = neverWritten(no);
    let at: BranchRow | undefined = branch;
    let limit = Math.min(maxPos, Number.MAX_SAFE_INTEGER);
    while (at !== undefined) {
      const { parent, atSeq }: BranchRow = at;
      const below = Math.min(limit, lastPosOf(atSeq));
      const rebuilt = this.#rebuild(no, at.no, limit, () =>
        parent === undefined ? undefined : this.#stateIn(parent, no, below).value,
      );
      if (rebuilt !== undefined) {
        adopt(state, rebuilt);
        return state;
      }
      limit = below;
      at = parent;
    }
    return state;
  }

  #rebuild(
    no: number,
    branch: number,
    maxPos: number,
    base: () => JsonValue | undefined,
  ): Rebuilt | undefined {
    const snapshot = this.#q.snapshotAt.get(no, branch, maxPos);
    const full = this.#q.fullRevisionAt.get(no, branch, maxPos);
    const fromSnapshot = snapshot !== undefined && snapshot.pos > (full?.pos ?? 0);
    const startPos = fromSnapshot ? snapshot.pos : (full?.pos ?? 0);
    const text = fromSnapshot ? snapshot.data : (full?.data ?? null);
    // The snapshot's own revision comes along for its kind and class.
    const after = fromSnapshot ? startPos - 1 : startPos;
    const rows = this.#q.revisionsBetween.all(no, branch, after, maxPos);
    if (startPos === 0 && rows.length === 0) return undefined;
    const start =
      startPos === 0 ? base() : text === null ? undefined : (JSON.parse(text) as JsonValue);
    return replay({ start, startPos, text }, rows, full);
  }
}

const absent = (): undefined => undefined;

/** A receipt is written once and read once at most: kept, an event each would displace what is read. */
function isKept(id: DocId, scopeKey: ScopeKey): boolean {
  return !isReceipt(id, scopeKey);
}

function replay(
  from: {
    readonly start: JsonValue | undefined;
    readonly startPos: number;
    readonly text: string | null;
  },
  rows: readonly RevisionRow[],
  full: RevisionRow | undefined,
): Rebuilt {
  let value = from.start;
  let ops = 0;
  let patchBytes = 0;
  for (const row of rows) {
    if (row.pos <= from.startPos) continue;
    value = applyOperation(value, operationOf(row.kind, row.data));
    ops += 1;
    patchBytes += row.data?.length ?? 0;
  }
  const last = rows.at(-1) ?? full;
  return {
    pos: last?.pos ?? from.startPos,
    kind: last?.kind ?? KIND.set,
    class: last?.class ?? 0,
    value,
    ops,
    patchBytes,
    valueBytes: (from.text?.length ?? 0) + patchBytes,
  };
}

function adopt(state: DocumentState, rebuilt: Rebuilt | undefined): void {
  if (rebuilt === undefined) return;
  Object.assign(state, rebuilt);
  state.raw = undefined;
  state.loaded = true;
}

/** The operation that a revision row holds. */
export function operationOf(kind: number, data: string | null): ValueOperation {
  if (kind === KIND.delete || data === null) return { op: "delete" };
  const value = JSON.parse(data) as JsonValue;
  return kind === KIND.patch
    ? { op: "patch", value: value as unknown as readonly PatchOp[] }
    : { op: "set", value };
}
