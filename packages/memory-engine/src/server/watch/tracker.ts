import {
  instanceKey,
  parseInstanceKey,
  resolveScopeKey,
  SPACE_SCOPE_KEY,
  type DocId,
  type InstanceKey,
  type Selector,
  type Watch,
} from "@tidemark/protocol";
import type { Channel } from "../space/channel.js";
import { linkSignature } from "./signature.js";
import { walkRoot, type ReadInstance, type WalkContext } from "./walk.js";

/** One root that one session watches, and what it reaches now. */
interface WatchRoot {
  readonly channel: Channel;
  readonly key: InstanceKey;
  readonly selector: Selector;
  reached: ReadonlySet<InstanceKey>;
}

/** The roots of one watch of one session. */
interface WatchState {
  readonly channel: Channel;
  readonly watch: Watch;
  /** JSON of the watch: the same watch set again keeps its roots. */
  readonly text: string;
  readonly roots: Map<InstanceKey, WatchRoot>;
}

interface Instance {
  readonly roots: Set<WatchRoot>;
  signature: string;
}

const PIECE_PREFIX = "piece:";
/** What a watch without a selector means: the root document, and nothing that it leads to (seed 001 §1). */
export const ROOT_ALONE: Selector = { kind: "value" };

/**
 * The tracked sets of one space (protocol.md §4): which instance is reached by which root of which
 * session. A change of an instance whose links stay where they were costs one look-up; one that
 * moves links walks again the roots that reach this very instance, and no others. A tracked set
 * shrinks only by such a full evaluation or by the end of its watch (seed 001 §1).
 */
export class Tracker {
  readonly #instances = new Map<InstanceKey, Instance>();
  readonly #watches = new Map<Channel, Map<string, WatchState>>();
  readonly #pieceWatches = new Set<WatchState>();
  readonly #listPieces: () => readonly DocId[];
  readonly #onWalk: () => void;

  #moves = 0;
  #growth = 0;

  constructor(listPieces: () => readonly DocId[], onWalk: () => void) {
    this.#listPieces = listPieces;
    this.#onWalk = onWalk;
  }

  /** Counts how often the tracked set of some session changed. */
  get moves(): number {
    return this.#moves;
  }

  /** Counts how often the tracked set of some session gained an instance. */
  get growth(): number {
    return this.#growth;
  }

  /** Instances that somebody tracks. */
  get size(): number {
    return this.#instances.size;
  }

  /** Replaces a session's watches; those that stay keep what they reached. */
  set(channel: Channel, watches: readonly Watch[], read: ReadInstance, walk: WalkContext): void {
    const standing = this.#watches.get(channel) ?? new Map<string, WatchState>();
    const next = new Map<string, WatchState>();
    const fresh: WatchState[] = [];
    for (const watch of watches) {
      const text = JSON.stringify(watch);
      const kept = standing.get(watch.id);
      if (kept?.text === text) {
        next.set(watch.id, kept);
        continue;
      }
      const state: WatchState = { channel, watch, text, roots: new Map() };
      next.set(watch.id, state);
      fresh.push(state);
    }
    // New ones first, so that what both the old and the new reach never leaves the tracked set.
    for (const state of fresh) this.#start(state, read, walk);
    for (const [id, state] of standing) if (next.get(id) !== state) this.#stop(state);
    this.#watches.set(channel, next);
    channel.watches = watches;
  }

  /** Ends everything that a session watches. */
  drop(channel: Channel): void {
    for (const state of this.#watches.get(channel)?.values() ?? []) this.#stop(state);
    this.#watches.delete(channel);
    channel.watches = [];
  }

  /** Whether anybody tracks, or a watch of all pieces wants, this instance. */
  concerns(key: InstanceKey): boolean {
    return this.#instances.has(key) || (this.#pieceWatches.size > 0 && isPieceKey(key));
  }

  /**
   * Takes in changed instances: marks the sessions that track them, and walks again where links
   * moved. `read` gives the values as of the flush.
   */
  changed(keys: Iterable<InstanceKey>, read: ReadInstance, walk: WalkContext): void {
    const again = new Set<WatchRoot>();
    for (const key of keys) {
      if (!this.concerns(key)) continue;
      this.#startPiece(key, read, walk);
      const instance = this.#instances.get(key);
      if (instance === undefined) continue;
      for (const root of instance.roots) root.channel.dirty.add(key);
      const signature = linkSignature(read(key).value);
      if (signature === instance.signature) continue;
      instance.signature = signature;
      for (const root of instance.roots) again.add(root);
    }
    for (const root of again) this.#walk(root, read, walk);
  }

  #start(state: WatchState, read: ReadInstance, walk: WalkContext): void {
    const { watch, channel } = state;
    if (watch.pieces === true) {
      this.#pieceWatches.add(state);
      for (const id of this.#listPieces()) {
        this.#addRoot(state, instanceKey(id, SPACE_SCOPE_KEY), read, walk);
      }
    }
    if (watch.root === undefined) return;
    const scopeKey = resolveScopeKey(watch.root.scope ?? "space", channel.actor);
    this.#addRoot(state, instanceKey(watch.root.id, scopeKey), read, walk);
  }

  #startPiece(key: InstanceKey, read: ReadInstance, walk: WalkContext): void {
    if (this.#pieceWatches.size === 0 || !isPieceKey(key)) return;
    for (const state of this.#pieceWatches) this.#addRoot(state, key, read, walk);
  }

  #addRoot(state: WatchState, key: InstanceKey, read: ReadInstance, walk: WalkContext): void {
    if (state.roots.has(key)) return;
    const selector = state.watch.selector ?? ROOT_ALONE;
    const root: WatchRoot = { channel: state.channel, key, selector, reached: new Set() };
    state.roots.set(key, root);
    this.#walk(root, read, walk);
  }

  #stop(state: WatchState): void {
    this.#pieceWatches.delete(state);
    for (const root of state.roots.values()) {
      for (const key of root.reached) this.#release(root, key);
    }
    state.roots.clear();
  }

  #walk(root: WatchRoot, read: ReadInstance, walk: WalkContext): void {
    this.#onWalk();
    const before = root.reached;
    const reached = walkRoot(root.key, root.selector, root.channel.actor, read, walk);
    root.reached = reached;
    for (const key of reached) if (!before.has(key)) this.#reach(root, key, read);
    for (const key of before) if (!reached.has(key)) this.#release(root, key);
  }

  #reach(root: WatchRoot, key: InstanceKey, read: ReadInstance): void {
    const instance = this.#instances.get(key);
    if (instance === undefined) {
      const signature = linkSignature(read(key).value);
      this.#instances.set(key, { roots: new Set([root]), signature });
    } else {
      instance.roots.add(root);
    }
    if (!root.channel.addRoot(key)) return;
    this.#moves += 1;
    this.#growth += 1;
  }

  #release(root: WatchRoot, key: InstanceKey): void {
    const instance = this.#instances.get(key);
    if (instance !== undefined) {
      instance.roots.delete(root);
      if (instance.roots.size === 0) this.#instances.delete(key);
    }
    if (root.channel.dropRoot(key)) this.#moves += 1;
  }
}

/** Whether the instance is a piece's document. */
export function isPieceKey(key: InstanceKey): boolean {
  const { id, scopeKey } = parseInstanceKey(key);
  return scopeKey === SPACE_SCOPE_KEY && id.startsWith(PIECE_PREFIX);
}
