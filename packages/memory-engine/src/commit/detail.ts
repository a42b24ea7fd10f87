import type { CapabilityRef, DocId, EntryMark, EventId, Frontier, Seq } from "@tidemark/protocol";

/** What a commit row says beside its columns. */
export interface CommitDetail {
  readonly marks: readonly EntryMark[];
  readonly frontiers: readonly Frontier[];
  readonly consequenceOf: readonly EventId[] | undefined;
  readonly capabilityRef?: CapabilityRef;
}

type StoredMark = [seq: number, index: number, eventId: string, rest?: MarkRest];
type MarkRest = Pick<EntryMark, "status" | "error" | "reason" | "duplicate">;

/** Short keys: a row of a trivial event is a hundred bytes, and its detail most of them. */
interface StoredDetail {
  readonly m?: Record<string, StoredMark[]>;
  readonly f?: Record<string, number>;
  /** Absent where it names just the marks that are no duplicates, in their order. */
  readonly c?: readonly string[];
  readonly r?: CapabilityRef;
}

const EMPTY: CommitDetail = { marks: [], frontiers: [], consequenceOf: undefined };

/** The detail column; null where there is nothing to say. */
export function encodeDetail(detail: CommitDetail): string | null {
  const stored: { -readonly [K in keyof StoredDetail]: StoredDetail[K] } = {};
  if (detail.marks.length > 0) stored.m = groupMarks(detail.marks);
  if (detail.frontiers.length > 0) {
    stored.f = Object.fromEntries(detail.frontiers.map(({ stream, seq }) => [stream, seq]));
  }
  const named = detail.consequenceOf;
  if (named !== undefined && !sameIds(named, impliedBy(detail.marks))) stored.c = named;
  if (named === undefined && detail.marks.length > 0) stored.c = [];
  if (detail.capabilityRef !== undefined) stored.r = detail.capabilityRef;
  return Object.keys(stored).length === 0 ? null : JSON.stringify(stored);
}

export function decodeDetail(text: string | null): CommitDetail {
  if (text === null) return EMPTY;
  const stored = JSON.parse(text) as StoredDetail;
  const marks = Object.entries(stored.m ?? {}).flatMap(([stream, list]) =>
    list.map(([seq, index, eventId, rest]) => ({
      stream: stream as DocId,
      seq: seq as Seq,
      index,
      eventId: eventId as EventId,
      ...rest,
    })),
  );
  marks.sort((a, b) => a.seq - b.seq || a.index - b.index);
  const named = stored.c ?? (marks.length > 0 ? impliedBy(marks) : undefined);
  return {
    marks,
    frontiers: Object.entries(stored.f ?? {}).map(([stream, seq]) => ({
      stream: stream as DocId,
      seq: seq as Seq,
    })),
    consequenceOf:
      named === undefined || named.length === 0 ? undefined : (named as readonly EventId[]),
    ...(stored.r === undefined ? {} : { capabilityRef: stored.r }),
  };
}

function groupMarks(marks: readonly EntryMark[]): Record<string, StoredMark[]> {
  const byStream: Record<string, StoredMark[]> = {};
  for (const { stream, seq, index, eventId, ...rest } of marks) {
    const stored: StoredMark = [seq, index, eventId];
    if (Object.keys(rest).length > 0) stored.push(rest);
    (byStream[stream] ??= []).push(stored);
  }
  return byStream;
}

/** Passing over a duplicate is no consequence (R1). */
function impliedBy(marks: readonly EntryMark[]): readonly EventId[] {
  return marks.filter((mark) => mark.duplicate !== true).map((mark) => mark.eventId);
}

function sameIds(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}
