import type { EventId, Link, Principal } from "@tidemark/protocol";
import { seededRandom, type Random } from "@tidemark/protocol";
import { deriveEventKey } from "@tidemark/events";
import type { Transaction } from "../transaction/transaction.js";

/** The event a handler run is for. */
export interface EventScope {
  readonly eventId: EventId;
  readonly stream: Link;
  /** The key that every run of the event shares (seed 003). */
  eventKey(): string;
  readonly principal: Principal | undefined;
  /** Wall milliseconds of the event's append; of the fire in an echo (R29). */
  readonly at: number;
  readonly tx: Transaction;
  /** The next number in [0, 1) of the sequence that the event key seeds. */
  random(): number;
}

/** The scope of one run of one event: every run of it has the same key, instant and randomness. */
export function openEventScope(run: {
  readonly eventId: EventId;
  readonly stream: Link;
  readonly principal: Principal | undefined;
  readonly at: number;
  readonly tx: Transaction;
}): EventScope {
  const { eventId, stream, principal, at, tx } = run;
  // Two hashes that most handlers never ask for.
  let key: string | undefined;
  let chance: Random | undefined;
  const eventKey = (): string =>
    (key ??= deriveEventKey({ actor: principal ?? null, event: eventId, stream }));
  const random = (): number => (chance ??= seededRandom(seedOf(eventKey()))).next();
  return { eventId, stream, principal, at, tx, eventKey, random };
}

/** FNV-1a over the key: all of a key's characters reach the 32-bit seed. */
function seedOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
}
