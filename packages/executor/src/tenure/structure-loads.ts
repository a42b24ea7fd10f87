import { linkedNodes, type Engine } from "@tidemark/memory-engine";
import {
  docKind,
  instanceKey,
  parseInstanceKey,
  SPACE_SCOPE_KEY,
  type AcceptedCommit,
  type DocId,
  type InstanceKey,
  type Seq,
} from "@tidemark/protocol";
import type { SpaceStats } from "../stats/counters.js";
import { isRoot, pointsAtPattern, type Loaded, type Pieces, type Unloaded } from "./pieces.js";

/** What {@link StructureLoads} need. */
export interface StructureLoadsOptions {
  readonly pieces: Pieces;
  /** The authority that the replica reads from. */
  readonly engine: Pick<Engine, "pieceOf" | "read">;
  readonly replica: { readonly seq: Seq; forget(keys: Iterable<InstanceKey>): void };
  /** The wave over the replica: what it wrote may hide what the store has. */
  readonly view: { has(key: InstanceKey): boolean };
  readonly stats: SpaceStats;
  /** Deferrals in a row after which a root counts as stuck. */
  readonly stuckAfter: number;
  readonly reportFailure: (piece: DocId, error: unknown) => void;
  readonly reportStuck: (root: DocId, deferrals: number) => void;
}

/** A root whose structure does not serve. */
interface Root {
  /** Demanded instances of it. */
  demands: number;
  /** A run read it, or it served before: its decision does not go with demand. */
  readonly kept: boolean;
  /** `terminal`: nothing is there. `deferred`: not yet. `unread`: its load failed. `failed`: it threw. */
  readonly state: "terminal" | "deferred" | "unread" | "failed";
  /** Deferrals in a row. */
  readonly streak: number;
  readonly observed: readonly DocId[];
}

/** Whether what handles a stream serves. */
export type StreamLoad =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly load?: Unloaded };

/** What the co-hosted store says of a root that looks bare; `racing`: it holds more than the replica shows. */
type Answer = "bare" | "racing" | "other";

/**
 * The demanded roots whose structure does not serve: why, and what will have it loaded again (seed 001
 * §1, §7). There is no retry timer: a commit that touches what a root's load looked at re-arms it, and a
 * root that is only not there yet is tried again whenever the replica moves.
 */
export class StructureLoads {
  readonly #options: StructureLoadsOptions;
  readonly #roots = new Map<DocId, Root>();
  readonly #observers = new Map<DocId, Set<DocId>>();
  /** Roots that are tried again whenever the replica moves. */
  readonly #soon = new Set<DocId>();
  /** Roots that an input re-armed under a write of the wave, and the lowest such input. */
  readonly #owed = new Map<DocId, Seq>();
  /**
   * Pieces that have to follow their documents once no write of the wave lies over these, and the input that
   * moved them: a pointer that may be withdrawn moves no graph (§3e).
   */
  readonly #late = new Map<DocId, Seq>();

  constructor(options: StructureLoadsOptions) {
    this.#options = options;
  }

  /** Roots that do not serve. */
  get size(): number {
    return this.#roots.size;
  }

