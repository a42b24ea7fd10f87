import {
  ACL_DOC,
  instanceKey,
  type AcceptedCommit,
  type CommitClass,
  type DocChange,
  type EntryMark,
  type DocId,
  type InstanceKey,
  type PatchOp,
  type Seq,
} from "@tidemark/protocol";

/** Above this many operations a whole value is the better frame. */
const MAX_PATCH_OPS = 256;

/** What happened to one instance since the last flush. */
export interface PendingRow {
  readonly key: InstanceKey;
  readonly change: DocChange;
  /** Seq of the first and of the last change in this batch. */
  readonly firstSeq: Seq;
  seq: Seq;
  cover: CommitClass;
  /** Every operation in order, while all were patches; `undefined` once one was not. */
  ops: PatchOp[] | undefined;
}

/** Everything that one flush tells, collected commit by commit. */
export interface PushBatch {
  readonly rows: ReadonlyMap<InstanceKey, PendingRow>;
  readonly marks: readonly EntryMark[];
  readonly frontiers: ReadonlyMap<DocId, Seq>;
  readonly watermark: Seq | undefined;
  readonly seq: Seq;
  readonly aclChanged: boolean;
}

/** Collects accepted commits between two flushes of one space. */
export class PendingPush {
  #rows = new Map<InstanceKey, PendingRow>();
  #marks: EntryMark[] = [];
  #frontiers = new Map<DocId, Seq>();
  #watermark: Seq | undefined;
  #seq: Seq | undefined;
  #aclChanged = false;

  get empty(): boolean {
    return this.#seq === undefined;
  }

  add(commit: AcceptedCommit): void {
    this.#seq = commit.seq;
    for (const change of commit.changes) this.#addChange(change, commit);
    this.#marks.push(...commit.marks);
    for (const { stream, seq } of commit.frontiers) this.#frontiers.set(stream, seq);
    if (commit.watermark !== undefined) this.#watermark = commit.watermark;
  }

  /** Takes the batch out; `undefined` when nothing was committed. */
  take(): PushBatch | undefined {
    if (this.#seq === undefined) return undefined;
    const batch: PushBatch = {
      rows: this.#rows,
      marks: this.#marks,
      frontiers: this.#frontiers,
      watermark: this.#watermark,
      seq: this.#seq,
      aclChanged: this.#aclChanged,
    };
    this.#rows = new Map();
    this.#marks = [];
    this.#frontiers = new Map();
    this.#watermark = undefined;
    this.#seq = undefined;
    this.#aclChanged = false;
    return batch;
  }

  #addChange(change: DocChange, commit: AcceptedCommit): void {
    if (change.id === ACL_DOC) this.#aclChanged = true;
    const key = instanceKey(change.id, change.scopeKey);
    const row = this.#rows.get(key);
    if (row === undefined) {
      this.#rows.set(key, {
        key,
        change,
        firstSeq: commit.seq,
        seq: commit.seq,
        cover: commit.class,
        ops: patchOps(change),
      });
      return;
    }
    row.seq = commit.seq;
    row.cover = commit.class;
    const more = patchOps(change);
    if (row.ops === undefined || more === undefined) row.ops = undefined;
    else if (row.ops.length + more.length > MAX_PATCH_OPS) row.ops = undefined;
    else row.ops.push(...more);
  }
}

function patchOps(change: DocChange): PatchOp[] | undefined {
  if (change.op.op !== "patch" || change.op.value.length > MAX_PATCH_OPS) return undefined;
  return [...change.op.value];
}
