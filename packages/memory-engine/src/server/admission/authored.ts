import {
  ConflictError,
  isOwner,
  MAIN_BRANCH,
  mayRead,
  mayWrite,
  PreconditionError,
  ProtocolError,
  resolveScopeKey,
  type AcceptedCommit,
  type Actor,
  type AuthoredCommit,
  type ConfirmedRead,
  type DocOperation,
  type Precondition,
  type SpaceId,
  type ValueOperation,
} from "@tidemark/protocol";
import type { EngineTx, ResolvedPrecondition, ResolvedRead } from "../../engine-types.js";
import { deniedBy, requireAcl, type AclState } from "./acl-view.js";
import { actorOf, replayKeyOf, type Envelope } from "./envelope.js";
import { targetOf, type OperationTarget } from "./reserved.js";

/** One authored write on its way in. */
export interface AuthoredRequest {
  readonly space: SpaceId;
  readonly commit: AuthoredCommit;
  readonly envelope: Envelope;
  /** Hash of the request's body, for replays. */
  readonly hash: string;
}

/**
 * Admits one authored write (protocol.md §2, in the order of its table): authority, then currency of
 * every confirmed read, then preconditions. Everything is decided before anything is written.
 *
 * @throws AuthorizationError, ProtocolError, ConflictError, PreconditionError, PatchError, ScopeError
 */
export function admitAuthored(
  tx: EngineTx,
  acl: AclState,
  request: AuthoredRequest,
): AcceptedCommit {
  const { commit, envelope } = request;
  const actor = actorOf(envelope);
  const targets = commit.ops.map((op) => sortedTarget(op));
  checkAuthority(acl, request, targets);
  checkReads(tx, commit.reads, actor);
  checkPreconditions(tx, commit.preconditions ?? [], actor);
  for (const op of commit.ops) applyOne(tx, op, actor);
  tx.remember(replayKeyOf(envelope, commit.localSeq), request.hash);
  return tx.commit({
    class: "authored",
    principal: envelope.principal,
    session: envelope.session,
    localSeq: commit.localSeq,
  });
}

function sortedTarget(op: DocOperation): OperationTarget {
  const target = targetOf(op);
  if (typeof target === "string") return target;
  throw target;
}

function checkAuthority(
  acl: AclState,
  request: AuthoredRequest,
  targets: readonly OperationTarget[],
): void {
  const { principal } = request.envelope;
  const { space, commit } = request;
  const acksAlone = targets.length > 0 && targets.every((target) => target === "effects-ack");
  const allowed = acksAlone ? mayRead(acl.acl, principal) : mayWrite(acl.acl, principal);
  if (!allowed) throw deniedBy(acl, principal, space, "write");
  if (!targets.includes("acl")) return;
  if (!isOwner(acl.acl, principal)) throw deniedBy(acl, principal, space, "change the access list");
  if (commit.branch !== undefined && commit.branch !== MAIN_BRANCH) {
    throw new ProtocolError(`the access list of ${space} is not part of a branch`, {});
  }
}

/**
 * Whether what was read still stands, per document instance and path.
 *
 * @throws ConflictError, ProtocolError
 */
export function checkReads(tx: EngineTx, reads: readonly ConfirmedRead[], actor: Actor): void {
  if (reads.length === 0) return;
  const next = tx.seq();
  const resolved: ResolvedRead[] = reads.map((read, at) => {
    if (read.seq >= next) {
      throw new ProtocolError(
        `read ${at} rests on seq ${read.seq}, which this space has not reached; resync`,
        { path: ["reads", at, "seq"] },
      );
    }
    const scopeKey = resolveScopeKey(read.scope ?? "space", actor);
    return { id: read.id, scopeKey, path: read.path, seq: read.seq, kind: read.kind };
  });
  const conflicts = tx.conflicts(resolved);
  const [first] = conflicts;
  if (first === undefined) return;
  throw new ConflictError(
    `${first.id} changed at seq ${first.conflictingSeq}, after the read at seq ${first.readSeq}; ` +
      `take in the newer state and decide again`,
    { conflicts },
  );
}

function checkPreconditions(
  tx: EngineTx,
  preconditions: readonly Precondition[],
  actor: Actor,
): void {
  if (preconditions.length === 0) return;
  const resolved: ResolvedPrecondition[] = preconditions.map((one) => {
    const { scope, ...rest } = one;
    return { ...rest, scopeKey: resolveScopeKey(scope ?? "space", actor) };
  });
  const index = tx.failedPrecondition(resolved);
  if (index === undefined) return;
  throw new PreconditionError(
    `precondition ${index} (${resolved[index]?.kind}) does not hold for ${resolved[index]?.id}`,
    { index },
  );
}

function applyOne(tx: EngineTx, op: DocOperation, actor: Actor): void {
  const { id, scope, ...operation } = op;
  const scopeKey = resolveScopeKey(scope ?? "space", actor);
  const after = tx.write({ id, scopeKey, op: operation as ValueOperation });
  if (targetOf(op) === "acl") requireAcl(after);
}
