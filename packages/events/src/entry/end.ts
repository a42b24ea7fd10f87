import {
  receiptIdFor,
  type DocId,
  type EntryMark,
  type EventId,
  type JsonValue,
  type StreamEntry,
} from "@tidemark/protocol";

/** Longest text of an error or reason kept on an entry, in UTF-16 units. */
export const MAX_END_TEXT = 2_000;

/** With the `u` flag a whole pair is one code point, so this meets lone halves only. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** How an entry's processing ended (R33, R14). */
export type EntryEnd =
  | { readonly kind: "succeeded" }
  | { readonly kind: "errored"; readonly error: string }
  | { readonly kind: "refused"; readonly error: string }
  | { readonly kind: "dropped"; readonly reason: string }
  | { readonly kind: "needs-attention"; readonly reason: string };

/** What a sender may be told of its event; `pending` while it has no end. */
export type EntryOutcome = "pending" | "consequenced" | NonNullable<StreamEntry["status"]>;

/** The place of one entry. */
export interface EntryPlace {
  readonly stream: DocId;
  readonly seq: StreamEntry["seq"];
  readonly index: number;
  readonly eventId: EventId;
}

type EndFields = Pick<EntryMark, "status" | "error" | "reason">;

/** The mark that carries an end: every mark means `consequenced: true`, success has no status. */
export function markFor(place: EntryPlace, end: EntryEnd): EntryMark {
  const mark = placeOf(place);
  return end.kind === "succeeded" ? mark : { ...mark, ...endFields(end) };
}

/** The mark of a duplicate that is passed over: it takes over the first entry's outcome (R1). */
export function duplicateMarkFor(place: EntryPlace, first: EndFields): EntryMark {
  return { ...placeOf(place), ...pickEnd(first), duplicate: true };
}

/** The entry as it stands once the mark is committed. The input is not changed. */
export function applyMark(entry: StreamEntry, mark: EntryMark): StreamEntry {
  return {
    ...entry,
    consequenced: true,
    ...pickEnd(mark),
    ...(mark.duplicate === true ? { duplicate: true as const } : {}),
  };
}

/** The outcome that an entry's fields tell. */
export function outcomeOf(entry: Pick<StreamEntry, "consequenced" | "status">): EntryOutcome {
  if (entry.consequenced !== true) return "pending";
  return entry.status ?? "consequenced";
}

/**
 * The ids a derived commit names: each marked event once, in order, and no duplicate that was passed
 * over, since passing over is no consequence (R1).
 */
export function consequencesOf(marks: readonly EntryMark[]): readonly EventId[] {
  return [...new Set(marks.filter((mark) => mark.duplicate !== true).map((mark) => mark.eventId))];
}

/**
 * The receipt of a completed handling: address and value (R33). The value is `{}` where the handler
 * returned nothing, so that the receipt's existence is the witness.
 */
export function receiptFor(
  eventId: EventId,
  stream: DocId,
  value: JsonValue | undefined,
): { readonly id: DocId; readonly value: JsonValue } {
  return { id: receiptIdFor(eventId, stream), value: value === undefined ? {} : value };
}

function endFields(end: EntryEnd): EndFields {
  switch (end.kind) {
    case "succeeded":
      return {};
    case "errored":
    case "refused":
      return { status: end.kind, error: bounded(end.error) };
    case "dropped":
    case "needs-attention":
      return { status: end.kind, reason: bounded(end.reason) };
  }
}

function pickEnd(from: EndFields): EndFields {
  return {
    ...(from.status === undefined ? {} : { status: from.status }),
    ...(from.error === undefined ? {} : { error: from.error }),
    ...(from.reason === undefined ? {} : { reason: from.reason }),
  };
}

function placeOf({ stream, seq, index, eventId }: EntryPlace): EntryPlace {
  return { stream, seq, index, eventId };
}

/** Error texts are foreign: bounded, and without lone surrogates, which could not be stored (R12). */
function bounded(text: string): string {
  const whole = text.replace(LONE_SURROGATE, "\uFFFD");
  if (whole.length <= MAX_END_TEXT) return whole;
  return `${whole.slice(0, MAX_END_TEXT - 1).replace(LONE_SURROGATE, "")}…`;
}
