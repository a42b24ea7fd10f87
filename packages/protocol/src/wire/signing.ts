import type { Acl } from "../acl/acl.js";
import type { Principal, SessionId, SpaceId } from "../ids/ids.js";
import { canonicalJson } from "../json/canonical.js";
import type { JsonValue } from "../json/json-value.js";

/** What an `auth` message's signature covers. */
export interface AuthStatement {
  readonly serverId: string;
  readonly challenge: string;
  readonly principal: Principal;
  readonly sessionId: SessionId;
  readonly openNonce: string;
}

/**
 * The text that a principal signs to authenticate (protocol.md §7). It names the server, so that no
 * server can pass the signature on to another.
 */
export function authMessageToSign(statement: AuthStatement): string {
  const { serverId, challenge, principal, sessionId, openNonce } = statement;
  return canonicalJson({
    tidemark: "auth@1",
    serverId,
    challenge,
    principal,
    sessionId,
    openNonce,
  });
}

/** The text that a space's own key signs to found the space (R31). */
export function genesisMessageToSign(space: SpaceId, acl: Acl): string {
  return canonicalJson({ tidemark: "genesis@1", space, acl: acl as JsonValue });
}
