import type { ServedSpace } from "@tidemark/memory-engine";
import {
  parseInstanceKey,
  SPACE_SCOPE_KEY,
  type Clock,
  type DocId,
  type InstanceKey,
} from "@tidemark/protocol";
import type { Scheduler } from "@tidemark/scheduler";
import type { SpaceStats } from "../stats/counters.js";
import { isRoot } from "../tenure/pieces.js";
import { DemandRegistry } from "./demand.js";

/** What a {@link DemandPass} is made of. */
export interface DemandPassOptions {
  readonly served: Pick<ServedSpace, "demand">;
  readonly scheduler: Pick<Scheduler, "demand" | "isStale" | "stats">;
  /** Loads the structure behind what is demanded, and forgets what it decided of what is not any more. */
  readonly structure: { demand(id: DocId): void; leave(id: DocId): void };
  readonly clock: Clock;
  readonly sliceMs: number;
  readonly stats: SpaceStats;
  /** Whether the tenure goes on: its end, graceful ones included, ends the loading of structure. */
  readonly staying: () => boolean;
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
  /** Demanded, and not entered yet: a pass that its deadline cut goes on with the next cycle. */
  readonly #entering = new Set<InstanceKey>();
  #warmShare: { readonly keys: ReadonlySet<InstanceKey> } | undefined;
  #armed = true;

  constructor(options: DemandPassOptions) {
    this.#options = options;
  }

  /** Whether a pass is owed, or the rest of one. */
  get isArmed(): boolean {
    return this.#armed || this.#entering.size > 0;
  }

  /** Whether a pass was cut: structure that is demanded is not loaded, and nothing is proven idle. */
  get isCut(): boolean {
    return this.#entering.size > 0;
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
    this.#leave(this.#registry.reconcile(none).left);
    this.#gauge(none);
    this.#armed = true;
  }

  /**
   * One pass. It gives up control after every slice, between two roots, and stops at `deadlineAt`
   * (monotonic ms): the next call goes on where it stopped (seed 001 §7, under §3's flush deadline).
   */
  async run(deadlineAt: number): Promise<void> {
    if (!this.isArmed) return;
    const { clock, stats, scheduler } = this.#options;
    const began = clock.monotonic();
    if (this.#armed) this.#reconcile();
    const entered = await this.#enter(deadlineAt);
    stats.demand.notCurrentRearms += entered.filter((key) => scheduler.isStale(key)).length;
    stats.demand.demandPassMs += clock.monotonic() - began;
    this.#gaugeWriters();
  }

  #reconcile(): void {
    this.#armed = false;
    const { served, stats } = this.#options;
    const shares = new Map<string, { readonly keys: ReadonlySet<InstanceKey> }>(served.demand());
    if (this.#warmShare !== undefined) shares.set(WARM, this.#warmShare);
    const moves = this.#registry.reconcile(shares);
    this.#leave(moves.left);
    for (const key of moves.entered) this.#entering.add(key);
    stats.demand.structureRootsPreloaded += addressesOf(moves.entered);
    stats.demand.demandPasses += 1;
    stats.demand.demandKeysReconciled += moves.reconciled;
    this.#gauge(shares);
  }

  #leave(keys: readonly InstanceKey[]): void {
    const { scheduler, structure } = this.#options;
    for (const key of keys) {
      if (this.#entering.delete(key)) continue;
      scheduler.demand(key, false);
      structure.leave(parseInstanceKey(key).id);
    }
  }

  /** The keys that it came to. What loads their structure may have brought their writers. */
  async #enter(deadlineAt: number): Promise<readonly InstanceKey[]> {
    const { scheduler, structure, clock, sliceMs, staying } = this.#options;
    const entered: InstanceKey[] = [];
    let slice = clock.monotonic();
    for (const key of this.#entering) {
      this.#entering.delete(key);
      entered.push(key);
      scheduler.demand(key, true);
      structure.demand(parseInstanceKey(key).id);
      const now = clock.monotonic();
      if (now >= deadlineAt) return entered;
      if (now - slice < sliceMs) continue;
      await new Promise<void>((resolve) => void clock.immediate(resolve));
      if (!staying()) return entered;
      slice = clock.monotonic();
    }
    return entered;
  }

  #gauge(shares: ReadonlyMap<string, { readonly keys: ReadonlySet<InstanceKey> }>): void {
    const { demand } = this.#options.stats;
    const rows = (session: string): number => shares.get(session)?.keys.size ?? 0;
    // Warm demand has no session and no demanding pair (seed 001 §1).
    demand.demandedRows = [...shares.keys()].reduce((sum, one) => sum + rows(one), 0) - rows(WARM);
    demand.demandedPairs = this.#registry.pairs - rows(WARM);
    demand.demandedInstances = this.#registry.instances;
    demand.demandedInstancesMax = Math.max(demand.demandedInstancesMax, this.#registry.instances);
    this.#gaugeWriters();
  }

  #gaugeWriters(): void {
    const { demand } = this.#options.stats;
    const { demandRootEnters, demandRootLeaves } = this.#options.scheduler.stats;
    demand.demandedWriters = demandRootEnters - demandRootLeaves;
    demand.demandedWritersMax = Math.max(demand.demandedWritersMax, demand.demandedWriters);
    demand.demandRootEnters += demandRootEnters - this.#folded.enters;
    demand.demandRootLeaves += demandRootLeaves - this.#folded.leaves;
    this.#folded.enters = demandRootEnters;
    this.#folded.leaves = demandRootLeaves;
  }
}

/** Root addresses that a pass asks for: the demanded instance, and for a scoped one the space's as well. */
function addressesOf(keys: readonly InstanceKey[]): number {
  let addresses = 0;
  for (const key of keys) {
    const { id, scopeKey } = parseInstanceKey(key);
    if (isRoot(id)) addresses += scopeKey === SPACE_SCOPE_KEY ? 1 : 2;
  }
  return addresses;
}
