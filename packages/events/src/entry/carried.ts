import {
  ProtocolError,
  type EntryMark,
  type NewEntry,
  type Seq,
  type StreamEntry,
} from "@tidemark/protocol";
import { marksProblem } from "../trust/event-marks.js";
import { applyMark } from "./end.js";

/**
 * An entry that the server itself emits: written within the wave's own derived commit (seed 000 §2,
 * LT1) under the inherited actor. `appendedAt` is the instant of the root event, which the whole
 * cascade shares (R29); without it the commit's own instant stands.
 */
export type CarriedEntry = NewEntry & { readonly appendedAt?: number };

/** Place and instant of the derived commit that carries entries. */
export interface CarryingCommit {
  readonly seq: Seq;
  /** Wall milliseconds of the store. */
  readonly at: number;
}

const CARRIED_FIELDS: ReadonlySet<string> = new Set([
  "stream",
  "eventId",
  "payload",
  "firedAt",
  "appendedAt",
  "rendererTrusted",
  "runtimeInjectedEventKeys",
  "retryOf",
  "mark",
]);

/**
 * Stamps the entries of one derived commit with its seq and their index among all of its entries, so
 * that (seq, index) is the space's arrival order, and returns the marks of those that the wave has
 * already handled (ADM-17).
 *
 * @throws ProtocolError for an entry without `firedAt`, with a `clientSeq` (only a client mints one,
 *   LT7), with a field that is not an entry's to carry, or for an id that occurs twice on a stream.
 */
export function stampCarried(
  carried: readonly CarriedEntry[],
  commit: CarryingCommit,
): { readonly entries: readonly StreamEntry[]; readonly marks: readonly EntryMark[] } {
  const seen = new Set<string>();
  const entries: StreamEntry[] = [];
  const marks: EntryMark[] = [];
  for (const one of carried) {
    checkCarried(one);
    const key = `${one.stream} ${one.eventId}`;
    if (seen.has(key)) throw carriedError(one, "occurs twice in one commit");
    seen.add(key);
    const { mark: end, appendedAt = commit.at, ...content } = one;
    const entry: StreamEntry = { ...content, appendedAt, seq: commit.seq, index: entries.length };
    const mark = end === undefined ? undefined : { ...end, ...placeOf(entry) };
    if (mark !== undefined) marks.push(mark);
    entries.push(mark === undefined ? entry : applyMark(entry, mark));
  }
  return { entries, marks };
}

function placeOf({ stream, seq, index, eventId }: StreamEntry): EntryMark {
  return { stream, seq, index, eventId };
}

function checkCarried(entry: CarriedEntry): void {
  // The types forbid these; entries rebuilt from data may still bring them.
  const firedAt: CarriedEntry["firedAt"] | undefined = entry.firedAt;
  if (firedAt?.session === undefined) throw carriedError(entry, "has no firedAt to inherit");
  if (firedAt.clientSeq !== undefined) throw carriedError(entry, "carries a clientSeq");
  const foreign = Object.keys(entry).find((field) => !CARRIED_FIELDS.has(field));
  if (foreign !== undefined) throw carriedError(entry, `carries the field ${foreign}`);
  const forged = marksProblem(entry);
  if (forged !== undefined) throw carriedError(entry, forged);
}

function carriedError(entry: CarriedEntry, what: string): ProtocolError {
  return new ProtocolError(`emitted event ${entry.eventId} on ${entry.stream} ${what}`, {});
}
