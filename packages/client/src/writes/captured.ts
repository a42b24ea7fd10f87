import { ProtocolError } from "@tidemark/protocol";
import type { JsonValue } from "@tidemark/protocol";

/** A payload with what its page captured at fire time, and the keys that came by it. */
export interface Captured {
  readonly event: JsonValue;
  readonly injected: readonly string[];
}

/**
 * Puts what only the page knows into an event's payload (seed 000 §3). What the payload says itself stands,
 * and is its author's.
 *
 * @throws ProtocolError where there is something to put in and the payload is a scalar or a list
 */
export function withCaptured(payload: JsonValue, captured: JsonValue): Captured {
  const own = payload === null ? {} : payload;
  const news = Object.entries(captured as object).filter(([key]) => !hasKey(own, key));
  if (news.length === 0) return { event: payload, injected: [] };
  if (typeof own !== "object" || Array.isArray(own)) {
    throw new ProtocolError("what is captured with an event goes into an object: fire one", {
      path: ["payload"],
    });
  }
  // By entries: a key named `__proto__` stays data.
  const event = Object.fromEntries([...Object.entries(own), ...news]) as JsonValue;
  return { event, injected: news.map(([key]) => key) };
}

function hasKey(value: JsonValue, key: string): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}
