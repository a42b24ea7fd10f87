import {
  OutOfTurnError,
  readAppendRefusal,
  type AppendRequest,
  type DocId,
  type EventId,
  type LocalSeq,
  type SpaceId,
} from "@tidemark/protocol";

/** Appends to one stream that stand refused for now, in no certain order. */
class StreamTurns {
  readonly #standing = new Map<EventId, LocalSeq>();
  #first: { readonly event: EventId; readonly place: LocalSeq } | undefined;

  get size(): number {
    return this.#standing.size;
  }

  /** The standing append that this one would overtake. */
  before({ localSeq, entry }: AppendRequest): { readonly event: EventId } | undefined {
    const first = this.#first;
    if (first === undefined) return undefined;
    return first.place < this.#placeOf(entry.eventId, localSeq) ? first : undefined;
  }

  stand({ localSeq, entry }: AppendRequest): void {
    const event = entry.eventId;
    const place = this.#placeOf(event, localSeq);
    this.#standing.set(event, place);
    if (this.#first === undefined || place < this.#first.place) this.#first = { event, place };
  }

  end(event: EventId): void {
    if (!this.#standing.delete(event) || this.#first?.event !== event) return;
    this.#first = undefined;
    for (const [next, place] of this.#standing) {
      if (this.#first === undefined || place < this.#first.place) {
        this.#first = { event: next, place };
      }
    }
  }

  /** An event's place is the lowest number it was sent under: a resend may have another. */
  #placeOf(event: EventId, localSeq: LocalSeq): LocalSeq {
    const standing = this.#standing.get(event);
    return standing === undefined || localSeq < standing ? localSeq : standing;
  }
}

/**
 * The order of one connection's appends, stream by stream: what was refused for now stands here until
 * that event is admitted or finally refused, and nothing that was sent after it is admitted before it
 * (field fault EV-10). All of them stand, not the first alone: once the first one is in, the others are
 * still before whatever is under way behind them.
 *
 * It lasts as long as the connection, or until the space is closed: the sender begins in order again
 * after either. Opening the space anew is no such point, for appends may be under way meanwhile.
 */
export class AppendTurns {
  readonly #spaces = new Map<SpaceId, Map<DocId, StreamTurns>>();
  #size = 0;

  /** Appends that stand refused for now, in all streams. */
  get size(): number {
    return this.#size;
  }

  /**
   * Admits in order. The verdict counts from here on, before the transaction is durable: the next append
   * of the same transaction is judged by it.
   *
   * @throws OutOfTurnError where an earlier append stands refused for now; whatever `admit` throws.
   */
  admit<T>(space: SpaceId, append: AppendRequest, admit: () => T): T {
    const { stream, localSeq, entry } = append;
    try {
      const earlier = this.#spaces.get(space)?.get(stream)?.before(append);
      if (earlier !== undefined) {
        throw new OutOfTurnError(
          `${entry.eventId} (local number ${localSeq}) waits for ${earlier.event}, an earlier append ` +
            `of this session to ${stream} that was refused for now; send that one again, then this`,
        );
      }
      const admitted = admit();
      this.#end(space, append);
      return admitted;
    } catch (error) {
      this.refused(space, append, error);
      throw error;
    }
  }

  /** The sender is told that the append is refused, by admission, before it, or with its transaction. */
  refused(space: SpaceId, append: AppendRequest, error: unknown): void {
    if (readAppendRefusal(error) === "passing") this.#stand(space, append);
    else this.#end(space, append);
  }

  /** The sender left the space, and with it what it had not delivered there. */
  closed(space: SpaceId): void {
    for (const turns of this.#spaces.get(space)?.values() ?? []) this.#size -= turns.size;
    this.#spaces.delete(space);
  }

  #stand(space: SpaceId, append: AppendRequest): void {
    let streams = this.#spaces.get(space);
    if (streams === undefined) this.#spaces.set(space, (streams = new Map()));
    let turns = streams.get(append.stream);
    if (turns === undefined) streams.set(append.stream, (turns = new StreamTurns()));
    const before = turns.size;
    turns.stand(append);
    this.#size += turns.size - before;
  }

  #end(space: SpaceId, { stream, entry }: AppendRequest): void {
    const streams = this.#spaces.get(space);
    const turns = streams?.get(stream);
    if (streams === undefined || turns === undefined) return;
    const before = turns.size;
    turns.end(entry.eventId);
    this.#size += turns.size - before;
    if (turns.size > 0) return;
    streams.delete(stream);
    if (streams.size === 0) this.#spaces.delete(space);
  }
}
