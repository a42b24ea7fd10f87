import type { AdmissionNotice, MemoryServer, Subscription } from "@tidemark/memory-engine";
import {
  createIdSource,
  type Clock,
  type Gates,
  type HolderId,
  type IdSource,
  type InstanceKey,
  type Random,
  type SpaceId,
} from "@tidemark/protocol";
import type { PatternRegistry } from "@tidemark/runtime";
import { EgressBudget } from "../effects/budget.js";
import type { EffectPerformers } from "../effects/performer.js";
import { prepareVerb } from "../lifecycle/prepare.js";
import { VerbRequest } from "../lifecycle/request.js";
import type { LifecycleResult, LifecycleVerb } from "../lifecycle/verbs.js";
import { resolvePolicy, type ServingPolicy } from "../policy.js";
import { storeLoads, type DocumentLoads } from "../replica/loads.js";
import { SpaceStats, type SpaceStatsSnapshot } from "../stats/counters.js";
import { sumStats } from "../stats/sum.js";
import { SpaceServer } from "../tenure/space-server.js";
import type { ServingReport } from "../tenure/report.js";
import { ParkedRuntimes } from "./parked-runtimes.js";
import { holderOf } from "./holder.js";
import { SpaceSlot, type SlotHost } from "./space-slot.js";

/** What an {@link ExecutorHost} is made of. */
export interface ExecutorHostOptions {
  readonly memory: MemoryServer;
  /** The stores there are, for the discovery at boot. */
  readonly stores: { list(): readonly SpaceId[] };
  readonly patterns: PatternRegistry;
  readonly clock: Clock;
  readonly gates: Gates;
  readonly random: Random;
  readonly policy?: Partial<ServingPolicy>;
  /** Identity of the service; the host adds a part that this process alone has (seed 001 §2, DR1). */
  readonly service?: string;
  readonly holder?: HolderId;
  /** Where serving replicas load documents from; by default the co-hosted store, which answers at once. */
  readonly loads?: DocumentLoads;
  /** Who does what effectful nodes ask for; a built-in without a performer is an error there. */
  readonly effects?: EffectPerformers;
  readonly report?: (report: ServingReport) => void;
}

/** The counters of a process, by the names of seed 001 §7. */
export interface ServingStats extends Partial<SpaceStatsSnapshot> {
  readonly activeSpaces: number;
  readonly push: {
    readonly prioritizedSessions: number;
    readonly followerSessions: number;
    readonly mixedFlushes: number;
  };
}

/**
 * One per process: decides which spaces are served, and keeps one tenure at most of each (seed 001
 * §1). A notice of the memory server wakes it; it never polls.
 */
export class ExecutorHost {
  readonly holder: HolderId;
  readonly #options: ExecutorHostOptions;
  readonly #policy: ServingPolicy;
  readonly #ids: IdSource;
  readonly #slots = new Map<SpaceId, SpaceSlot>();
  readonly #stats = new Map<SpaceId, SpaceStats>();
  readonly #budgets = new Map<SpaceId, EgressBudget>();
  readonly #parked: ParkedRuntimes;
  #subscription: Subscription | undefined;
  #stopped = false;

