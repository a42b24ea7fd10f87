import { hash as digest } from "node:crypto";
import {
  canonicalJson,
  isReserved,
  mayWrite,
  ProtocolError,
  type AcceptedCommit,
  type AttributedChange,
  type AuthorizationError,
  type ConfirmedRead,
  type HolderId,
  type JsonValue,
  type LocalSeq,
  type Principal,
  type Seq,
  type SessionId,
} from "@tidemark/protocol";
import type { ReplayKey } from "../../engine-types.js";
import { deniedBy } from "../admission/acl-view.js";
import { checkReads } from "../admission/authored.js";
import type { AdmissionContext } from "../space/requests.js";
import { requireLease } from "./commit.js";
import { checkDerivedBatch } from "./validate.js";

/** A transaction that the loop commits on its own, ahead of its wave, because somebody asked (seed 001 §3e). */
export interface DirectRequest {
  /** Who asked: whose authority decides, and whom the writes are attributed to. */
  readonly principal: Principal;
  /** What it rests on: refused where that has changed since, as a client's commit is. */
  readonly reads: readonly ConfirmedRead[];
  readonly changes: readonly Pick<AttributedChange, "id" | "scopeKey" | "op">[];
  readonly derivedThrough: Seq;
  /** Names what was asked for: asked again by the same principal, it is answered with the first commit's seq. */
  readonly cause?: { readonly of: JsonValue; readonly body: JsonValue };
}

/** A direct commit, or the place of the one that was made for the same cause before. */
export interface DirectCommit {
  readonly seq: Seq;
  readonly commit: AcceptedCommit | undefined;
}

/** Why a principal may not write in the space, as the list stands: what their own commit would be refused with. */
export function writeRefusal(
  { acl, space }: AdmissionContext,
  principal: Principal,
): AuthorizationError | undefined {
  const state = acl.current();
  return mayWrite(state.acl, principal) ? undefined : deniedBy(state, principal, space, "write");
}

/**
 * Commits it in one immediate transaction: the lease row, then whether it was committed before, then
 * authority, then the currency of every read. A derived commit of the holder's, nobody's consequence.
 *
 * @throws LeaseError, AuthorizationError, ConflictError, ProtocolError, PatchError
 */
export function commitDirect(
  context: AdmissionContext,
  holder: HolderId,
  request: DirectRequest,
): DirectCommit {
  const { engine, space } = context;
  return engine.transact((tx) => {
    requireLease(tx, space, holder);
    const before = committedBefore(context, request);
    if (before !== undefined) return { seq: before, commit: undefined };
    const refusal = writeRefusal(context, request.principal);
    if (refusal !== undefined) throw refusal;
    checkReads(tx, request.reads, { user: request.principal });
    const { changes, derivedThrough } = request;
    checkChanges(changes, derivedThrough);
    const attribution = { user: request.principal };
    for (const change of changes) tx.write({ ...change, attribution });
    remember(request, (key, hash) => tx.remember(key, hash));
    const commit = tx.commit({ class: "derived", holder, derivedThrough, consequenceOf: [] });
    return { seq: commit.seq, commit };
  });
}

function checkChanges(changes: DirectRequest["changes"], derivedThrough: Seq): void {
  const nothing = { consequenceOf: [], appends: [], marks: [], frontiers: [], basis: [] };
  checkDerivedBatch({ ...nothing, changes, derivedThrough });
  const reserved = changes.find(({ id }) => isReserved(id));
  if (reserved === undefined) return;
  throw new ProtocolError(`document ${reserved.id} is the server's own: nobody may ask for it`, {});
}

/** @throws ProtocolError where the cause stands for something else */
function committedBefore({ engine }: AdmissionContext, request: DirectRequest): Seq | undefined {
  let before: Seq | undefined;
  remember(request, (key, hash) => {
    const verdict = engine.replay(key);
    if (verdict === undefined) return;
    if (verdict.hash !== hash) {
      const message = `what ${request.principal} asks for was asked for otherwise under the same cause, at seq ${verdict.seq}; give it a cause of its own`;
      throw new ProtocolError(message, { path: ["cause"] });
    }
    before = verdict.seq;
  });
  return before;
}

/** No open of a client has the session `server`, so that none can meet these keys. */
function remember(
  { principal, cause }: DirectRequest,
  under: (key: ReplayKey, hash: string) => void,
): void {
  if (cause === undefined) return;
  const key: ReplayKey = {
    principal,
    session: "server" as SessionId,
    openNonce: `lifecycle:${hashOf(cause.of)}`,
    localSeq: 0 as LocalSeq,
  };
  under(key, hashOf(cause.body));
}

function hashOf(value: JsonValue): string {
  return digest("sha256", canonicalJson(value), "base64url");
}
