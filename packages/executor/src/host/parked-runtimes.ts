import type { ServedSpace } from "@tidemark/memory-engine";
import type { Cancellable, Clock, SpaceId } from "@tidemark/protocol";
import type { SpaceStats } from "../stats/counters.js";
import type { KeptRuntime } from "../tenure/kept-runtime.js";

/** What {@link ParkedRuntimes} are made of. */
export interface ParkedRuntimesOptions {
  readonly clock: Clock;
  /** How long a runtime is kept; 0: none is kept at all. */
  readonly retentionMs: number;
  /** How many are kept across the host. */
  readonly limit: number;
  readonly stats: (space: SpaceId) => SpaceStats;
  /** One was let go: nothing of it uses the space's store any more. */
  readonly onDisposed: (space: SpaceId) => void;
}

interface Entry {
  readonly kept: KeptRuntime;
  /** Monotonic ms. */
  readonly until: number;
}

/**
 * The runtimes that idle parks left to their host (seed 001 §1, Parking): each for the space's next
 * tenure, for a while, so many of them, the longest-kept let go first. One timer stands for them all.
 */
export class ParkedRuntimes {
  readonly #options: ParkedRuntimesOptions;
  /** In the order in which they were kept. */
  readonly #entries = new Map<SpaceId, Entry>();
  readonly #disposing = new Set<Promise<void>>();
  #timer: Cancellable | undefined;
  #closed = false;

  constructor(options: ParkedRuntimesOptions) {
    this.#options = options;
  }

  /** Kept now. */
  get size(): number {
    return this.#entries.size;
  }

  /** Takes over what an idle park offers. */
  keep(kept: KeptRuntime): void {
    const { clock, stats, retentionMs } = this.#options;
    const { space } = kept;
    this.#discard(space);
    const { parkedRuntimes } = stats(space);
    parkedRuntimes.retained += 1;
    parkedRuntimes.held = 1;
    this.#entries.set(space, { kept, until: clock.monotonic() + retentionMs });
    try {
      kept.watch(() => this.#discard(space));
    } catch {
      // Its store cannot be followed: what reaches it would go unseen.
      this.#discard(space);
    }
    this.#expire();
    if (this.#closed) this.#discard(space);
  }

  /**
   * The runtime kept for a space, for a tenure that holds the lease; one that is past its time or that
   * the store has moved away from is turned down, and let go.
   */
  take(served: ServedSpace): KeptRuntime | undefined {
    const { space } = served;
    const entry = this.#entries.get(space);
    if (entry === undefined) return undefined;
    if (this.#isOver(entry) || !entry.kept.fits(served)) {
      this.#discard(space);
      return undefined;
    }
    this.#remove(space);
    return entry.kept;
  }

  /** The host closes: every one is let go. Resolves when they are, each within its deadline. */
  async stop(): Promise<void> {
    this.#closed = true;
    for (const space of this.#entries.keys()) this.#discard(space);
    await Promise.all(this.#disposing);
  }

  #isOver({ until }: Entry): boolean {
    return this.#options.clock.monotonic() >= until;
  }

  /** Lets go of those past their time, and of the longest-kept beyond the limit. */
  #expire(): void {
    for (const [space, entry] of this.#entries) {
      if (this.#entries.size <= this.#options.limit && !this.#isOver(entry)) break;
      this.#discard(space);
    }
    this.#arm();
  }

  #discard(space: SpaceId): void {
    const entry = this.#remove(space);
    if (entry === undefined) return;
    const { stats, onDisposed } = this.#options;
    stats(space).parkedRuntimes.discarded += 1;
    const disposing = entry.kept.dispose().then(() => {
      this.#disposing.delete(disposing);
      onDisposed(space);
    });
    this.#disposing.add(disposing);
  }

  #remove(space: SpaceId): Entry | undefined {
    const entry = this.#entries.get(space);
    if (entry === undefined) return undefined;
    this.#entries.delete(space);
    this.#options.stats(space).parkedRuntimes.held = 0;
    this.#arm();
    return entry;
  }

  /** The timer stands for the longest-kept, whose time is over when it fires: instants are no integers. */
  #arm(): void {
    const { clock } = this.#options;
    this.#timer?.cancel();
    this.#timer = undefined;
    const [first] = this.#entries;
    if (first === undefined) return;
    const [space, { until }] = first;
    this.#timer = clock.timer(Math.max(0, until - clock.monotonic()), () => {
      this.#discard(space);
      this.#expire();
    });
  }
}
