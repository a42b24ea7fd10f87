import type { Actor, LocalSeq, Principal, SessionId } from "@tidemark/protocol";
import type { ReplayKey } from "../../engine-types.js";

/** Who sent a request, from the session that a signature opened and never from the message. */
export interface Envelope {
  readonly principal: Principal;
  readonly session: SessionId;
  readonly openNonce: string;
}

/** Whose scoped instances the request means. */
export function actorOf(envelope: Envelope): Actor {
  return { user: envelope.principal, session: envelope.session };
}

/** The key under which a resend of the request finds its verdict (R27). */
export function replayKeyOf(envelope: Envelope, localSeq: LocalSeq): ReplayKey {
  const { principal, session, openNonce } = envelope;
  return { principal, session, openNonce, localSeq };
}
