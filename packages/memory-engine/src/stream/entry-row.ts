import type {
  DocId,
  EntryMark,
  EntryStatus,
  EventId,
  JsonValue,
  Seq,
  StreamEntry,
} from "@tidemark/protocol";
import type { ActorRef } from "../commit/actors.js";
import { indexOfPos, seqOfPos } from "../sqlite/tables.js";
import type { EntryRow } from "./statements.js";

type Extra = Pick<StreamEntry, "rendererTrusted" | "runtimeInjectedEventKeys" | "retryOf">;
type Outcome = Pick<StreamEntry, "error" | "reason" | "duplicate">;

/** What an append says beside its columns, or null. */
export function encodeExtra(entry: Extra): string | null {
  const { rendererTrusted, runtimeInjectedEventKeys, retryOf } = entry;
  if (
    rendererTrusted === undefined &&
    runtimeInjectedEventKeys === undefined &&
    retryOf === undefined
  ) {
    return null;
  }
  return JSON.stringify({ rendererTrusted, runtimeInjectedEventKeys, retryOf });
}

/** What a mark says beside its status, or null. */
export function encodeOutcome({ error, reason, duplicate }: EntryMark): string | null {
  if (error === undefined && reason === undefined && duplicate === undefined) return null;
  return JSON.stringify({ error, reason, duplicate });
}

/** A stored entry as data. */
export function entryOfRow(row: EntryRow, actor: ActorRef): StreamEntry {
  const extra = fieldsOf<Extra>(row.extra);
  const outcome = fieldsOf<Outcome>(row.outcome);
  const payload = row.payload === null ? undefined : read(row.payload);
  const unreadable = [extra, outcome, payload].includes(DAMAGED);
  return {
    stream: row.stream as DocId,
    seq: seqOfPos(row.pos) as Seq,
    index: indexOfPos(row.pos),
    eventId: row.event_id as EventId,
    payload: payload === DAMAGED ? undefined : payload,
    firedAt: {
      ...(actor.principal === undefined ? {} : { user: actor.principal }),
      session: actor.session ?? "server",
      ...(row.client_seq === null ? {} : { clientSeq: row.client_seq }),
    },
    appendedAt: row.appended_at,
    ...(row.consequenced === 0 ? {} : { consequenced: true as const }),
    ...(row.status === null ? {} : { status: row.status as EntryStatus }),
    ...(extra === DAMAGED ? {} : extra),
    ...(outcome === DAMAGED ? {} : outcome),
    ...(unreadable ? { unreadable: true as const } : {}),
  };
}

/** One damaged row must not stop the scan that finds the others. */
const DAMAGED = Symbol("damaged");

function read(text: string): JsonValue | typeof DAMAGED {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return DAMAGED;
  }
}

function fieldsOf<T extends object>(text: string | null): T | undefined | typeof DAMAGED {
  if (text === null) return undefined;
  const value = read(text);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as unknown as T) : DAMAGED;
}
