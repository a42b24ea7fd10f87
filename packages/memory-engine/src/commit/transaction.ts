import {
  applyOperation,
  assert,
  instanceKey,
  LimitError,
  SPACE_SCOPE_KEY,
  WATERMARK_DOC,
  type AcceptedCommit,
  type AttributedChange,
  type BasisUpdate,
  type BranchName,
  type Conflict,
  type DocId,
  type EntryMark,
  type EventId,
  type Frontier,
  type Held,
  type JsonValue,
  type ScopeKey,
  type Seq,
  type StreamEntry,
} from "@tidemark/protocol";
import type { BranchRow } from "../branch/branches.js";
import type {
  CommitMeta,
  EngineTx,
  LeaseRow,
  NewStreamEntry,
  ReplayKey,
  ResolvedPrecondition,
  ResolvedRead,
  Revision,
} from "../engine-types.js";
import { className } from "../read/document-state.js";
import { revisionsAfter } from "../read/history.js";
import { lastPosOf, POS_STRIDE, seqOfPos } from "../sqlite/tables.js";
import { watermarkValue, type Store } from "../store.js";
import { conflictsOf, type ConflictView } from "./conflict.js";
import { firstFailed, type PreconditionView } from "./precondition.js";
import {
  writeCommit,
  type BufferedChange,
  type CommitPlan,
  type RememberedReplay,
  type Slot,
} from "./writer.js";

/** Buffers one commit: what is refused on the way has written nothing. */
export class Transaction implements EngineTx {
  readonly at: number;
  readonly #store: Store;
  readonly #branch: BranchRow;
  readonly #seq: Seq;
  readonly #beforeWrite: () => void;
  readonly #slots = new Map<string, Slot>();
  readonly #changes: BufferedChange[] = [];
  readonly #appends: StreamEntry[] = [];
  readonly #marks: EntryMark[] = [];
  readonly #marked = new Set<string>();
  readonly #frontiers = new Map<DocId, Frontier>();
  readonly #basis: BasisUpdate[] = [];
  readonly #replays: RememberedReplay[] = [];
  #watermark: Seq | undefined;
  #state: "open" | "committed" | "closed" = "open";

  constructor(store: Store, branch: BranchRow, beforeWrite: () => void) {
    this.#store = store;
    this.#branch = branch;
    this.#beforeWrite = beforeWrite;
    this.#seq = (store.head() + 1) as Seq;
    this.at = store.clock.now();
  }

  get branch(): BranchName {
    return this.#branch.name;
  }

  /** After the function returned or threw: a kept reference can do nothing any more. */
  close(): void {
    this.#state = "closed";
  }

  seq(): Seq {
    return this.#seq;
  }

