import type { DocId, EventId, HolderId, LocalSeq, Seq, SpaceId } from "../ids/ids.js";
import type { Path } from "../json/json-value.js";
import type { ScopeKey } from "../scope/scope.js";
import { TidemarkError } from "./tidemark-error.js";

/** The code of an {@link OutOfTurnError}, by which it is known on the wire. */
export const OUT_OF_TURN = "out-of-turn";

/** One stale read of a refused commit: where it was, at which seq, and which seq beat it. */
export interface Conflict {
  readonly id: DocId;
  readonly scopeKey: ScopeKey;
  readonly path: Path;
  readonly readSeq: Seq;
  readonly conflictingSeq: Seq;
}

/** Something the commit read has changed since. Read again and retry (protocol.md §2). */
export class ConflictError extends TidemarkError<{ readonly conflicts: readonly Conflict[] }> {
  override readonly name = "ConflictError";
  override readonly code = "conflict";
  get conflicts(): readonly Conflict[] {
    return this.details.conflicts;
  }
}

/** Why authority was denied, and whether it may come back. */
export interface AuthorizationDetails {
  /** The current ACL denies; asking again does not help. */
  readonly permanentEvidence?: boolean;
  /** The seq of the ACL document that denied. */
  readonly aclRevision?: number;
  /** Asking again later may help. */
  readonly retriable?: boolean;
  /** The session, not the ACL, is what is missing. */
  readonly sessionRevoked?: boolean;
}

/** The requester lacks authority (protocol.md §2, seed 000 §5). */
export class AuthorizationError extends TidemarkError<AuthorizationDetails> {
  override readonly name = "AuthorizationError";
  override readonly code = "unauthorized";
  get permanentEvidence(): boolean {
    return this.details.permanentEvidence === true;
  }
  get aclRevision(): number | undefined {
    return this.details.aclRevision;
  }
  get retriable(): boolean {
    return this.details.retriable === true;
  }
  get sessionRevoked(): boolean {
    return this.details.sessionRevoked === true;
  }
}

/** The stream holds an unhandled entry with this event id (seed 000 §4). The first one stands. */
export class DuplicateEventError extends TidemarkError<{
  readonly eventId: EventId;
  readonly seq: Seq;
  readonly foreign?: true | undefined;
}> {
  override readonly name = "DuplicateEventError";
  override readonly code = "duplicate-event";
  get eventId(): EventId {
    return this.details.eventId;
  }
  /** The seq of the entry that stands. */
  get seq(): Seq {
    return this.details.seq;
  }
  /** The entry that stands is another user's: the event that was refused has not been delivered. */
  get foreign(): boolean {
    return this.details.foreign === true;
  }
}

/**
 * An earlier append of this session to the same stream was refused for now and has not ended: this one
 * would overtake it (field fault EV-10). Send the earlier one again, and then this. It has no wire class
 * of its own, so that a version that does not know it reads a refusal that passes.
 */
export class OutOfTurnError extends TidemarkError {
  override readonly name = "OutOfTurnError";
  override readonly code = OUT_OF_TURN;
}

/** Malformed or forged input: it is refused the same way every time (R5). */
export class ProtocolError extends TidemarkError<{ readonly path?: Path }> {
  override readonly name = "ProtocolError";
  override readonly code = "protocol";
  get path(): Path | undefined {
    return this.details.path;
  }
}

/** The committing holder does not hold the live lease of the space (seed 001 §2). */
export class LeaseError extends TidemarkError<{
  readonly space?: SpaceId;
  readonly holder?: HolderId;
}> {
  override readonly name = "LeaseError";
  override readonly code = "lease";
}

/** A precondition of the commit does not hold; `index` is its place in the list (ADM-22). */
export class PreconditionError extends TidemarkError<{ readonly index: number }> {
  override readonly name = "PreconditionError";
  override readonly code = "precondition";
  get index(): number {
    return this.details.index;
  }
}

/** An attention notice cannot be resolved as asked (R5, seed 004). */
export class ResolutionError extends TidemarkError<{ readonly eventId?: EventId }> {
  override readonly name = "ResolutionError";
  override readonly code = "resolution";
}

/** An authored commit rests on speculative state that was never confirmed; it is not sent. */
export class SpeculativeBasisError extends TidemarkError<{ readonly localSeq?: LocalSeq }> {
  override readonly name = "SpeculativeBasisError";
  override readonly code = "speculative-basis";
}
