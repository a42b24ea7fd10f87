import type { ServedSpace } from "@tidemark/memory-engine";
import { docKind, parseInstanceKey, type Clock, type InstanceKey } from "@tidemark/protocol";
import type { Scheduler } from "@tidemark/scheduler";
import type { SpaceStats } from "../stats/counters.js";
import type { Pieces } from "../tenure/pieces.js";
import { DemandRegistry } from "./demand.js";

/** What a {@link DemandPass} is made of. */
export interface DemandPassOptions {
  readonly served: Pick<ServedSpace, "demand">;
  readonly scheduler: Pick<Scheduler, "demand" | "stats">;
  readonly pieces: Pieces;
  readonly clock: Clock;
  readonly sliceMs: number;
  readonly stats: SpaceStats;
  readonly live: () => boolean;
}

/** Session reference of the warm demand: no pair, no session (seed 001 §1). */
const WARM = "";

/**
 * Makes the sessions' tracked sets the scheduler's demand roots and loads the structure behind them
 * (seed 001 §1). There is no demand walk.
 */
export class DemandPass {
  readonly #options: DemandPassOptions;
  readonly #registry = new DemandRegistry();
  readonly #warm = new Set<InstanceKey>();
  readonly #folded = { enters: 0, leaves: 0 };
  #warmShare: { readonly keys: ReadonlySet<InstanceKey> } | undefined;
  #armed = true;

  constructor(options: DemandPassOptions) {
    this.#options = options;
  }

  /** Whether a pass is owed. */
  get isArmed(): boolean {
    return this.#armed;
  }

  arm(): void {
    this.#armed = true;
  }

  /** Staged instances of a warm request: demand without a session, for this tenure. */
  warm(keys: Iterable<InstanceKey>): void {
    for (const key of keys) this.#warm.add(key);
    this.#warmShare = { keys: new Set(this.#warm) };
    this.#armed = true;
  }

  /** The tenure ends: everything it demanded is left, warm demand included; the next pass compares every key. */
  leave(): void {
    this.#warm.clear();
    this.#warmShare = undefined;
    const none = new Map<string, never>();
    for (const key of this.#registry.reconcile(none).left) {
      this.#options.scheduler.demand(key, false);
    }
    this.#gauge(none);
    this.#armed = true;
  }

  /** One pass; it gives up control after every slice, between two roots. */
  async run(): Promise<void> {
    if (!this.#armed) return;
    this.#armed = false;
    const { clock, stats } = this.#options;
    const began = clock.monotonic();
    const shares = new Map<string, { readonly keys: ReadonlySet<InstanceKey> }>(
      this.#options.served.demand(),
    );
    if (this.#warmShare !== undefined) shares.set(WARM, this.#warmShare);
    const moves = this.#registry.reconcile(shares);
    for (const key of moves.left) this.#options.scheduler.demand(key, false);
    await this.#enter(moves.entered);
    stats.demand.demandPasses += 1;
    stats.demand.demandPassMs += clock.monotonic() - began;
    stats.demand.demandKeysReconciled += moves.reconciled;
    this.#gauge(shares);
  }

  async #enter(keys: readonly InstanceKey[]): Promise<void> {
    const { scheduler, pieces, clock, sliceMs, live, stats } = this.#options;
    let slice = clock.monotonic();
    for (const key of keys) {
      scheduler.demand(key, true);
      const { id } = parseInstanceKey(key);
      if (docKind(id) === "piece") stats.demand.structureRootsPreloaded += 1;
      pieces.ensureRoot(id);
      if (clock.monotonic() - slice < sliceMs) continue;
      await new Promise<void>((resolve) => void clock.immediate(resolve));
      if (!live()) return;
      slice = clock.monotonic();
    }
  }

  #gauge(shares: ReadonlyMap<string, { readonly keys: ReadonlySet<InstanceKey> }>): void {
    const { demand } = this.#options.stats;
    const { demandRootEnters, demandRootLeaves } = this.#options.scheduler.stats;
    demand.demandedRows = [...shares.values()].reduce((sum, { keys }) => sum + keys.size, 0);
    demand.demandedInstances = this.#registry.instances;
    demand.demandedInstancesMax = Math.max(demand.demandedInstancesMax, this.#registry.instances);
    demand.demandedPairs = this.#registry.pairs;
    demand.demandedWriters = demandRootEnters - demandRootLeaves;
    demand.demandedWritersMax = Math.max(demand.demandedWritersMax, demand.demandedWriters);
    demand.demandRootEnters += demandRootEnters - this.#folded.enters;
    demand.demandRootLeaves += demandRootLeaves - this.#folded.leaves;
    this.#folded.enters = demandRootEnters;
    this.#folded.leaves = demandRootLeaves;
  }
}