  /** The lowest input that may have re-armed a root whose retry has not started, or moved a piece: W stays below (§3). */
  get floor(): Seq | undefined {
    let lowest: Seq | undefined;
    for (const seq of [...this.#owed.values(), ...this.#late.values()]) {
      if (lowest === undefined || seq < lowest) lowest = seq;
    }
    return lowest;
  }

  /** An instance of the root is demanded. Ids that are never a piece's count nothing. */
  demand(id: DocId): void {
    if (!isRoot(id)) return;
    const root = this.#roots.get(id);
    if (root !== undefined) root.demands += 1;
    else this.#attempt(id, { ...NEW_ROOT, demands: 1 });
  }

  /** An instance is demanded no more: with the last one what was decided of the root goes. */
  leave(id: DocId): void {
    const root = this.#roots.get(id);
    if (root === undefined) return;
    root.demands -= 1;
    if (root.demands <= 0 && !root.kept) this.#drop(id);
  }

  /** A run reads or writes a document of a piece that may not serve yet. */
  read(id: DocId): void {
    if (this.#roots.has(id) || !isRoot(id)) return;
    this.#attempt(id, { ...NEW_ROOT, kept: true });
  }

  /** Starts what handles a stream; for the drain, which remembers itself what it could not deliver. */
  stream(stream: DocId): StreamLoad {
    const loaded = this.#options.pieces.loadStream(stream);
    // Its piece may have been started though nothing in it handles the stream.
    this.#started(loaded);
    if (loaded.kind === "started") return { ok: true };
    const { reason } = loaded;
    if (loaded.kind === "unloaded") return { ok: false, reason, load: loaded.load };
    if (loaded.kind === "threw") this.#count(loaded.piece, loaded.error);
    return { ok: false, reason };
  }

  /** The tenure ends: its successor starts its own pass. */
  clear(): void {
    this.#roots.clear();
    this.#observers.clear();
    this.#soon.clear();
    this.#owed.clear();
    this.#late.clear();
  }

  /** A frame barrier moved the replica: swaps, removals, re-armed roots, and those that are not there yet. */
  follow(commits: readonly AcceptedCommit[]): void {
    const touched = this.#touchedBy(commits);
    const pieces = [...touched.keys()].filter((id) => docKind(id) === "piece");
    for (const [id, seq] of touched) {
      if (docKind(id) === "piece") this.#late.set(id, this.#late.get(id) ?? seq);
    }
    this.#followLate();
    if (this.#roots.size === 0) return;
    const armed = this.#armedBy(touched, pieces);
    const soon = [...this.#soon].filter((id) => !armed.has(id));
    for (const [id, seq] of armed) this.#rearm(id, seq);
    for (const id of soon) this.#again(id);
  }

  /** Retries that a write of the wave held back and holds back no longer. True where there were some. */
  retryOwed(): boolean {
    let retried = this.#followLate();
    for (const [id, seq] of this.#owed) {
      if (this.#shadowed(id)) continue;
      this.#owed.delete(id);
      this.#rearm(id, seq);
      retried = true;
    }
    return retried;
  }

  /** Whether some retry that was held back could start now. */
  get due(): boolean {
    if ([...this.#late.keys()].some((id) => !this.#covered(id))) return true;
    return [...this.#owed.keys()].some((id) => !this.#shadowed(id));
  }

  /** Loads of these documents would succeed now: whoever waits for one tries again. */
  settled(keys: Iterable<InstanceKey>): void {
    for (const key of keys) {
      const { id } = parseInstanceKey(key);
      this.#followPieces([id]);
      const waiting = [...(this.#observers.get(id) ?? [])].filter((root) => this.#soon.has(root));
      for (const root of waiting) this.#again(root);
    }
  }

  /** What is started over a write of the wave may find it withdrawn: it follows what stands then. */
  #started({ observed }: Loaded): void {
    const next = (this.#options.replica.seq + 1) as Seq;
    for (const id of observed) {
      if (docKind(id) !== "piece" || !this.#covered(id) || this.#late.has(id)) continue;
      this.#late.set(id, next);
    }
  }

  /** Those that no write of the wave lies over any more. True where there were some. */
  #followLate(): boolean {
    if (this.#late.size === 0) return false;
    const clear = [...this.#late.keys()].filter((id) => !this.#covered(id));
    for (const id of clear) this.#late.delete(id);
    if (clear.length > 0) this.#followPieces(clear);
    return clear.length > 0;
  }

  #followPieces(pieces: readonly DocId[]): void {
    const { stopped, stuck } = this.#options.pieces.follow(pieces);
    for (const { piece, error } of stuck) this.#count(piece, error);
    // Its nodes have lost their writers: it is started again if its document comes back.
    for (const piece of stopped) {
      this.#set(piece, { ...NEW_ROOT, kept: true, state: "terminal" }, [piece]);
    }
  }

  /** Documents of pieces, and those that the load of some root looked at, with the first commit on each. */
  #touchedBy(commits: readonly AcceptedCommit[]): ReadonlyMap<DocId, Seq> {
    const touched = new Map<DocId, Seq>();
    for (const { seq, changes } of commits) {
      for (const { id, scopeKey } of changes) {
        const matters = docKind(id) === "piece" || this.#observers.has(id);
        if (matters && scopeKey === SPACE_SCOPE_KEY && !touched.has(id)) touched.set(id, seq);
      }
    }
    return touched;
  }

  /** Roots whose load looked at what was touched, or whose document a touched piece now names as its own. */
  #armedBy(touched: ReadonlyMap<DocId, Seq>, pieces: readonly DocId[]): Map<DocId, Seq> {
    const armed = new Map<DocId, Seq>();
    const arm = (root: DocId, seq: Seq): void => {
      if (!armed.has(root)) armed.set(root, seq);
    };
    for (const [id, seq] of touched)
      for (const root of this.#observers.get(id) ?? []) arm(root, seq);
    for (const piece of pieces) {
      const held = this.#options.engine.read(piece, SPACE_SCOPE_KEY);
      for (const node of linkedNodes(held.value)) {
        if (this.#roots.has(node)) arm(node, touched.get(piece) ?? held.seq);
      }
    }
    return armed;
  }

  #rearm(id: DocId, seq: Seq): void {
    const root = this.#roots.get(id);
    if (root === undefined) return;
    if (this.#shadowed(id)) {
      const known = this.#owed.get(id);
      if (known === undefined || seq < known) this.#owed.set(id, seq);
      return;
    }
    if (root.state === "terminal") this.#options.stats.counts.structureLoadRearmed += 1;
    this.#attempt(id, root);
  }

  /** A write of the wave lies over what the retry would have to read. */
  #shadowed(id: DocId): boolean {
    for (const one of this.#roots.get(id)?.observed ?? []) {
      if (docKind(one) === "piece" && this.#covered(one)) return true;
    }
    return false;
  }

  #covered(id: DocId): boolean {
    return this.#options.view.has(instanceKey(id, SPACE_SCOPE_KEY));
  }

  #again(id: DocId): void {
    const root = this.#roots.get(id);
    if (root !== undefined) this.#attempt(id, root);
  }

  #attempt(id: DocId, root: Root): void {
    const loaded = this.#options.pieces.load(id);
    switch (loaded.kind) {
      case "started":
        this.#started(loaded);
        return this.#drop(id);
      case "bare":
        return this.#confirm(id, root, loaded);
      case "threw":
        this.#count(loaded.piece, loaded.error);
        return this.#set(id, { ...root, state: "failed" }, loaded.observed);
      case "unloaded":
        return this.#unread(id, root, loaded.load, loaded.observed);
    }
  }

  #unread(id: DocId, root: Root, { on, error }: Unloaded, observed: readonly DocId[]): void {
    if (error === undefined) return this.#defer(id, root, observed);
    this.#count(parseInstanceKey(on).id, error);
    this.#set(id, { ...root, state: "unread" }, observed);
  }

  #count(piece: DocId, error: unknown): void {
    this.#options.stats.counts.structureLoadFailures += 1;
    this.#options.reportFailure(piece, error);
  }

  #defer(id: DocId, before: Root, observed: readonly DocId[]): void {
    const { stats, stuckAfter, reportStuck } = this.#options;
    stats.counts.structureLoadDeferred += 1;
    const root: Root = { ...before, state: "deferred", streak: before.streak + 1 };
    this.#set(id, root, observed);
    if (root.streak === stuckAfter) stats.counts.structureLoadStuck += 1;
    if (isDoubling(root.streak, stuckAfter)) reportStuck(id, root.streak);
  }

  /**
   * Nothing names a pattern, as the replica has it. The store, which the replica reads from, is asked
   * before that is final: what it does not hold a second look could not find either.
   */
  #confirm(id: DocId, root: Root, { observed }: Loaded): void {
    const answer = this.#answerOf(id);
    if (answer === "racing") return this.#defer(id, root, observed);
    if (answer === "bare") {
      this.#options.stats.counts.structureLoadConfirmationsSkipped += 1;
      return this.#end(id, root, observed);
    }
    this.#options.replica.forget(observed.map((one) => instanceKey(one, SPACE_SCOPE_KEY)));
    const again = this.#options.pieces.load(id);
    if (again.kind === "bare") return this.#end(id, root, again.observed);
    if (again.kind === "started") return this.#drop(id);
    return this.#defer(id, root, again.observed);
  }

  #end(id: DocId, root: Root, observed: readonly DocId[]): void {
    this.#options.stats.counts.structureLoadTerminal += 1;
    this.#set(id, { ...root, state: "terminal", streak: 0 }, observed);
  }

  #answerOf(id: DocId): Answer {
    const { engine, replica, view } = this.#options;
    try {
      const piece = docKind(id) === "piece" ? id : engine.pieceOf(id);
      if (piece === undefined) return "bare";
      const { value, seq } = engine.read(piece, SPACE_SCOPE_KEY);
      if (seq > replica.seq || view.has(instanceKey(piece, SPACE_SCOPE_KEY))) return "racing";
      return pointsAtPattern(value) ? "other" : "bare";
    } catch {
      return "other";
    }
  }

  #set(id: DocId, root: Root, observed: readonly DocId[]): void {
    this.#unobserve(id);
    this.#roots.set(id, { ...root, observed });
    if (root.state === "deferred" || root.state === "unread") this.#soon.add(id);
    else this.#soon.delete(id);
    for (const one of observed) {
      const observers = this.#observers.get(one);
      if (observers === undefined) this.#observers.set(one, new Set([id]));
      else observers.add(id);
    }
  }

  #drop(id: DocId): void {
    this.#unobserve(id);
    this.#roots.delete(id);
    this.#soon.delete(id);
    this.#owed.delete(id);
  }

  #unobserve(id: DocId): void {
    for (const one of this.#roots.get(id)?.observed ?? []) {
      const observers = this.#observers.get(one);
      observers?.delete(id);
      if (observers?.size === 0) this.#observers.delete(one);
    }
  }
}

const NEW_ROOT: Root = {
  demands: 0,
  kept: false,
  state: "deferred",
  streak: 0,
  observed: [],
};

/** At the threshold, and at each doubling of it. A threshold of 0 is 1. */
function isDoubling(streak: number, threshold: number): boolean {
  if (streak < threshold) return false;
  const ratio = streak / threshold;
  return Number.isInteger(ratio) && (ratio & (ratio - 1)) === 0;
}
