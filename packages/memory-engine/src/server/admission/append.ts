import { admitAppend, type AuthoredEntry } from "@tidemark/events";
import {
  mayAppend,
  ProtocolError,
  type AcceptedCommit,
  type AppendRequest,
  type Seq,
  type SpaceId,
  type StreamEntry,
} from "@tidemark/protocol";
import type { EngineTx } from "../../engine-types.js";
import { deniedBy, type AclState } from "./acl-view.js";
import { replayKeyOf, type Envelope } from "./envelope.js";

/** One event append on its way in. */
export interface AppendIntake {
  readonly space: SpaceId;
  readonly append: AppendRequest;
  readonly envelope: Envelope;
  /** Hash of the request's body, for replays. */
  readonly hash: string;
}

const STREAM_PREFIX = "stream:";
const NOTHING_CONSUMED = 0 as Seq;

/**
 * Admits one event (protocol.md §2): append authority on the stream, then the rules of the entry,
 * which `events` holds. The stream's document need not exist (R20).
 *
 * @throws ProtocolError, AuthorizationError, DuplicateEventError
 */
export function admitEvent(
  tx: EngineTx,
  acl: AclState,
  intake: AppendIntake,
): { readonly commit: AcceptedCommit; readonly entry: StreamEntry } {
  const { space, append, envelope } = intake;
  const { stream } = append;
  if (!stream.startsWith(STREAM_PREFIX)) {
    throw new ProtocolError(`${stream} is not a stream: events are appended to streams alone`, {
      path: ["append", "stream"],
    });
  }
  if (!mayAppend(acl.acl, envelope.principal, stream)) {
    throw deniedBy(acl, envelope.principal, space, `append to ${stream}`);
  }
  const entry = tx.append(decided(tx, intake));
  tx.remember(replayKeyOf(envelope, append.localSeq), intake.hash, entry.index);
  const commit = tx.commit({
    class: "authored",
    principal: envelope.principal,
    session: envelope.session,
    localSeq: append.localSeq,
  });
  return { commit, entry };
}

function decided(tx: EngineTx, intake: AppendIntake): StreamEntry & { readonly payload: never } {
  const { append, envelope } = intake;
  const { stream, entry } = append;
  // The engine looks above the frontier only, so that what it finds is a duplicate (seed 000 §4).
  const standing = tx.duplicate(stream, entry.eventId);
  const verdict = admitAppend({ frontier: NOTHING_CONSUMED, standing }, authored(intake), {
    principal: envelope.principal,
    session: envelope.session,
    stream,
    seq: tx.seq(),
    index: 0,
    at: tx.at,
  });
  if (!verdict.ok) throw verdict.error;
  return verdict.entry as StreamEntry & { readonly payload: never };
}

function authored(intake: AppendIntake): AuthoredEntry {
  const { firedAt } = intake.append.entry;
  if (firedAt !== undefined && firedAt.user === undefined) {
    throw new ProtocolError("firedAt names no user; leave it out, the server stamps it", {
      path: ["append", "entry", "firedAt", "user"],
    });
  }
  return intake.append.entry as AuthoredEntry;
}
