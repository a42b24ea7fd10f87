import {
  ACL_DOC,
  AuthorizationError,
  genesisMessageToSign,
  HistoryHorizonError,
  jsonEqual,
  ProtocolError,
  SPACE_SCOPE_KEY,
  verifySignature,
  type AcceptedCommit,
  type Acl,
  type JsonValue,
  type Principal,
  type Seq,
  type SessionId,
  type SpaceId,
} from "@tidemark/protocol";
import type { Engine } from "../../engine-types.js";
import { namesAnOwner } from "./acl-view.js";

/** A space's beginning, as a client brings it (R31). */
export interface GenesisRequest {
  readonly space: SpaceId;
  readonly acl: Acl;
  /** By the space's own key over the genesis text. */
  readonly signature: string;
}

/**
 * Checks what can be checked before a store is touched, so that no one makes stores without the key.
 *
 * @throws AuthorizationError for a signature that is not the space's, ProtocolError without an owner
 */
export function checkGenesis({ space, acl, signature }: GenesisRequest): void {
  if (!namesAnOwner(acl)) {
    throw new ProtocolError(`the genesis of ${space} names no owner`, { path: ["acl"] });
  }
  const signer = space as unknown as Principal;
  if (verifySignature(signer, genesisMessageToSign(space, acl), signature)) return;
  throw new AuthorizationError(`the genesis of ${space} is not signed by that space's own key`, {
    permanentEvidence: true,
  });
}

const FIRST = 1 as Seq;

/**
 * Writes a checked genesis, or finds that it stands. Idempotent for the same access list.
 *
 * @throws AuthorizationError where the space began with another access list
 */
export function commitGenesis(
  engine: Engine,
  request: GenesisRequest,
  session: SessionId,
): { readonly seq: Seq; readonly commit: AcceptedCommit | undefined } {
  if (engine.head() > 0) {
    if (beganWith(engine, request.acl)) return { seq: FIRST, commit: undefined };
    throw new AuthorizationError(
      `${request.space} has begun already, with another access list; its owner may change that one`,
      { permanentEvidence: true },
    );
  }
  const commit = engine.transact((tx) => {
    const value = request.acl as unknown as JsonValue;
    tx.write({ id: ACL_DOC, scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value } });
    const principal = request.space as unknown as Principal;
    return tx.commit({ class: "authored", principal, session });
  });
  return { seq: commit.seq, commit };
}

function beganWith(engine: Engine, acl: Acl): boolean {
  const first = firstAcl(engine);
  return first !== undefined && jsonEqual(first, acl as unknown as JsonValue);
}

/** The list of seq 1; once that is pruned, the current one is all that can be compared. */
function firstAcl(engine: Engine): JsonValue | undefined {
  try {
    return engine.read(ACL_DOC, SPACE_SCOPE_KEY, { at: FIRST }).value;
  } catch (error) {
    if (error instanceof HistoryHorizonError) return engine.read(ACL_DOC, SPACE_SCOPE_KEY).value;
    throw error;
  }
}
