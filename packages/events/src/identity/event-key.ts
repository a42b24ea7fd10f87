import { contentHash, type EventId, type Link, type Principal } from "@tidemark/protocol";
import { canonicalStream } from "./stream-link.js";

/** Prefix of every event key. */
export const EVENT_KEY_PREFIX = "evk:";

/** The three inputs of an event key, and there is no fourth: nothing of the payload reaches it. */
export interface EventKeyInput {
  /** The acting user; `null` for a served run that no principal sent, never the service itself. */
  readonly actor: Principal | null;
  readonly event: EventId;
  /** The stream the handler is registered on, its space included. */
  readonly stream: Link;
}

/**
 * The key that every run of one event shares: conflict retries, the client's echo and the served
 * run (seed 003 §What it is). Another id, actor or stream gives another key.
 */
export function deriveEventKey({ actor, event, stream }: EventKeyInput): string {
  return EVENT_KEY_PREFIX + contentHash({ actor, event, stream: canonicalStream(stream) });
}
