import {
  ACL_DOC,
  AuthorizationError,
  EFFECTS_DOC,
  isReserved,
  ProtocolError,
  type DocOperation,
  type PatchOp,
  type TidemarkError,
} from "@tidemark/protocol";

/** What an authored operation is, by the document it names. */
export type OperationTarget = "document" | "acl" | "effects-ack";

/**
 * Sorts an authored operation by its target, or refuses it: streams take appends alone (ADM-14),
 * and reserved documents take what the protocol names and nothing else (R35).
 */
export function targetOf(op: DocOperation): OperationTarget | TidemarkError {
  if (op.id.startsWith("stream:")) {
    return new ProtocolError(
      `stream ${op.id} admits no authored ${op.op}; append an event to it instead`,
      {},
    );
  }
  if (!isReserved(op.id)) return "document";
  if (op.id === ACL_DOC) return aclTarget(op);
  if (op.id === EFFECTS_DOC && isAcknowledgement(op)) return "effects-ack";
  return new ProtocolError(`document ${op.id} is the server's own: no session may ${op.op} it`, {});
}

function aclTarget(op: DocOperation): OperationTarget | TidemarkError {
  if (op.scope !== undefined && op.scope !== "space") {
    return new ProtocolError(`${ACL_DOC} belongs to the space, not to a ${op.scope}`, {});
  }
  if (op.op === "delete") {
    return new AuthorizationError(`${ACL_DOC} cannot be deleted: a space keeps an owner`, {
      permanentEvidence: true,
    });
  }
  return "acl";
}

/** A client enacted effects and says so in its own instance, nonce by nonce (protocol.md §6). */
function isAcknowledgement(op: DocOperation): boolean {
  return op.op === "patch" && op.scope === "session" && op.value.every(marksNonce);
}

function marksNonce(patch: PatchOp): boolean {
  const [field, nonce] = patch.path;
  return (
    (patch.op === "replace" || patch.op === "add") &&
    patch.path.length === 2 &&
    field === "acks" &&
    typeof nonce === "string" &&
    patch.value === true
  );
}
