import type { Engine } from "@tidemark/memory-engine";
import {
  docKind,
  instanceKey,
  isTidemarkError,
  SPACE_SCOPE_KEY,
  type AcceptedCommit,
  type DocId,
  type Held,
  type InstanceKey,
  type JsonValue,
} from "@tidemark/protocol";
import type { Runtime } from "@tidemark/runtime";
import type { SpaceStats } from "../stats/counters.js";

/** What {@link Pieces} needs. */
export interface PiecesOptions {
  readonly engine: Pick<Engine, "pieceOf">;
  readonly view: { get(key: InstanceKey): Held | undefined };
  readonly runtime: () => Pick<Runtime, "startPiece" | "swap" | "stopPiece" | "streamOwner">;
  readonly stats: SpaceStats;
  readonly report: (piece: DocId, error: unknown) => void;
}

/** Whether a piece serves. */
export type Loaded = { readonly ok: true } | { readonly ok: false; readonly reason: string };

const OK: Loaded = { ok: true };

/**
 * Loads the graph structure that demanded values and queued events need, and no more (seed 001 §1):
 * the piece of a demanded node or of an event's stream is started when it is first needed, and follows
 * its document from then on (§3e).
 */
export class Pieces {
  readonly #options: PiecesOptions;
  readonly #started = new Map<DocId, JsonValue>();
  /** Roots that name no piece yet, and pieces that could not start: a piece document re-arms them. */
  readonly #waiting = new Map<DocId, string>();

  constructor(options: PiecesOptions) {
    this.#options = options;
  }

  /** Pieces that serve now. */
  get size(): number {
    return this.#started.size;
  }

  /** Demanded roots whose structure could not be loaded. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Loads what derives a demanded document. Ids that are never a piece's count nothing. */
  ensureRoot(id: DocId): void {
    const kind = docKind(id);
    if (kind === "piece") this.#ensure(id);
    else if (kind === "node") this.#ensureOwner(id);
  }

  /** Loads what handles a stream. */
  ensureStream(stream: DocId): Loaded {
    const { engine, runtime } = this.#options;
    if (runtime().streamOwner(stream) !== undefined) return OK;
    const piece = engine.pieceOf(stream);
    if (piece === undefined) return { ok: false, reason: `no piece has the stream ${stream}` };
    const loaded = this.#ensure(piece);
    if (!loaded.ok) return loaded;
    return runtime().streamOwner(stream) === undefined
      ? { ok: false, reason: `the pattern of ${piece} has no handler for ${stream}` }
      : OK;
  }

  /** A frame barrier moved piece documents: swaps, removals, and roots that may load now. */
  follow(commits: readonly AcceptedCommit[]): void {
    const touched = new Set<DocId>();
    for (const commit of commits) {
      for (const { id, scopeKey } of commit.changes) {
        if (scopeKey === SPACE_SCOPE_KEY && docKind(id) === "piece") touched.add(id);
      }
    }
    if (touched.size === 0) return;
    for (const id of touched) if (this.#started.has(id)) this.#swap(id);
    this.#retry();
  }

  /** Demand has gone, and with it what was decided of its roots; pieces that serve go on (seed 001 §7). */
  leave(): void {
    this.#waiting.clear();
  }

  /** What a wave of our own wrote may name pieces too. */
  retry(): void {
    if (this.#waiting.size > 0) this.#retry();
  }

  #retry(): void {
    const roots = [...this.#waiting.keys()];
    this.#waiting.clear();
    this.#options.stats.counts.structureLoadRearmed += roots.length;
    for (const id of roots) this.ensureRoot(id);
  }

  #ensureOwner(node: DocId): void {
    const piece = this.#options.engine.pieceOf(node);
    if (piece !== undefined) {
      this.#ensure(piece);
      return;
    }
    this.#options.stats.counts.structureLoadTerminal += 1;
    this.#waiting.set(node, `no piece has the node ${node}`);
  }

  #ensure(piece: DocId): Loaded {
    if (this.#started.has(piece)) return OK;
    const value = this.#read(piece);
    if (value === undefined) {
      this.#options.stats.counts.structureLoadDeferred += 1;
      return this.#wait(piece, `the piece ${piece} does not exist`);
    }
    return this.#attempt(piece, value, () => this.#options.runtime().startPiece(piece, value));
  }

  #swap(piece: DocId): void {
    const value = this.#read(piece);
    if (value === undefined) {
      this.#started.delete(piece);
      this.#options.runtime().stopPiece(piece);
      return;
    }
    if (value === this.#started.get(piece)) return;
    this.#attempt(piece, value, () => this.#options.runtime().swap(piece, value));
  }

  #attempt(piece: DocId, value: JsonValue, start: () => unknown): Loaded {
    try {
      start();
      this.#started.set(piece, value);
      return OK;
    } catch (error) {
      this.#options.stats.counts.structureLoadFailures += 1;
      this.#options.report(piece, error);
      this.#started.delete(piece);
      const words =
        error instanceof Error || isTidemarkError(error) ? (error as Error).message : "";
      return this.#wait(piece, `the piece ${piece} could not start: ${words}`);
    }
  }

  #wait(piece: DocId, reason: string): Loaded {
    this.#waiting.set(piece, reason);
    return { ok: false, reason };
  }

  #read(piece: DocId): JsonValue | undefined {
    return this.#options.view.get(instanceKey(piece, SPACE_SCOPE_KEY))?.value;
  }
}
