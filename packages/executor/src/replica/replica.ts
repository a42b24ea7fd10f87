import type { Engine } from "@tidemark/memory-engine";
import {
  applyOperation,
  parseInstanceKey,
  instanceKey,
  type AcceptedCommit,
  type BaseView,
  type Held,
  type InstanceKey,
  type JsonValue,
  type Seq,
} from "@tidemark/protocol";

/** What a {@link Replica} needs. */
export interface ReplicaOptions {
  readonly engine: Pick<Engine, "read">;
  /** The seq it begins at: what it loads is what the store held there. */
  readonly seq: Seq;
  /** Documents kept beyond those that nodes read. */
  readonly maxDocuments: number;
  /** Whether some node has read the instance: it is kept, and a move of it is reported. */
  isRead(key: InstanceKey): boolean;
  /** Whether a commit is this tenure's own (seed 001 §3, self-echo). */
  isOwn(commit: AcceptedCommit): boolean;
  /** The replica took something in: a load, or commits at a barrier. */
  onTake?(): void;
}

const EVICTION_SLACK = 1.1;

interface Slot {
  held: Held;
  used: boolean;
}

/**
 * The executor's copy of the space: the documents read so far, all at one seq. It moves only at frame
 * barriers, between actions; a miss loads synchronously from the store as of that seq (R25).
 */
export class Replica implements BaseView {
  readonly #options: ReplicaOptions;
  readonly #slots = new Map<InstanceKey, Slot>();
  /** Instances that are not held and that a wave of ours wrote above the replica's seq. */
  readonly #unseen = new Map<InstanceKey, Seq>();
  #seq: Seq;
  #loads = 0;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#seq = options.seq;
  }

  /** Everything up to this seq has been applied. */
  get seq(): Seq {
    return this.#seq;
  }

  /** Documents held. */
  get size(): number {
    return this.#slots.size;
  }

  /** Documents loaded from the store since construction. */
  get loads(): number {
    return this.#loads;
  }

  /** Never pending: what is not held is loaded. @throws what the engine throws */
  get(key: InstanceKey): Held {
    const slot = this.#slots.get(key);
    if (slot !== undefined) {
      slot.used = true;
      return slot.held;
    }
    const held = this.#load(key);
    this.#slots.set(key, { held, used: true });
    return held;
  }

  /** The instances that these commits change and that somebody here holds or reads, own ones aside. */
  touchedBy(commits: readonly AcceptedCommit[]): ReadonlySet<InstanceKey> {
    const touched = new Set<InstanceKey>();
    for (const commit of commits) {
      if (this.#options.isOwn(commit)) continue;
      for (const change of commit.changes) {
        const key = instanceKey(change.id, change.scopeKey);
        if (this.#slots.has(key) || this.#options.isRead(key)) touched.add(key);
      }
    }
    return touched;
  }

  /** The frame barrier: moves to the seq of the last of these commits. */
  apply(commits: readonly AcceptedCommit[]): void {
    const last = commits.at(-1);
    if (last === undefined) return;
    this.#options.onTake?.();
    const reload = new Set<InstanceKey>();
    for (const commit of commits) {
      for (const change of commit.changes) {
        const key = instanceKey(change.id, change.scopeKey);
        const slot = this.#slots.get(key);
        if (slot === undefined) continue;
        if (slot.held.seq < commit.seq) {
          slot.held = { ...slot.held, ...advance(slot.held, commit, change.op) };
        } else if (!this.#options.isOwn(commit)) {
          // A wave of ours was rebased over it and stands above it here: the store knows the sum.
          reload.add(key);
        }
      }
    }
    this.#seq = last.seq > this.#seq ? last.seq : this.#seq;
    this.#forgetUnseen();
    for (const key of reload) this.#refresh(key);
    this.#evict();
  }

  /** A wave of ours committed this value at `seq` (promotion; no barrier). */
  accept(key: InstanceKey, value: JsonValue | undefined, seq: Seq): void {
    const slot = this.#slots.get(key);
    const held: Held = { value, seq, coverClass: "derived" };
    if (slot === undefined) this.#slots.set(key, { held, used: true });
    else slot.held = held;
  }

  /** Whether the instance is held, or some node has read it. */
  concerns(key: InstanceKey): boolean {
    return this.#slots.has(key) || this.#options.isRead(key);
  }

  /** A wave of ours wrote an instance at `seq` that concerns nobody: it stays out until somebody reads it. */
  acceptUnseen(key: InstanceKey, seq: Seq): void {
    if (seq > this.#seq) this.#unseen.set(key, seq);
  }

  /** Forgets everything, as a disposed tenure does. */
  clear(): void {
    this.#unseen.clear();
    this.#slots.clear();
  }

  #refresh(key: InstanceKey): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined) slot.held = this.#load(key);
  }

  #load(key: InstanceKey): Held {
    const { id, scopeKey } = parseInstanceKey(key);
    this.#loads += 1;
    this.#options.onTake?.();
    return this.#options.engine.read(id, scopeKey, { at: this.#unseen.get(key) ?? this.#seq });
  }

  /** What the replica has caught up with is loaded at its own seq again; the map is in order of seq. */
  #forgetUnseen(): void {
    for (const [key, seq] of this.#unseen) {
      if (seq > this.#seq) return;
      this.#unseen.delete(key);
    }
  }

  /**
   * Second chance, the longest unvisited first: what was used since the last visit, is read by a node,
   * or is ahead, stays. A tenth more than the bound may stand, so that a sweep is not owed for each load.
   */
  #evict(): void {
    const { maxDocuments } = this.#options;
    if (this.#slots.size <= maxDocuments * EVICTION_SLACK) return;
    let visits = this.#slots.size;
    for (const [key, slot] of this.#slots) {
      if (this.#slots.size <= maxDocuments || visits === 0) return;
      visits -= 1;
      this.#slots.delete(key);
      const stays = slot.used || slot.held.seq > this.#seq || this.#options.isRead(key);
      slot.used = false;
      if (stays) this.#slots.set(key, slot);
    }
  }
}

function advance(
  held: Held,
  commit: AcceptedCommit,
  op: AcceptedCommit["changes"][number]["op"],
): Held {
  return { value: applyOperation(held.value, op), seq: commit.seq, coverClass: commit.class };
}
