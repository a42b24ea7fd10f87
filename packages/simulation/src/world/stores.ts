import type { Clock, Random, SpaceId } from "@tidemark/protocol";
import type { PolicyFile } from "../scenario/file.js";
import { BEFORE_ALL, StoreObserver } from "./observer.js";
import type { WorldWatch } from "./watch.js";

/** What {@link WorldStores} are made of. */
export interface WorldStoresOptions {
  readonly dir: string;
  readonly clock: Clock;
  readonly random: () => Random;
  readonly idOf: (space: string) => SpaceId;
  readonly watch: WorldWatch["store"] | undefined;
}

interface Cover {
  readonly seq: number;
  readonly input: number;
}

/** The stores of a world, each read over a connection of its own. */
export class WorldStores {
  readonly #options: WorldStoresOptions;
  readonly #observers = new Map<string, StoreObserver>();
  /** Up to where commits have been looked through, and the highest input among them. */
  readonly #covers = new Map<string, Cover>();

  constructor(options: WorldStoresOptions) {
    this.#options = options;
  }

  /** What is durable in a space. */
  observer(space: string): StoreObserver {
    const known = this.#observers.get(space);
    if (known) return known;
    const { dir, clock, random, idOf, watch } = this.#options;
    const observer = new StoreObserver(dir, idOf(space), clock, random());
    watch?.("", observer.engine);
    this.#observers.set(space, observer);
    return observer;
  }

  /** W and the highest seq that is not the loop's own. */
  coverage(space: string): { readonly watermark: number; readonly input: number } {
    const observer = this.observer(space);
    let { seq, input } = this.#covers.get(space) ?? { seq: BEFORE_ALL, input: 0 };
    for (const commit of observer.commitsSince(seq as typeof BEFORE_ALL)) {
      seq = commit.seq;
      if (commit.class !== "derived") input = commit.seq;
    }
    this.#covers.set(space, { seq, input });
    return { watermark: observer.watermark(), input };
  }

  /** Runs the compaction of a space's streams, as the loop does at quiet moments. */
  compact(space: string, policy: PolicyFile = {}): void {
    const { compactAfterEntries, compactAfterMs, compactMaxEntries } = policy;
    this.observer(space).compact({
      ...(compactAfterEntries === undefined ? {} : { compactAfterEntries }),
      ...(compactAfterMs === undefined ? {} : { compactAfterMs }),
      ...(compactMaxEntries === undefined ? {} : { compactMaxEntries }),
    });
  }

  close(): void {
    for (const observer of this.#observers.values()) observer.close();
  }
}
