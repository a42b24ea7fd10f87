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
}

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

  /** Forgets everything, as a disposed tenure does. */
  clear(): void {
    this.#slots.clear();
  }

  #refresh(key: InstanceKey): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined) slot.held = this.#load(key);
  }

  #load(key: InstanceKey): Held {
    const { id, scopeKey } = parseInstanceKey(key);
    this.#loads += 1;
    return this.#options.engine.read(id, scopeKey, { at: this.#seq });
  }

  /** Second chance: what was used since the last sweep, is read by a node, or is ahead, stays. */
  #evict(): void {
    let excess = this.#slots.size - this.#options.maxDocuments;
    if (excess <= 0) return;
    // A copy: what gets its second chance moves to the end and is not met again.
    for (const [key, slot] of Array.from(this.#slots)) {
      if (excess <= 0) return;
      if (slot.held.seq > this.#seq || this.#options.isRead(key)) continue;
      this.#slots.delete(key);
      if (slot.used) {
        slot.used = false;
        this.#slots.set(key, slot);
        continue;
      }
      excess -= 1;
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
