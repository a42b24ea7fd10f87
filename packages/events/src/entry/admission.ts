import {
  AuthorizationError,
  DuplicateEventError,
  ProtocolError,
  type DocId,
  type EventId,
  type Principal,
  type Seq,
  type SessionId,
  type StreamEntry,
  type TidemarkError,
} from "@tidemark/protocol";
import type { AuthoredEntry } from "./schema.js";

/** What admission has to know of a stream: its frontier and the newest entry of the same id. */
export interface AppendState {
  /** `eventWatermark`, 0 for a stream without consequences. */
  readonly frontier: Seq;
  /** The newest stored entry that has the event id, consumed or not. */
  readonly standing?: Pick<StreamEntry, "seq" | "firedAt"> | undefined;
}

/** Who sends, and the place and instant that the memory server gives the entry. */
export interface AppendEnvelope {
  readonly principal: Principal | undefined;
  readonly session: SessionId;
  readonly stream: DocId;
  readonly seq: Seq;
  readonly index: number;
  /** Wall milliseconds of the server's clock: what `now()` returns in the run (R29). */
  readonly at: number;
}

/** A verdict as data: the caller throws or answers. */
export type AppendVerdict =
  | { readonly ok: true; readonly entry: StreamEntry }
  | { readonly ok: false; readonly error: TidemarkError };

/**
 * Decides an authored append (protocol.md §2, after session and append authority): the actor comes
 * from the envelope, a stamp that disagrees is refused and never corrected (ADM-11), and an id is
 * taken as long as its entry stands above the frontier (ADM-12).
 */
export function admitAppend(
  state: AppendState,
  entry: AuthoredEntry,
  envelope: AppendEnvelope,
): AppendVerdict {
  const { principal } = envelope;
  if (principal === undefined) {
    return refuse(
      new AuthorizationError(`append to ${envelope.stream} has no authenticated principal`, {}),
    );
  }
  const wrongStamp = stampDisagreement(entry, { user: principal, session: envelope.session });
  if (wrongStamp !== undefined) return refuse(wrongStamp);
  const duplicate = duplicateOf(state, entry.eventId, { principal, stream: envelope.stream });
  if (duplicate !== undefined) return refuse(duplicate);
  return { ok: true, entry: stamped(entry, principal, envelope) };
}

/**
 * The duplicate that the dedupe horizon refuses, or `undefined` where the id is free (seed 000 §4). An id is
 * taken whoever took it; only its own user's event counts as delivered by the one that stands.
 */
export function duplicateOf(
  { standing, frontier }: AppendState,
  eventId: EventId,
  { principal, stream }: { readonly principal: Principal; readonly stream: DocId },
): DuplicateEventError | undefined {
  if (standing === undefined || standing.seq <= frontier) return undefined;
  const { seq, firedAt } = standing;
  if (firedAt.user === principal) {
    return new DuplicateEventError(
      `event ${eventId} already stands in ${stream} at seq ${seq} and has no outcome yet`,
      { eventId, seq },
    );
  }
  return new DuplicateEventError(
    `the id ${eventId} is taken in ${stream} by somebody else's event at seq ${seq}; send yours under a new one`,
    { eventId, seq, foreign: true },
  );
}

function stampDisagreement(
  entry: AuthoredEntry,
  truth: { readonly user: Principal; readonly session: SessionId },
): ProtocolError | undefined {
  const supplied = entry.firedAt;
  if (supplied === undefined) return undefined;
  const field =
    supplied.user !== truth.user
      ? "user"
      : supplied.session !== truth.session
        ? "session"
        : supplied.clientSeq !== undefined && supplied.clientSeq !== entry.clientSeq
          ? "clientSeq"
          : undefined;
  if (field === undefined) return undefined;
  return new ProtocolError(
    `event ${entry.eventId} carries firedAt.${field} that disagrees with its sender; leave firedAt out`,
    { path: ["firedAt", field] },
  );
}

function stamped(entry: AuthoredEntry, user: Principal, envelope: AppendEnvelope): StreamEntry {
  const { eventId, payload, clientSeq, retryOf } = entry;
  const { rendererTrusted, runtimeInjectedEventKeys } = entry;
  const { stream, seq, index, at, session } = envelope;
  // Field by field: an object's rest and spread cost more than the rest of admission.
  return {
    eventId,
    payload,
    stream,
    seq,
    index,
    appendedAt: at,
    firedAt: clientSeq === undefined ? { user, session } : { user, session, clientSeq },
    ...(retryOf === undefined ? undefined : { retryOf }),
    ...(rendererTrusted === undefined ? undefined : { rendererTrusted }),
    ...(runtimeInjectedEventKeys === undefined ? undefined : { runtimeInjectedEventKeys }),
  };
}

function refuse(error: TidemarkError): AppendVerdict {
  return { ok: false, error };
}
