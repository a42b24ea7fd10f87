import type { PlaceKey } from "./places.js";

/**
 * Where the one copy of an entry is. `notice`: a terminal notice is sealed and not durable yet, so
 * that nothing behind it may run (seed 000 §2, Terminal positions).
 */
export type GuardState = "queued" | "running" | "sealed" | "notice";

/**
 * The drain's in-flight guard (seed 000 §4): an entry has at most one copy until the store has spoken
 * for it. Released by the wave's outcome or a deferral, never by the seal.
 */
export class InFlightGuard {
  readonly #entries = new Map<PlaceKey, GuardState>();

  get size(): number {
    return this.#entries.size;
  }

  stateOf(key: PlaceKey): GuardState | undefined {
    return this.#entries.get(key);
  }

  set(key: PlaceKey, state: GuardState): void {
    this.#entries.set(key, state);
  }

  release(key: PlaceKey): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
