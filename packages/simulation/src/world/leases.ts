import type { HolderId } from "@tidemark/protocol";
import type { ChildClock } from "@tidemark/protocol/testing";
import type { StoreObserver } from "./observer.js";
import type { Places } from "./places.js";
import type { ServerProcess } from "./process.js";
import type { WorldWatch } from "./watch.js";

/** What {@link WorldLeases} are made of. */
export interface WorldLeasesOptions {
  readonly places: Places;
  /** What the stores go by: it alone judges whether a lease is live (seed 001 §2). */
  readonly storeClock: ChildClock;
  readonly observer: (space: string) => StoreObserver;
  readonly processes: readonly ServerProcess[];
  readonly watch: WorldWatch["theft"] | undefined;
}

/** A holder that no process of a world is. */
const THIEF = "thief" as HolderId;

/** The lease rows of a world as whoever is no process of it finds and makes them. */
export class WorldLeases {
  readonly #options: WorldLeasesOptions;
  #step = 0;

  constructor(options: WorldLeasesOptions) {
    this.#options = options;
  }

  /** The name of the process that holds a live lease. */
  holderOf(space: string): string | undefined {
    return this.processOf(space)?.name;
  }

  /** The process that a live row names. It may be dead, and another may have its name. */
  processOf(space: string): ServerProcess | undefined {
    const row = this.#options.observer(space).leaseRow();
    if (row?.live !== true) return undefined;
    return this.#options.processes.find(({ host }) => host?.holder === row.holder);
  }

  /** For how long a row is still live, ms; 0 where it is not. */
  leftOf(space: string): number {
    const row = this.#options.observer(space).leaseRow();
    return Math.max(0, (row?.expiresAt ?? 0) - this.#options.storeClock.now());
  }

  /** Somebody who is no process of the world writes the row. */
  steal(space: string, ttlMs: number): void {
    const { observer, storeClock, watch, places } = this.#options;
    observer(space).writeLease(THIEF, storeClock.now() + ttlMs);
    watch?.(places.space(space), THIEF, ttlMs);
  }

  /** How far the stores' clock is off, ms. */
  get clockStep(): number {
    return this.#step;
  }

  /** Sets the stores' clock off by `ms`: every row lives on for less, or for more. */
  stepClock(ms: number): void {
    const { observer, storeClock, watch, places } = this.#options;
    storeClock.setWallOffset(ms);
    this.#step = ms;
    for (const name of places.spaceNames) {
      const row = observer(name).leaseRow();
      if (row) watch?.(places.space(name), row.holder, row.expiresAt - storeClock.now());
    }
  }
}
