import { type DocId, type JsonValue, nodeIdFor, streamIdFor } from "@tidemark/protocol";
import { BOARD_CELLS, DERIVED, STREAMS } from "./board.js";

interface KnownPiece {
  readonly id: DocId;
  pattern: string;
}

/** A handler of a piece, by its stream. */
export interface StreamOwner {
  readonly piece: DocId;
  readonly handler: string;
}

/** The pieces of one space that an oracle knows, and what each of their documents is. */
export class BoardPieces {
  readonly #pieces = new Map<DocId, KnownPiece>();
  readonly #cells = new Map<DocId, string>();
  readonly #derived = new Map<DocId, string>();
  readonly #streams = new Map<DocId, StreamOwner>();

  /** A piece that the plan names. */
  know(id: DocId, pattern: string): void {
    if (this.#pieces.has(id)) return;
    this.#pieces.set(id, { id, pattern });
    for (const name of Object.keys(BOARD_CELLS)) this.#cells.set(nodeIdFor(id, name), name);
    for (const name of DERIVED) this.#derived.set(nodeIdFor(id, name), name);
    for (const handler of STREAMS)
      this.#streams.set(streamIdFor(id, handler), { piece: id, handler });
  }

  get ids(): Iterable<DocId> {
    return this.#pieces.keys();
  }

  /** The pattern of a piece is what its document says. */
  adopt(id: DocId, stored: JsonValue | undefined): void {
    const piece = this.#pieces.get(id);
    const pattern = (stored as { pattern?: { id?: string } } | undefined)?.pattern?.id;
    if (piece && pattern) piece.pattern = pattern;
  }

  patternOf(piece: DocId): string | undefined {
    return this.#pieces.get(piece)?.pattern;
  }

  /** The name of a cell; `undefined` for what is none. */
  cell(id: DocId): string | undefined {
    return this.#cells.get(id);
  }

  stream(id: DocId): StreamOwner | undefined {
    return this.#streams.get(id);
  }

  /** What a document is called. */
  nameOf(id: DocId): string {
    return this.#cells.get(id) ?? this.#derived.get(id) ?? id;
  }
}
