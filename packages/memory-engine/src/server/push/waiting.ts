import type { EntryMark, EntryState, EventId, DocId, StreamEntry } from "@tidemark/protocol";
import type { EntryTable } from "../../engine-types.js";
import { eventKeyOf, type Channel } from "../space/channel.js";

/** What a mark tells the sender: the end, without payload and without who else is concerned. */
export function stateOfMark(mark: EntryMark): EntryState {
  const { stream, eventId, seq, index, status } = mark;
  const ended = { stream, eventId, seq, index, consequenced: true } as const;
  return status === undefined ? ended : { ...ended, ...endOf(mark) };
}

/** How a stored entry stands, for its sender. */
export function stateOfEntry(entry: StreamEntry): EntryState {
  const { stream, eventId, seq, index } = entry;
  const place = { stream, eventId, seq, index };
  return entry.consequenced === true ? { ...place, consequenced: true, ...endOf(entry) } : place;
}

type EndFields = Pick<EntryMark, "status" | "error" | "reason">;

function endOf(from: EndFields): EndFields {
  return {
    ...(from.status === undefined ? {} : { status: from.status }),
    ...(from.error === undefined ? {} : { error: from.error }),
    ...(from.reason === undefined ? {} : { reason: from.reason }),
  };
}

/** Who waits for the end of which event, so that a mark costs its waiters and nobody else. */
export class WaitingSenders {
  readonly #entries: EntryTable;
  readonly #channels = new Map<string, Set<Channel>>();

  constructor(entries: EntryTable) {
    this.#entries = entries;
  }

  get size(): number {
    return this.#channels.size;
  }

  /** The session appended the event just now: its end is to come. */
  expect(channel: Channel, stream: DocId, eventId: EventId): void {
    if (channel.closed) return;
    const key = eventKeyOf(stream, eventId);
    // It asked before it appended, and has not been answered: that nobody knew the event is no news any more.
    const news = channel.entryNews.get(key);
    if (news !== undefined && "unknown" in news) channel.entryNews.delete(key);
    channel.expect(key, { stream, eventId });
    const waiting = this.#channels.get(key);
    if (waiting === undefined) this.#channels.set(key, new Set([channel]));
    else waiting.add(channel);
  }

  /**
   * The session asks after an event of the past: it is told at once how it stands, and waits for the
   * end where there is none yet. Other people's events are unknown to it, as if they were not there.
   */
  ask(channel: Channel, stream: DocId, eventId: EventId): void {
    const own = this.#ownEntry(channel, stream, eventId);
    const key = eventKeyOf(stream, eventId);
    if (own === undefined) {
      channel.entryNews.set(key, { stream, eventId, unknown: true });
      return;
    }
    channel.entryNews.set(key, stateOfEntry(own));
    if (own.consequenced !== true) this.expect(channel, stream, eventId);
  }

  /** Takes in marks: each waiter has news. */
  marked(marks: readonly EntryMark[]): void {
    for (const mark of marks) {
      const key = eventKeyOf(mark.stream, mark.eventId);
      for (const channel of this.#channels.get(key) ?? []) {
        channel.entryNews.set(key, stateOfMark(mark));
      }
    }
  }

  /** The news was sent: nobody waits for an end that was told. */
  sent(channel: Channel): void {
    for (const [key, state] of channel.entryNews) {
      if ("unknown" in state || state.consequenced === true) this.#forget(channel, key);
    }
    channel.entryNews.clear();
  }

  /** News was lost with frames that a resync replaces: ask after everything again. */
  askAgain(channel: Channel): void {
    for (const { stream, eventId } of channel.outstanding.values()) {
      this.ask(channel, stream, eventId);
    }
  }

  drop(channel: Channel): void {
    for (const key of channel.outstanding.keys()) this.#forget(channel, key);
    channel.entryNews.clear();
  }

  #forget(channel: Channel, key: string): void {
    channel.told(key);
    const waiting = this.#channels.get(key);
    if (waiting === undefined) return;
    waiting.delete(channel);
    if (waiting.size === 0) this.#channels.delete(key);
  }

  /**
   * The newest entry of the id that its user sent, from this session or another: a session may have been
   * told that its event is a duplicate of that one. An ended one is the better answer (R1).
   */
  #ownEntry(channel: Channel, stream: DocId, eventId: EventId): StreamEntry | undefined {
    const { principal } = channel.session;
    const own = this.#entries
      .byEvent(stream, eventId)
      .filter(({ firedAt }) => firedAt.user === principal);
    return own.find((entry) => entry.consequenced === true) ?? own.at(-1);
  }
}
