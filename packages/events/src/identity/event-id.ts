import { contentHash, eventId, type EventId, type IdSource, type Link } from "@tidemark/protocol";
import { canonicalStream } from "./stream-link.js";

/** A fresh durable event id for one gesture: a ULID. Every resend of the gesture keeps it. */
export function mintEventId(ids: IdSource): EventId {
  return eventId(ids.ulid());
}

/**
 * The sends of one handler attempt. Each attempt has an origin of its own, so a retried attempt
 * sends under fresh ids; only those of the attempt that commits ever become entries (seed 000 §4).
 */
export interface SendOrigin {
  /** The id of this attempt's next send. */
  next(): EventId;
}

/** Opens the origin of one attempt: a random key of the attempt and a counter. */
export function openSendOrigin(ids: IdSource): SendOrigin {
  // Most attempts send nothing, and a key costs random bytes.
  let key: string | undefined;
  let sent = 0;
  return {
    next() {
      key ??= ids.ulid();
      sent += 1;
      return eventId(`${key}.${sent}`);
    },
  };
}

/**
 * The event id of a caller's own invocation id. The stream is bound in, so one invocation id used
 * for two handlers is two events (seed 003 §Why the actor and the stream are in it).
 */
export function scopeCallerEventId(callerId: string, stream: Link): EventId {
  const hash = contentHash({ caller: callerId, stream: canonicalStream(stream) });
  return eventId(`call:${hash}`);
}