  constructor(options: ExecutorHostOptions) {
    this.#options = options;
    this.#policy = resolvePolicy(options.policy);
    this.#ids = createIdSource(options.clock, options.random);
    this.#parked = new ParkedRuntimes({
      clock: options.clock,
      retentionMs: this.#policy.parkedRuntimeRetentionMs,
      limit: this.#policy.maxParkedRuntimes,
      stats: (space) => this.#statsOf(space),
      onDisposed: (space) => this.#slots.get(space)?.unused(),
    });
    this.holder = options.holder ?? holderOf(options.service ?? "tidemark", options.random);
  }

  /** Listens for notices, and looks at every store for undelivered events (seed 001 §1, boot). */
  start(): void {
    if (this.#subscription !== undefined || this.#stopped) return;
    this.#subscription = this.#options.memory.onAdmission((notice) => this.#noticed(notice));
    this.#discover([...this.#options.stores.list()]);
  }

  /** An explicit warm request: serve the space though nobody is there (seed 001 §1). */
  warm(space: SpaceId, instances: readonly InstanceKey[] = []): void {
    this.#slot(space).warm(instances);
  }

  /**
   * Asks for a lifecycle verb, on the space's loop, as its principal (seed 001 §1, §3e). It activates the
   * space; the answer comes with the commit of the verb's own wave. What it staged is served from then on
   * until its tenure parks idle.
   *
   * @throws UnknownPatternError, ProtocolError, ValueError for what cannot be asked for; AuthorizationError for
   * who may not write; UnknownPieceError; ConflictError where a source update lost a race; NotServedError
   */
  async lifecycle(space: SpaceId, verb: LifecycleVerb): Promise<LifecycleResult> {
    const request = new VerbRequest(space, prepareVerb(verb, this.#options.patterns, this.#ids));
    if (this.#stopped) request.notServed("stopped");
    else if (!this.#options.memory.exists(space)) request.notServed("unknown-space");
    else this.#slot(space).ask(request);
    return request.answer;
  }

  /** Whether a loop of this process serves the space now. */
  isActive(space: SpaceId): boolean {
    return this.#slots.get(space)?.isActive === true;
  }

  /** Spaces whose loop runs in this process. */
  activeSpaces(): readonly SpaceId[] {
    return [...this.#slots].filter(([, slot]) => slot.isActive).map(([space]) => space);
  }

  /** Counters of one space since this host began. */
  spaceStats(space: SpaceId): SpaceStatsSnapshot {
    return this.#statsOf(space).snapshot();
  }

  /** Counters summed over the spaces. */
  stats(): ServingStats {
    // A host that has served nothing yet shows zeros: a reader of a counter finds it from the start.
    const served = [new SpaceStats(), ...this.#stats.values()];
    const total = sumStats(served.map((stats) => stats.snapshot()));
    const { prioritizedSessions, followerSessions, mixedFlushes } =
      this.#options.memory.stats().push;
    return {
      ...total,
      activeSpaces: this.activeSpaces().length,
      push: { prioritizedSessions, followerSessions, mixedFlushes },
    };
  }

  /** Objects that serving a space holds right now: guard entries, timers, open waves. */
  held(space: SpaceId): number {
    return this.#slots.get(space)?.held ?? 0;
  }

  /** Graceful end: cycles in progress commit, leases are released; bounded (RS-07). */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#subscription?.close();
    this.#subscription = undefined;
    await Promise.all([...this.#slots.values()].map((slot) => slot.stop()));
    await this.#parked.stop();
  }

  /** One store after another, a macrotask each: boot does not hold the process. */
  #discover(spaces: SpaceId[]): void {
    const space = spaces.shift();
    if (space === undefined || this.#stopped) return;
    this.#slot(space).consider();
    this.#options.clock.immediate(() => this.#discover(spaces));
  }

  #noticed(notice: AdmissionNotice): void {
    if (this.#stopped) return;
    const slot = this.#slot(notice.space);
    if (notice.reason === "warm") slot.warm(notice.instances ?? []);
    else slot.consider();
  }

  #slot(space: SpaceId): SpaceSlot {
    const known = this.#slots.get(space);
    if (known !== undefined) return known;
    const slot = new SpaceSlot(space, this.#slotHost());
    this.#slots.set(space, slot);
    return slot;
  }

  #slotHost(): SlotHost {
    const {
      memory,
      patterns,
      clock,
      gates,
      report,
      effects = {},
      loads = storeLoads,
    } = this.#options;
    const told = report ?? (() => undefined);
    return {
      clock,
      policy: this.#policy,
      stats: (space) => this.#statsOf(space),
      served: (space) => memory.space(space),
      report: told,
      keep: (kept) => this.#parked.keep(kept),
      release: (space) => void memory.closeIdle(space),
      open: (space) =>
        new SpaceServer(
          {
            served: memory.space(space),
            holder: this.holder,
            patterns,
            clock,
            gates,
            ids: this.#ids,
            policy: this.#policy,
            stats: this.#statsOf(space),
            loads,
            performers: effects,
            budget: this.#budgetOf(space),
            announce: (commit, instances) => memory.warm({ space, commit, instances }),
            report: told,
          },
          (served) => this.#parked.take(served),
        ),
    };
  }

  #budgetOf(space: SpaceId): EgressBudget {
    const known = this.#budgets.get(space);
    if (known !== undefined) return known;
    const { maxOutstandingEffects, egressRatePerSecond } = this.#policy;
    const budget = new EgressBudget(this.#options.clock, {
      maxOutstanding: maxOutstandingEffects,
      ratePerSecond: egressRatePerSecond,
    });
    this.#budgets.set(space, budget);
    return budget;
  }

  #statsOf(space: SpaceId): SpaceStats {
    const known = this.#stats.get(space);
    if (known !== undefined) return known;
    const stats = new SpaceStats();
    this.#stats.set(space, stats);
    return stats;
  }
}