  read(id: DocId, scopeKey: ScopeKey): Held {
    const slot = this.#slot(id, scopeKey);
    if (slot.changed) return { value: slot.value, seq: this.#seq };
    const value = this.#store.documents.value(slot.state);
    if (slot.state.pos === 0) return { value, seq: 0 as Seq };
    return { value, seq: headSeq(slot), coverClass: className(slot.state.class) };
  }

  head(id: DocId, scopeKey: ScopeKey): Seq {
    return headSeq(this.#slot(id, scopeKey));
  }

  revisionsAfter(id: DocId, scopeKey: ScopeKey, after: Seq): readonly Revision[] {
    const { no, pos } = this.#slot(id, scopeKey).state;
    return pos === 0 ? [] : revisionsAfter(this.#store, this.#branch, { no, id, scopeKey }, after);
  }

  conflicts(reads: readonly ResolvedRead[]): readonly Conflict[] {
    return conflictsOf(reads, (read) => this.#conflictView(read));
  }

  failedPrecondition(preconditions: readonly ResolvedPrecondition[]): number | undefined {
    return firstFailed(preconditions, ({ id, scopeKey }): PreconditionView => {
      const { state } = this.#slot(id, scopeKey);
      return { exists: state.pos > 0, value: () => this.#store.documents.value(state) };
    });
  }

  lease(): LeaseRow | undefined {
    return this.#store.lease.current();
  }

  write(change: AttributedChange): JsonValue | undefined {
    this.#requireOpen();
    if (this.#changes.length >= POS_STRIDE) {
      throw new LimitError(`one commit holds at most ${POS_STRIDE} changes: split it`, {
        limit: "changes-per-commit",
        max: POS_STRIDE,
      });
    }
    const slot = this.#slot(change.id, change.scopeKey);
    const { op } = change;
    const before = op.op === "patch" ? this.#valueOf(slot) : undefined;
    const after = op.op === "set" ? op.value : applyOperation(before, op);
    slot.value = after;
    slot.changed = true;
    this.#changes.push({ change, slot });
    return after;
  }

  append(entry: NewStreamEntry): StreamEntry {
    this.#requireOpen();
    const { mark } = entry;
    const index = this.#appends.length;
    const stored = stamped(entry, this.#seq, index, entry.appendedAt ?? this.at);
    this.#appends.push(stored);
    if (mark !== undefined) {
      this.mark({ ...mark, stream: entry.stream, seq: this.#seq, index, eventId: entry.eventId });
    }
    return stored;
  }

  duplicate(stream: DocId, eventId: EventId): StreamEntry | undefined {
    const buffered = this.#appends.find(
      (entry) => entry.stream === stream && entry.eventId === eventId,
    );
    return this.#store.entries.duplicate(stream, eventId) ?? buffered;
  }

  mark(mark: EntryMark): void {
    this.#requireOpen();
    const key = `${mark.seq} ${mark.index}`;
    assert(!this.#marked.has(key), `event ${mark.eventId} was marked twice in one commit`);
    this.#marked.add(key);
    this.#marks.push(mark);
  }

  frontier(stream: DocId, seq: Seq): void {
    this.#requireOpen();
    const at = this.#frontiers.get(stream)?.seq ?? this.#store.entries.frontier(stream);
    if (seq > at) this.#frontiers.set(stream, { stream, seq });
  }

  basis(update: BasisUpdate): void {
    this.#requireOpen();
    this.#basis.push(update);
  }

  watermark(seq: Seq): void {
    const at = this.#watermark ?? this.#store.watermark(this.#branch);
    if (seq <= at) return;
    this.#watermark = seq;
    this.write({
      id: WATERMARK_DOC,
      scopeKey: SPACE_SCOPE_KEY,
      op: { op: "set", value: watermarkValue(seq) },
    });
  }

  remember(key: ReplayKey, hash: string, index?: number): void {
    this.#requireOpen();
    this.#replays.push({ key, hash, index });
  }

  keepBasis(): void {
    this.#requireOpen();
    const alone =
      this.#changes.length === 0 && this.#appends.length === 0 && this.#marks.length === 0;
    assert(
      alone && this.#frontiers.size === 0,
      "basis rows are kept alone where nothing else is written",
    );
    this.#state = "committed";
    this.#beforeWrite();
    this.#store.basis.write(this.#basis, this.#seq);
  }

  commit(meta: CommitMeta): AcceptedCommit {
    this.#requireOpen();
    this.#state = "committed";
    this.#beforeWrite();
    const plan: CommitPlan = {
      branch: this.#branch,
      seq: this.#seq,
      at: this.at,
      changes: this.#changes,
      slots: this.#slots,
      appends: this.#appends,
      marks: this.#marks,
      frontiers: [...this.#frontiers.values()],
      basis: this.#basis,
      watermark: this.#watermark,
      replays: this.#replays,
    };
    return writeCommit(this.#store, plan, meta);
  }

  #requireOpen(): void {
    assert(this.#state === "open", `the transaction is ${this.#state}: begin another one`);
  }

  #slot(id: DocId, scopeKey: ScopeKey): Slot {
    const key = instanceKey(id, scopeKey);
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const state = this.#store.documents.state(this.#branch, id, scopeKey);
    const slot: Slot = { id, scopeKey, state, value: undefined, changed: false };
    this.#slots.set(key, slot);
    return slot;
  }

  #valueOf(slot: Slot): JsonValue | undefined {
    return slot.changed ? slot.value : this.#store.documents.value(slot.state);
  }

  #conflictView({ id, scopeKey }: ResolvedRead): ConflictView {
    const slot = this.#slot(id, scopeKey);
    const store = this.#store;
    return {
      storeHead: store.head(),
      headSeq: headSeq(slot),
      changesAfter: (seq) =>
        seq < store.horizon() ? undefined : this.revisionsAfter(id, scopeKey, seq),
      valueAt: (seq) =>
        seq === "now"
          ? store.documents.value(slot.state)
          : store.documents.stateAt(this.#branch, id, scopeKey, lastPosOf(seq)).value,
    };
  }
}

/** Field by field: an object's rest and spread cost more than all else of an append. */
function stamped(entry: NewStreamEntry, seq: Seq, index: number, appendedAt: number): StreamEntry {
  const { stream, eventId, payload, firedAt } = entry;
  const { rendererTrusted, runtimeInjectedEventKeys, retryOf } = entry;
  const plain = { stream, seq, index, eventId, payload, firedAt, appendedAt };
  if (
    rendererTrusted === undefined &&
    runtimeInjectedEventKeys === undefined &&
    retryOf === undefined
  ) {
    return plain;
  }
  return {
    ...plain,
    ...(rendererTrusted === undefined ? {} : { rendererTrusted }),
    ...(runtimeInjectedEventKeys === undefined ? {} : { runtimeInjectedEventKeys }),
    ...(retryOf === undefined ? {} : { retryOf }),
  };
}

function headSeq(slot: Slot): Seq {
  return seqOfPos(slot.state.pos) as Seq;
}
