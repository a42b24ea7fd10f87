import type { Engine } from "@tidemark/memory-engine";
import {
  docKind,
  getAt,
  instanceKey,
  isTidemarkError,
  SPACE_SCOPE_KEY,
  type DocId,
  type Held,
  type InstanceKey,
  type JsonValue,
} from "@tidemark/protocol";
import type { Runtime } from "@tidemark/runtime";

/** What {@link Pieces} needs. */
export interface PiecesOptions {
  readonly engine: Pick<Engine, "pieceOf">;
  readonly view: { get(key: InstanceKey): Held | undefined };
  /** Why a document is not held: absent where its load is pending. */
  readonly failureOf: (key: InstanceKey) => unknown;
  readonly runtime: () => Pick<Runtime, "startPiece" | "swap" | "stopPiece" | "streamOwner">;
}

/** A load that has not come to an end, or came to a bad one. */
export interface Unloaded {
  readonly on: InstanceKey;
  /** Absent while it is pending. */
  readonly error?: unknown;
}

/** What loading the structure behind a document came to. */
export type Loading =
  | { readonly kind: "started" }
  /** Nothing here points at a pattern. */
  | { readonly kind: "bare"; readonly reason: string }
  /** What it needs could not be read. */
  | { readonly kind: "unloaded"; readonly load: Unloaded; readonly reason: string }
  /** The pattern is unknown, or its graph cannot be built. */
  | {
      readonly kind: "threw";
      readonly piece: DocId;
      readonly error: unknown;
      readonly reason: string;
    };

/** A loading and the documents it looked at: a commit that touches one may change its answer. */
export type Loaded = Loading & { readonly observed: readonly DocId[] };

/** What became of the pieces whose documents moved. */
export interface Moved {
  /** Served before and gone now. */
  readonly stopped: readonly DocId[];
  /** Could not follow their pointer: the graph before stands (seed 001 §3e). */
  readonly stuck: readonly { readonly piece: DocId; readonly error: unknown }[];
}

/**
 * The pieces that serve: each is started when something first needs it, and follows its document from
 * then on (seed 001 §1, §3e). What cannot be started yet is for others to remember.
 */
export class Pieces {
  readonly #options: PiecesOptions;
  /** The document each was built from; absent where the graph is an older pointer's. */
  readonly #started = new Map<DocId, JsonValue | undefined>();
  /** Nodes that were asked for, of pieces that serve: a store's index moves with their documents alone. */
  readonly #owners = new Map<DocId, DocId>();

  constructor(options: PiecesOptions) {
    this.#options = options;
  }

  /** Pieces that serve now. */
  get size(): number {
    return this.#started.size;
  }

  /** Starts what derives a document, if it does not serve yet. */
  load(id: DocId): Loaded {
    if (docKind(id) === "piece") return this.#ensure(id, id);
    const piece = this.#owners.get(id) ?? this.#options.engine.pieceOf(id);
    if (piece === undefined) return { kind: "bare", reason: `no piece has ${id}`, observed: [id] };
    const loaded = this.#ensure(piece, id);
    if (loaded.kind === "started") this.#owners.set(id, piece);
    return loaded;
  }

  /** Starts what handles a stream. */
  loadStream(stream: DocId): Loaded {
    const { engine, runtime } = this.#options;
    const observed: DocId[] = [stream];
    if (runtime().streamOwner(stream) !== undefined) return { kind: "started", observed };
    const piece = engine.pieceOf(stream);
    if (piece === undefined)
      return { kind: "bare", reason: `no piece has the stream ${stream}`, observed };
    const loaded = this.#ensure(piece, stream);
    if (loaded.kind !== "started" || runtime().streamOwner(stream) !== undefined) return loaded;
    return {
      kind: "bare",
      reason: `the pattern of ${piece} has no handler for ${stream}`,
      observed: loaded.observed,
    };
  }

  /** A frame barrier moved these piece documents. */
  follow(touched: Iterable<DocId>): Moved {
    const stopped: DocId[] = [];
    const stuck: { readonly piece: DocId; readonly error: unknown }[] = [];
    for (const piece of touched) {
      if (!this.#started.has(piece)) continue;
      const held = this.#read(piece);
      // Its load has not come to an end: it is looked at again when it has.
      if (held === undefined) continue;
      if (held.value === undefined) {
        this.#stop(piece);
        stopped.push(piece);
        continue;
      }
      const error = this.#swap(piece, held.value);
      if (error !== undefined) stuck.push({ piece, error: error.thrown });
    }
    return { stopped, stuck };
  }

  #ensure(piece: DocId, asked: DocId): Loaded {
    const observed = piece === asked ? [piece] : [asked, piece];
    if (this.#started.has(piece)) return { kind: "started", observed };
    const held = this.#read(piece);
    if (held === undefined) return { ...this.#unloaded(piece), observed };
    if (held.value === undefined)
      return { kind: "bare", reason: `the piece ${piece} does not exist`, observed };
    if (!pointsAtPattern(held.value))
      return { kind: "bare", reason: `${piece} is no piece: it names no pattern`, observed };
    return { ...this.#start(piece, held.value), observed };
  }

  #start(piece: DocId, value: JsonValue): Loading {
    try {
      this.#options.runtime().startPiece(piece, value);
      this.#started.set(piece, value);
      return { kind: "started" };
    } catch (error) {
      const reason = `the piece ${piece} could not start: ${wordsOf(error)}`;
      return { kind: "threw", piece, error, reason };
    }
  }

  #unloaded(piece: DocId): Loading {
    const on = keyOf(piece);
    const error = this.#options.failureOf(on);
    const reason = `the piece ${piece} is not loaded`;
    return { kind: "unloaded", load: error === undefined ? { on } : { on, error }, reason };
  }

  #swap(piece: DocId, value: JsonValue): { readonly thrown: unknown } | undefined {
    if (value === this.#started.get(piece)) return undefined;
    this.#owners.clear();
    try {
      this.#options.runtime().swap(piece, value);
      this.#started.set(piece, value);
      return undefined;
    } catch (error) {
      this.#started.set(piece, undefined);
      return { thrown: error };
    }
  }

  #stop(piece: DocId): void {
    this.#started.delete(piece);
    this.#owners.clear();
    this.#options.runtime().stopPiece(piece);
  }

  #read(piece: DocId): Held | undefined {
    return this.#options.view.get(keyOf(piece));
  }
}

/** Whether a document can have structure behind it at all: others are never a piece's. */
export function isRoot(id: DocId): boolean {
  const kind = docKind(id);
  return kind === "piece" || kind === "node";
}

/** Whether a piece's document says which pattern it is of. */
export function pointsAtPattern(value: JsonValue | undefined): boolean {
  if (value === undefined) return false;
  const id = getAt(value, ["pattern", "id"]);
  const version = getAt(value, ["pattern", "version"]);
  return typeof id === "string" && typeof version === "string";
}

function keyOf(piece: DocId): InstanceKey {
  return instanceKey(piece, SPACE_SCOPE_KEY);
}

function wordsOf(error: unknown): string {
  return error instanceof Error || isTidemarkError(error) ? (error as Error).message : "";
}
