import { marksIn, type EventMarks } from "@tidemark/events";
import type { DocId, EventId, JsonValue, Seq, StreamEntry } from "@tidemark/protocol";

/** Names one stored entry in every map of the drain: an event id may recur, a place may not. */
export type PlaceKey = string;

/** The key of a stored entry. */
export function placeKey(at: {
  readonly stream: DocId;
  readonly seq: Seq;
  readonly index: number;
}): PlaceKey {
  return `${at.stream} ${at.seq} ${at.index}`;
}

/** An event on its way to its handler: a stored entry, or an in-process copy of a new one. */
export interface Runnable {
  readonly stream: DocId;
  readonly eventId: EventId;
  readonly payload: JsonValue;
  /** What is stored of it is damaged: its body is not run. */
  readonly unreadable?: true | undefined;
  readonly firedAt: StreamEntry["firedAt"];
  /** The `now()` of its run (R29). */
  readonly at: number;
  readonly place?: { readonly seq: Seq; readonly index: number } | undefined;
  /** What its entry attests of it. */
  readonly marks: EventMarks;
}

/** A stored entry as something to run. Its payload stands as long as it is not consumed (R21). */
export function runnableOf(entry: StreamEntry): Runnable {
  return {
    stream: entry.stream,
    eventId: entry.eventId,
    payload: entry.payload ?? null,
    unreadable: entry.unreadable,
    firedAt: entry.firedAt,
    at: entry.appendedAt,
    place: { seq: entry.seq, index: entry.index },
    marks: marksIn(entry),
  };
}
