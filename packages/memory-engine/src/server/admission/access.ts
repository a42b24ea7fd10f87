import { hash as digest } from "node:crypto";
import {
  ACL_DOC,
  AuthorizationError,
  changeAcl,
  diff,
  isOwner,
  isTidemarkError,
  SPACE_SCOPE_KEY,
  type AcceptedCommit,
  type AccessChange,
  type Acl,
  type Actor,
  type DocId,
  type EventId,
  type HolderId,
  type JsonValue,
  type LocalSeq,
  type Principal,
  type Seq,
  type SessionId,
  type StreamEntry,
} from "@tidemark/protocol";
import type { EngineTx, ReplayKey } from "../../engine-types.js";
import { posOf } from "../../sqlite/tables.js";
import { requireLease } from "../derived/commit.js";
import type { AdmissionContext } from "../space/requests.js";
import type { ServerCounters } from "../stats.js";
import type { AccessVerdict } from "../types.js";
import { deniedBy, requireAcl, type AclState } from "./acl-view.js";

/** What a handler's run asks of its space's access list (seed 001 §3d). */
export interface AccessRequest {
  readonly changes: readonly AccessChange[];
  /** The carried actor: whom the run acts as, and whose authority decides. */
  readonly actor: Actor;
  /** The durable entry that the run delivers: what `event-consequence:<eventId>` is resolved to. */
  readonly entry: {
    readonly stream: DocId;
    readonly eventId: EventId;
    readonly seq: Seq;
    readonly index: number;
  };
}

/**
 * Decides a request as if its actor had asked, and writes nothing. One whose changes have landed for this
 * very entry passes before any authority is asked, as a resend does: it has nothing left to change.
 *
 * @throws AuthorizationError, ProtocolError
 */
export function checkAccess(context: AdmissionContext, request: AccessRequest): undefined {
  const { principal } = granted(context, request);
  if (!landed(context, request, principal)) listAfter(context, context.acl.current(), request);
}

/**
 * Commits a request: an authored commit of the list alone, made by the holder for the actor. `undefined`
 * where nothing is left to change.
 *
 * @throws LeaseError, AuthorizationError, ProtocolError
 */
export function commitAccess(
  context: AdmissionContext,
  holder: HolderId,
  request: AccessRequest,
): AcceptedCommit | undefined {
  return context.engine.transact((tx) => {
    requireLease(tx, context.space, holder);
    const { principal, session } = granted(context, request);
    if (landed(context, request, principal)) return undefined;
    const before = context.acl.current();
    const after = listAfter(context, before, request);
    if (after === before.acl) return undefined;
    write(tx, before.acl, after);
    tx.remember(keyOf(request, principal), bodyHash(request));
    return tx.commit({
      class: "authored",
      principal,
      ...(session === undefined ? {} : { session }),
      holder,
      capabilityRef: `event-consequence:${request.entry.eventId}`,
    });
  });
}

/** A decision as data: a verdict on the request is the caller's to act on, anything else is a failure. */
export function accessVerdict(
  counters: Pick<ServerCounters, "refuse">,
  decide: () => AcceptedCommit | undefined,
): AccessVerdict {
  try {
    return { ok: true, commit: decide() };
  } catch (error) {
    if (!isTidemarkError(error, "unauthorized") && !isTidemarkError(error, "protocol")) throw error;
    counters.refuse(error.code);
    return { ok: false, error };
  }
}

interface Granted {
  readonly principal: Principal;
  readonly session: SessionId | undefined;
}

/** The run's right: an actor, and an entry that waits for its consequence and that this actor fired. */
function granted({ engine, space }: AdmissionContext, { actor, entry }: AccessRequest): Granted {
  const { user, session = "server" } = actor;
  if (user === undefined) {
    throw new AuthorizationError(
      `nobody acts in event ${entry.eventId}, and only an owner may change the access list of ${space}`,
      { permanentEvidence: true },
    );
  }
  const stored = engine.entries.at(entry.stream, entry.seq, entry.index);
  if (!isConsequenceOf(stored, entry.eventId, user, session)) {
    throw new AuthorizationError(
      `event-consequence:${entry.eventId} grants ${user} nothing in ${space}: no such event of theirs waits there`,
      { permanentEvidence: true },
    );
  }
  return { principal: user, session: session === "server" ? undefined : session };
}

function isConsequenceOf(
  stored: StreamEntry | undefined,
  eventId: EventId,
  user: Principal,
  session: SessionId | "server",
): boolean {
  return (
    stored !== undefined &&
    stored.eventId === eventId &&
    stored.consequenced !== true &&
    stored.firedAt.user === user &&
    stored.firedAt.session === session
  );
}

/** The list as a session's commit of it would have to leave it; the very same where nothing changes. */
function listAfter(
  { space }: AdmissionContext,
  state: AclState,
  { actor, changes }: AccessRequest,
): Acl {
  const principal = actor.user as Principal;
  if (!isOwner(state.acl, principal)) {
    throw deniedBy(state, principal, space, "change the access list");
  }
  const after = changeAcl(state.acl, changes);
  return after === state.acl ? after : requireAcl(after as unknown as JsonValue);
}

function write(tx: EngineTx, before: Acl, after: Acl): void {
  const value = diff(before as unknown as JsonValue, after as unknown as JsonValue);
  tx.write({ id: ACL_DOC, scopeKey: SPACE_SCOPE_KEY, op: { op: "patch", value } });
}

function landed(
  { engine }: AdmissionContext,
  request: AccessRequest,
  principal: Principal,
): boolean {
  return engine.replay(keyOf(request, principal))?.hash === bodyHash(request);
}

/** No open of a client has the session `server`, so that none can meet these keys. */
function keyOf({ entry }: AccessRequest, principal: Principal): ReplayKey {
  return {
    principal,
    session: "server" as SessionId,
    openNonce: "event-consequence",
    localSeq: posOf(entry.seq, entry.index) as LocalSeq,
  };
}

/** A replay that asks for something else is another request: it is decided, and stands in its place. */
function bodyHash({ entry, changes }: AccessRequest): string {
  const { stream, eventId } = entry;
  return digest("sha256", `access${JSON.stringify([stream, eventId, changes])}`, "base64url");
}
