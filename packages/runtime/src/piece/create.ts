import { type DocId, type Link, pieceIdFor } from "@tidemark/protocol";
import { cellHandle } from "../cell/handle.js";
import type { EventScope } from "../frame/event-scope.js";
import type { Pattern } from "../pattern/pattern.js";
import { describePiece } from "../pattern/describe.js";

/** What {@link createPieceIn} takes beside the pattern and its argument. */
export interface CreatePieceOptions {
  /** Tells the pieces that one event creates apart. By default the pattern's id. */
  readonly name?: string;
}

/** A piece's address. */
export interface PieceLink {
  readonly id: DocId;
  readonly link: Link;
}

/**
 * Writes the document of a new piece in the run of an event. The id comes from the event's own id
 * and stream and from the name, not from the event key, so retries and the client's echo make the
 * same piece (seed 003). A piece that is there already stays as it is (seed 003, Re-admission).
 */
export function createPieceIn(
  event: EventScope,
  pattern: Pattern,
  argument: unknown,
  options: CreatePieceOptions = {},
): PieceLink {
  const name = options.name ?? pattern.id;
  const id = pieceIdFor({ event: event.eventId, stream: event.stream.id, name });
  const ref = { id, scope: "space", path: [], label: `piece ${name}`, writable: true } as const;
  const document = cellHandle<unknown>(ref, event.tx);
  if (event.tx.getRaw(ref) === undefined) document.set(describePiece(pattern, argument, id));
  return { id, link: { id } };
}
