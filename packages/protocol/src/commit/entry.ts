import type { DocId, EventId, Principal, Seq, SessionId } from "../ids/ids.js";
import type { JsonValue } from "../json/json-value.js";

/**
 * Who fired an event, stamped at admission from the session's envelope. A chain with no acting
 * session carries `session: "server"` (protocol.md §2). `clientSeq` orders one session's own appends;
 * entries that the server emitted have none (seed 000, LT7).
 */
export interface FiredAt {
  readonly user?: Principal;
  readonly session: SessionId | "server";
  readonly clientSeq?: number;
}

/** How an entry ended, unless its handler succeeded (R33). */
export const ENTRY_STATUSES = ["errored", "refused", "dropped", "needs-attention"] as const;

/** See {@link ENTRY_STATUSES}. */
export type EntryStatus = (typeof ENTRY_STATUSES)[number];

/** One entry of a stream, as stored (R21). */
export interface StreamEntry {
  readonly stream: DocId;
  /** Seq of the commit that appended it. */
  readonly seq: Seq;
  /** Its place among the entries of that commit in that stream. */
  readonly index: number;
  readonly eventId: EventId;
  /** `undefined`: shed, because the entry was consumed and nothing unresolved needs it. */
  readonly payload: JsonValue | undefined;
  readonly firedAt: FiredAt;
  /** Wall ms of the append; the `now()` of a served run (R29). */
  readonly appendedAt: number;
  readonly consequenced?: true;
  readonly status?: EntryStatus;
  readonly error?: string;
  readonly reason?: string;
  readonly rendererTrusted?: true;
  readonly runtimeInjectedEventKeys?: readonly string[];
  readonly retryOf?: EventId;
  /** Passed over: an earlier entry of this id had already been consumed (R1). */
  readonly duplicate?: true;
  /** What is stored of it is damaged: it cannot run, and ends as an error (field fault EV-05). */
  readonly unreadable?: true;
}

/** The end of an entry, written by a derived commit. A mark always means `consequenced: true`. */
export interface EntryMark {
  readonly stream: DocId;
  readonly seq: Seq;
  readonly index: number;
  readonly eventId: EventId;
  readonly status?: EntryStatus;
  readonly error?: string;
  readonly reason?: string;
  readonly duplicate?: true;
}

/** How far a stream has been processed: every entry at or below `seq` is marked. */
export interface Frontier {
  readonly stream: DocId;
  readonly seq: Seq;
}

/** An entry in a wave: seq and index are stamped by the commit, `firedAt` is inherited (LT1). */
export interface NewEntry {
  readonly stream: DocId;
  readonly eventId: EventId;
  readonly payload: JsonValue;
  readonly firedAt: FiredAt;
  readonly rendererTrusted?: true;
  readonly runtimeInjectedEventKeys?: readonly string[];
  readonly retryOf?: EventId;
  /** Set when the same wave already ran it (ADM-17). */
  readonly mark?: Omit<EntryMark, "stream" | "seq" | "index" | "eventId">;
}
