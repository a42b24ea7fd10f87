import type { Engine } from "@tidemark/memory-engine";
import {
  applyOperation,
  instanceKey,
  LeaseError,
  parseInstanceKey,
  SPACE_SCOPE_KEY,
  type AcceptedCommit,
  type BaseView,
  type Held,
  type InstanceKey,
  type JsonValue,
  type Seq,
} from "@tidemark/protocol";
import type { LoadAnswer } from "./loads.js";

/** The store read-through posture (seed 001 §1, plane (a)). */
export interface ReadThrough {
  /** Whether another principal's instance may be delivered to this holder now: its lease lives. */
  readonly mayRead: () => boolean;
  /** A document was read of the store: on first access, or again because the feed reported a write. */
  readonly onRead: (again: boolean) => void;
}

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
  /** Where set, the feed says what to read again, and its operations are not applied. */
  readonly through?: ReadThrough;
  /** The replica took something in: a load, or commits at a barrier. */
  onTake?(): void;
  /** One load of what the store holds; where absent, the store's own word. @throws as a failed load */
  load?(key: InstanceKey, read: () => Held): LoadAnswer;
}

const EVICTION_SLACK = 1.1;

interface Slot {
  held: Held;
  used: boolean;
}

/**
 * The executor's copy of the space: the documents read so far, all at one seq. It moves only at frame
 * barriers, between actions; a miss loads synchronously as of that seq, and its load may answer that
 * the document is on its way or cannot be had (R25).
 */
export class Replica implements BaseView {
  readonly #options: ReplicaOptions;
  readonly #slots = new Map<InstanceKey, Slot>();
  /** Instances that are not held and that a wave of ours wrote above the replica's seq. */
  readonly #unseen = new Map<InstanceKey, Seq>();
  /** What the last load of each instance came to that is not held. */
  readonly #missing = new Map<InstanceKey, Exclude<LoadAnswer, { state: "held" }>>();
  #seq: Seq;
  #loads = 0;
  #pending = 0;

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

  /** Documents that somebody has read and that are on their way. */
  get pending(): number {
    return this.#pending;
  }

  /** Whether every load came to its document. */
  get isComplete(): boolean {
    return this.#missing.size === 0;
  }

  /** What is not held is loaded; `undefined` where that load is pending or has failed. */
  get(key: InstanceKey): Held | undefined {
    const slot = this.#slots.get(key);
    if (slot !== undefined) {
      slot.used = true;
      return slot.held;
    }
    const held = this.#load(key);
    if (held !== undefined) this.#slots.set(key, { held, used: true });
    return held;
  }

  /** Why an instance is not held, as its last load had it. */
  missing(key: InstanceKey): Exclude<LoadAnswer, { state: "held" }> | undefined {
    return this.#missing.get(key);
  }

  /** Lets copies go, and what loads came to: the next read of each is a load again, at the same seq. */
  forget(keys: Iterable<InstanceKey>): void {
    for (const key of keys) {
      this.#settle(key);
      const slot = this.#slots.get(key);
      if (slot === undefined) continue;
      this.#slots.delete(key);
      this.acceptUnseen(key, slot.held.seq);
    }
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
    const through = this.#options.through !== undefined;
    for (const commit of commits) {
      for (const change of commit.changes) {
        const key = instanceKey(change.id, change.scopeKey);
        const slot = this.#slots.get(key);
        if (slot === undefined) continue;
        // An own commit's writes are here already, as they were sealed.
        if (through && !this.#options.isOwn(commit)) reload.add(key);
        else if (slot.held.seq < commit.seq) {
          slot.held = advance(slot.held, commit, change.op);
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
    this.#settle(key);
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
    this.#missing.clear();
    this.#pending = 0;
  }

  #refresh(key: InstanceKey): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    const held = this.#load(key, true);
    if (held === undefined) this.#slots.delete(key);
    else slot.held = held;
  }

  #load(key: InstanceKey, again = false): Held | undefined {
    this.#loads += 1;
    this.#options.onTake?.();
    const answer = this.#ask(key, again);
    this.#settle(key);
    if (answer.state === "held") return answer.held;
    this.#missing.set(key, answer);
    if (answer.state === "pending") this.#pending += 1;
    return undefined;
  }

  #settle(key: InstanceKey): void {
    if (this.#missing.get(key)?.state === "pending") this.#pending -= 1;
    this.#missing.delete(key);
  }

  #ask(key: InstanceKey, again: boolean): LoadAnswer {
    const { engine, load, through } = this.#options;
    const { id, scopeKey } = parseInstanceKey(key);
    if (through !== undefined && scopeKey !== SPACE_SCOPE_KEY && !through.mayRead()) {
      const message = `${key} is delivered to the holder of a live lease alone, and it has lapsed`;
      return { state: "failed", error: new LeaseError(message, {}) };
    }
    const unseen = this.#unseen.get(key) ?? this.#seq;
    const at = unseen > this.#seq ? unseen : this.#seq;
    const read = (): Held => {
      through?.onRead(again);
      return engine.read(id, scopeKey, { at });
    };
    try {
      return load?.(key, read) ?? { state: "held", held: read() };
    } catch (error) {
      return { state: "failed", error };
    }
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
