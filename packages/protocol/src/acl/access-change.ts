import { isPrincipal } from "../ids/ids.js";
import { ProtocolError } from "../errors/refusals.js";
import { ACL_LEVELS, ACL_STREAMS_KEY, type Acl, type AclLevel, type Grantee } from "./acl.js";

/**
 * One change of a space's access list that a handler's run asks for (seed 001 §3d): the run stages it,
 * and the memory server decides it as if the event's actor had asked.
 */
export type AccessChange =
  | { readonly kind: "grant"; readonly grantee: Grantee; readonly level: AclLevel }
  | { readonly kind: "revoke"; readonly grantee: Grantee };

/**
 * The list with the changes made to it in turn; the same object where they change nothing. A grant gives
 * exactly its level, also where that is less than before. A revocation takes the grantee out of the list,
 * appends to single streams included: what is left is what `"*"` gives to everybody.
 */
export function changeAcl(acl: Acl, changes: readonly AccessChange[]): Acl {
  return changes.reduce((list, change) => applied(list, change), acl);
}

/**
 * A change as pattern code words it.
 *
 * @throws ProtocolError naming the part that is neither a principal or `"*"`, nor a level.
 */
export function grantOf(grantee: unknown, level: unknown): AccessChange {
  const known = ACL_LEVELS.find((each) => each === level);
  if (known === undefined) {
    throw new ProtocolError(`access is granted as ${ACL_LEVELS.join(", ")}, and as nothing else`, {
      path: ["level"],
    });
  }
  return { kind: "grant", grantee: granteeOf(grantee), level: known };
}

/** See {@link grantOf}. @throws ProtocolError */
export function revocationOf(grantee: unknown): AccessChange {
  return { kind: "revoke", grantee: granteeOf(grantee) };
}

function granteeOf(grantee: unknown): Grantee {
  if (grantee === "*" || isPrincipal(grantee)) return grantee;
  throw new ProtocolError('access is for a principal, by its did:key, or for everybody, "*"', {
    path: ["grantee"],
  });
}

function applied(acl: Acl, change: AccessChange): Acl {
  const { grantee } = change;
  if (change.kind === "grant") {
    return acl[grantee] === change.level ? acl : { ...acl, [grantee]: change.level };
  }
  const streams = withoutAppends(acl.streams, grantee);
  if (!Object.hasOwn(acl, grantee) && streams === acl.streams) return acl;
  const { [grantee]: _level, [ACL_STREAMS_KEY]: _streams, ...rest } = acl;
  return streams === undefined ? rest : { ...rest, streams };
}

function withoutAppends(streams: Acl["streams"], grantee: Grantee): Acl["streams"] {
  if (streams === undefined) return undefined;
  const named = Object.values(streams).some((grants) => Object.hasOwn(grants, grantee));
  if (!named) return streams;
  return Object.fromEntries(
    Object.entries(streams).map(([stream, { [grantee]: _append, ...rest }]) => [stream, rest]),
  );
}
