import type { DocId, StreamEntry } from "@tidemark/protocol";
import { placeKey, type PlaceKey } from "./places.js";

/**
 * Which streams have an entry that is pending and not sealed: nothing that comes later to such a stream may
 * run before it (seed 000 §2, Ordering).
 */
export class StreamTurns {
  readonly #waiting = new Map<DocId, Set<PlaceKey>>();
  /** There are pending entries that no pass has looked at, of whatever stream. */
  #unknown = false;

  /** Whether an entry of the stream has its turn first. */
  holds(stream: DocId): boolean {
    return this.#unknown || this.#waiting.has(stream);
  }

  /** A pass found these pending; `beyond` says that it did not look at all of them. */
  found(entries: readonly StreamEntry[], beyond: boolean): void {
    this.#unknown = beyond;
    for (const entry of entries) this.wait(entry.stream, placeKey(entry));
  }

  /** The entry is pending. */
  wait(stream: DocId, key: PlaceKey): void {
    const waiting = this.#waiting.get(stream);
    if (waiting === undefined) this.#waiting.set(stream, new Set([key]));
    else waiting.add(key);
  }

  /** The entry is sealed, or ended elsewhere. */
  done(stream: DocId, key: PlaceKey): void {
    const waiting = this.#waiting.get(stream);
    waiting?.delete(key);
    if (waiting?.size === 0) this.#waiting.delete(stream);
  }

  clear(): void {
    this.#waiting.clear();
    this.#unknown = false;
  }
}
