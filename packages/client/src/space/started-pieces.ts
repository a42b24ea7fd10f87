import { instanceKey, SPACE_SCOPE_KEY } from "@tidemark/protocol";
import type { DocId, InstanceKey } from "@tidemark/protocol";
import type { Runtime } from "@tidemark/runtime";
import type { Scheduler } from "@tidemark/scheduler";
import type { PieceBook, PieceModel } from "./piece-book.js";

/** What {@link StartedPieces} is given. */
export interface StartedPiecesOptions {
  readonly runtime: Runtime;
  readonly scheduler: Scheduler;
  readonly pieces: PieceBook;
  /** Whether a document is shown here. */
  readonly shows: (key: InstanceKey) => boolean;
  readonly report: (error: unknown) => void;
}

interface Started {
  model: PieceModel | undefined;
  outputs: readonly InstanceKey[];
}

/**
 * The pieces whose graph stands in this client, and what of them is derived here. Computeds run only
 * while something is speculative: what frames bring alone the server has derived already
 * (speculation.md; fault class 44).
 */
export class StartedPieces {
  readonly #options: StartedPiecesOptions;
  readonly #pieces = new Map<DocId, Started>();
  readonly #demanded = new Set<InstanceKey>();

  constructor(options: StartedPiecesOptions) {
    this.#options = options;
  }

  /** Starts the piece as soon as its document is held. */
  open(id: DocId): void {
    if (!this.#pieces.has(id)) this.#pieces.set(id, { model: undefined, outputs: [] });
  }

  close(id: DocId): void {
    const piece = this.#pieces.get(id);
    if (piece?.model !== undefined) this.#options.runtime.stopPiece(id);
    this.#pieces.delete(id);
  }

  closeAll(): void {
    for (const id of this.#pieces.keys()) this.close(id);
    this.demand(false);
  }

  /** The document may be another one: starts, swaps or stops. Returns the streams concerned. */
  refresh(id: DocId): readonly DocId[] {
    const piece = this.#pieces.get(id);
    if (piece === undefined) return [];
    const model = this.#options.pieces.model(id);
    if (model === piece.model) return [];
    const streams = [...streamsOf(piece.model), ...streamsOf(model)];
    try {
      this.#change(id, piece.model, model);
      piece.model = model?.built === undefined ? undefined : model;
    } catch (error) {
      piece.model = undefined;
      this.#options.report(error);
    }
    piece.outputs = outputsOf(piece.model);
    return streams;
  }

  /** The documents that started computeds, lists and effectful nodes write. */
  *outputs(): Iterable<InstanceKey> {
    for (const { outputs } of this.#pieces.values()) yield* outputs;
  }

  /** Whether what is shown is to be derived here at present. */
  demand(on: boolean): void {
    const wanted = new Set<InstanceKey>();
    if (on) for (const key of this.outputs()) if (this.#options.shows(key)) wanted.add(key);
    const { scheduler } = this.#options;
    for (const key of this.#demanded) {
      if (wanted.has(key)) continue;
      this.#demanded.delete(key);
      scheduler.demand(key, false);
    }
    for (const key of wanted) {
      if (this.#demanded.has(key)) continue;
      this.#demanded.add(key);
      scheduler.demand(key, true);
    }
  }

  #change(id: DocId, from: PieceModel | undefined, to: PieceModel | undefined): void {
    const { runtime } = this.#options;
    if (to?.built === undefined) {
      if (from !== undefined) runtime.stopPiece(id);
    } else if (from === undefined) runtime.startPiece(id, to.document);
    else if (from.pattern !== to.pattern) runtime.swap(id, to.document);
  }
}

function streamsOf(model: PieceModel | undefined): readonly DocId[] {
  const nodes = [...(model?.built?.nodes.values() ?? [])];
  return nodes.filter((node) => node.kind === "handler").map((node) => node.id);
}

function outputsOf(model: PieceModel | undefined): readonly InstanceKey[] {
  const outputs: InstanceKey[] = [];
  for (const node of model?.built?.nodes.values() ?? []) {
    if (node.kind === "computed" || node.kind === "list" || node.kind === "effect") {
      outputs.push(instanceKey(node.id, SPACE_SCOPE_KEY));
    }
  }
  return outputs;
}
