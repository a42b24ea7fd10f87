import type {
  AcceptedCommit,
  AttributedChange,
  BasisUpdate,
  EntryMark,
  Frontier,
  JsonValue,
  Seq,
  StreamEntry,
  ValueOperation,
} from "@tidemark/protocol";
import type { BranchRow } from "../branch/branches.js";
import type { CommitMeta, ReplayKey } from "../engine-types.js";
import { isPieceDocument } from "../piece/piece-index.js";
import { classNumber, type DocumentState } from "../read/document-state.js";
import { isReceipt } from "../read/receipts.js";
import { shouldSnapshot } from "../read/snapshot-policy.js";
import { KIND, MAIN_BRANCH_NO, posOf } from "../sqlite/tables.js";
import type { Store } from "../store.js";
import { encodeDetail } from "./detail.js";

/** One document instance that a transaction changes. */
export interface Slot {
  readonly id: AttributedChange["id"];
  readonly scopeKey: AttributedChange["scopeKey"];
  /** As stored. */
  readonly state: DocumentState;
  /** With the buffered changes; meaningful once `changed`. */
  value: JsonValue | undefined;
  changed: boolean;
}

export interface BufferedChange {
  readonly change: AttributedChange;
  readonly slot: Slot;
}

export interface RememberedReplay {
  readonly key: ReplayKey;
  readonly hash: string;
  readonly index: number | undefined;
}

/** Everything a transaction has buffered. */
export interface CommitPlan {
  readonly branch: BranchRow;
  readonly seq: Seq;
  readonly at: number;
  readonly changes: readonly BufferedChange[];
  readonly slots: ReadonlyMap<string, Slot>;
  readonly appends: readonly StreamEntry[];
  readonly marks: readonly EntryMark[];
  readonly frontiers: readonly Frontier[];
  readonly basis: readonly BasisUpdate[];
  readonly watermark: Seq | undefined;
  readonly replays: readonly RememberedReplay[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Writes a plan's rows. Inside the transaction; a throw leaves it to the caller to roll back. */
export function writeCommit(store: Store, plan: CommitPlan, meta: CommitMeta): AcceptedCommit {
  const { seq } = plan;
  const commit = acceptedOf(plan, meta);
  store.q.insertCommit.run(
    seq,
    plan.branch.no,
    classNumber(meta.class),
    plan.at,
    store.actors.intern(meta),
    meta.localSeq ?? null,
    meta.derivedThrough ?? null,
    plan.watermark ?? null,
    encodeDetail({
      marks: plan.marks,
      frontiers: plan.frontiers,
      consequenceOf: meta.consequenceOf,
      ...(meta.capabilityRef === undefined ? {} : { capabilityRef: meta.capabilityRef }),
    }),
  );
  writeChanges(store, plan, meta);
  for (const entry of plan.appends) store.entries.insert(entry);
  for (const mark of plan.marks) store.entries.mark(mark);
  for (const frontier of plan.frontiers) store.entries.advance(frontier);
  store.basis.write(plan.basis, seq);
  for (const { key, hash, index } of plan.replays) {
    store.replays.insert(key, { seq, hash, ...(index === undefined ? {} : { index }) });
  }
  store.extensions.participate(seq, commit);
  store.advanceHead(seq);
  return commit;
}

function writeChanges(store: Store, plan: CommitPlan, meta: CommitMeta): void {
  const branch = plan.branch.no;
  const cls = classNumber(meta.class);
  plan.changes.forEach(({ change, slot }, index) => {
    const { state } = slot;
    const { op, attribution } = change;
    const asReceipt = isFirstOfReceipt(plan, meta, slot, op);
    if (!asReceipt) store.documents.intern(state, slot.id, slot.scopeKey);
    const data = op.op === "delete" ? null : JSON.stringify(op.value);
    const actor =
      attribution === undefined
        ? null
        : store.actors.intern({ principal: attribution.user, session: attribution.session });
    state.pos = posOf(plan.seq, index);
    state.kind = KIND[op.op];
    state.class = cls;
    if (asReceipt && data !== null) {
      store.documents.receipts.insert(state.pos, slot.id, actor, data);
      return;
    }
    store.q.insertRevision.run(state.pos, branch, state.no, state.kind, cls, actor, data);
    countPatches(state, data?.length ?? 0);
  });
  for (const slot of plan.slots.values()) {
    if (slot.changed && slot.state.no !== 0) finishSlot(store, plan, slot);
  }
}

/** What a receipt's one row says: a value that a derived commit set on the main branch, where nothing was. */
function isFirstOfReceipt(
  plan: CommitPlan,
  meta: CommitMeta,
  { id, scopeKey, state }: Slot,
  op: ValueOperation,
): boolean {
  return (
    state.no === 0 &&
    state.pos === 0 &&
    op.op === "set" &&
    meta.class === "derived" &&
    plan.branch.no === MAIN_BRANCH_NO &&
    isReceipt(id, scopeKey)
  );
}

function countPatches(state: DocumentState, bytes: number): void {
  if (state.kind === KIND.patch) {
    state.ops += 1;
    state.patchBytes += bytes;
    state.valueBytes += bytes;
    return;
  }
  state.ops = 0;
  state.patchBytes = 0;
  state.valueBytes = bytes;
}

function finishSlot(store: Store, plan: CommitPlan, slot: Slot): void {
  const { state, id, scopeKey } = slot;
  const branch = plan.branch.no;
  state.value = slot.value;
  state.loaded = true;
  state.raw = undefined;
  store.q.setHead.run(branch, state.no, state.pos);
  if (state.value !== undefined && state.ops > 0 && shouldSnapshot(state)) {
    const text = JSON.stringify(state.value);
    store.q.insertSnapshot.run(branch, state.no, state.pos, text);
    state.ops = 0;
    state.patchBytes = 0;
    state.valueBytes = text.length;
  }
  if (branch !== MAIN_BRANCH_NO) return;
  store.documents.keep(id, scopeKey, state);
  if (isPieceDocument(id, scopeKey)) store.pieces.update(id, state.value);
}

/** Field by field: there is one for each event, and a spread costs many times as much. */
function acceptedOf(plan: CommitPlan, meta: CommitMeta): AcceptedCommit {
  const { seq, at, appends, marks, frontiers } = plan;
  const changes = plan.changes.map(({ change: { id, scopeKey, op } }) => ({ id, scopeKey, op }));
  const accepted: Mutable<AcceptedCommit> = {
    seq,
    class: meta.class,
    at,
    changes,
    appends,
    marks,
    frontiers,
  };
  if (meta.principal !== undefined) accepted.principal = meta.principal;
  if (meta.session !== undefined) accepted.session = meta.session;
  if (meta.localSeq !== undefined) accepted.localSeq = meta.localSeq;
  if (meta.holder !== undefined) accepted.holder = meta.holder;
  if (meta.capabilityRef !== undefined) accepted.capabilityRef = meta.capabilityRef;
  if (meta.derivedThrough !== undefined) accepted.derivedThrough = meta.derivedThrough;
  if (plan.watermark !== undefined) accepted.watermark = plan.watermark;
  if (meta.consequenceOf !== undefined) accepted.consequenceOf = meta.consequenceOf;
  return accepted;
}
