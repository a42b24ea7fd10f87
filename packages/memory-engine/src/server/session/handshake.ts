import {
  authMessageToSign,
  AuthorizationError,
  ProtocolError,
  verifySignature,
  WIRE_VERSION,
  type AuthMessage,
  type ChallengeMessage,
  type HelloMessage,
} from "@tidemark/protocol";
import { challengeFault, challengeText, type Challenge } from "./challenge.js";
import type { ConnectionHost } from "./host.js";
import { sessionRef, type SessionIdentity } from "./registry.js";

const CHALLENGE_BYTES = 32;

/**
 * How a connection becomes a session's (protocol.md §7): a challenge, answered once, within its time,
 * on this connection, by the key of the principal. There is no other way in.
 */
export class Handshake {
  readonly #host: ConnectionHost;
  #challenge: Challenge | undefined;

  constructor(host: ConnectionHost) {
    this.#host = host;
  }

  /** Issues a challenge; an earlier one of this connection is void. @throws ProtocolError */
  hello(message: HelloMessage): ChallengeMessage {
    if (message.version !== WIRE_VERSION) {
      throw new ProtocolError(
        `this server speaks wire version ${WIRE_VERSION}, not ${message.version}; update`,
        { path: ["version"] },
      );
    }
    const { clock, random, policy, serverId } = this.#host;
    const text = challengeText(random.bytes(CHALLENGE_BYTES));
    this.#challenge = { text, deadline: clock.monotonic() + policy.challengeTtlMs };
    const expiresAt = clock.now() + policy.challengeTtlMs;
    return { type: "challenge", version: WIRE_VERSION, serverId, challenge: text, expiresAt };
  }

  /** Checks the answer. The challenge is spent by the attempt. @throws AuthorizationError */
  auth(message: AuthMessage): SessionIdentity {
    const issued = this.#challenge;
    this.#challenge = undefined;
    const fault = challengeFault(issued, message.challenge, this.#host.clock.monotonic());
    if (fault !== undefined) {
      throw new AuthorizationError(`${fault}; say hello for a new one`, { retriable: true });
    }
    const { principal, sessionId, openNonce, challenge, signature } = message;
    const { serverId } = this.#host;
    const text = authMessageToSign({ serverId, challenge, principal, sessionId, openNonce });
    if (!verifySignature(principal, text, signature)) {
      throw new AuthorizationError(`the signature is not that of ${principal} for this challenge`, {
        permanentEvidence: true,
      });
    }
    return { principal, sessionId, ref: sessionRef(principal, sessionId) };
  }
}
