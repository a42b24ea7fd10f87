import type { Seq, SpaceId } from "@tidemark/protocol";
import { Series } from "./series.js";

/** One authored input from its admission to the wave whose W covers it (seed 001 §7, `settle`). */
export interface SettleSample {
  readonly space: SpaceId;
  readonly seq: Seq;
  /** From the notice of its admission on, the wait for a barrier included. */
  readonly ms: number;
  /** Cycles that began, and waves that closed, in that time. */
  readonly cycles: number;
  readonly waves: number;
  /**
   * By adjacency: the input covered last before a push made demand grow, once the next derived commit
   * has landed, is `structural-growth`. An attribution, no proof of cause (seed 001 §7).
   */
  readonly class: "value-only" | "structural-growth";
  /** Of structural growth: from admission to the derived commit that landed it. */
  readonly landedMs?: number;
}

/** One drain-settle quiescence advance (seed 001 §7, `settleAdvances`). */
export interface AdvanceSample {
  readonly space: SpaceId;
  readonly from: Seq;
  readonly to: Seq;
  readonly at: number;
}

const TOP = [
  "waves",
  "wavesBudgetExhausted",
  "exhaustedAdvances",
  "supersededWrites",
  "authoredSeen",
  "effectAcks",
  "derivedCommits",
  "structureLoadFailures",
  "structureLoadDeferred",
  "structureLoadStuck",
  "structureLoadTerminal",
  "structureLoadConfirmationsSkipped",
  "structureLoadRearmed",
  "watermarkClamped",
  "storeReads",
  "storeRefreshes",
  "unstampedSealRefusals",
  "foreignWriteRefusals",
  "foreignEngineFailures",
  "warmRequests",
  "watermarkLag",
  "demandArrivals",
  "undemandedNarrowingRuns",
  "earlyEmitRefusals",
  // Not of the seed: a handler that outran its budget, a dispose that outran its deadline, a receipt that
  // somebody had written.
  "handlersOverBudget",
  "disposeTimeouts",
  "receiptCollisions",
  // Verbs that settled, and the commits that they made beside a wave.
  "lifecycleVerbs",
  "directCommits",
] as const;

const DEMAND = [
  "demandedRows",
  "demandedInstances",
  "demandedInstancesMax",
  "demandedPairs",
  "demandedWriters",
  "demandedWritersMax",
  "demandRootEnters",
  "demandRootLeaves",
  "notCurrentRearms",
  "demandPasses",
  "demandPassMs",
  "demandKeysReconciled",
  "structureRootsPreloaded",
  "pushGrowthWakes",
  "watchWakes",
  "warmWakes",
] as const;

const EVENTS = [
  "appended",
  "processed",
  "coalescedPerWaveMax",
  "skippedIdempotent",
  "drainInFlightSkips",
  "visibilityBarriers",
  "visibilityRecoveries",
  "visibilityDeferrals",
  "deferredRescansArmed",
  "deferredRescansFired",
  "lt1LeftoversPurged",
  "lt1LateSealsRefused",
  "orphanDeliveriesRefused",
  "handlerNotRunDeferrals",
  "arrivalHeldDeferrals",
  "loadParkDeferrals",
  "loadParkFailures",
  "deliveryDeferralsActive",
  "deliveryFailuresActive",
  "maxAccumulatedDeliveryFailureMs",
  "deliveryFailureWakesArmed",
  "deliveryFailureWakesFired",
  "needsAttentionSealFailures",
  "deliveryCheckpointWriteFailures",
  "explicitRetries",
  "dropped",
] as const;

const LEASE = ["held", "lost"] as const;
const PARKED = ["retained", "reused", "discarded", "held"] as const;
const MEMO = ["hits", "misses", "inflight"] as const;
// `landing` is not of the seed: answers that have come and are not readable yet (a gauge).
const OUTBOX = ["queued", "completed", "failed", "budgetDeferrals", "landing"] as const;

type Counts<K extends string> = Record<K, number>;

function zeros<K extends string>(names: readonly K[]): Counts<K> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Counts<K>;
}

/**
 * The counters of one space over the life of its host, by the names of seed 001 §7. Those of parts
 * that do not exist yet stand at zero; nothing here is decided by.
 */
export class SpaceStats {
  readonly counts: Counts<(typeof TOP)[number]> = zeros(TOP);
  readonly demand = zeros(DEMAND);
  readonly events = zeros(EVENTS);
  readonly lease = zeros(LEASE);
  readonly parkedRuntimes = zeros(PARKED);
  readonly memo = zeros(MEMO);
  readonly outbox = zeros(OUTBOX);
  readonly settle = new Series<SettleSample>();
  readonly advances = new Series<AdvanceSample>();
  readonly settleAdvances = { count: 0, lastDelta: 0 };
  /** Authored commits up to it have been counted, by whatever tenure. No counter itself. */
  seenThrough = 0 as Seq;

  /** The counters as a plain object. */
  snapshot(): SpaceStatsSnapshot {
    return {
      ...this.counts,
      demand: { ...this.demand },
      events: {
        ...this.events,
        needsAttention: { total: 0, byPhase: {} },
      },
      lease: { ...this.lease },
      parkedRuntimes: { ...this.parkedRuntimes },
      memo: { ...this.memo },
      outbox: { ...this.outbox },
      settle: { series: this.settle.entries, dropped: this.settle.dropped },
      settleAdvances: {
        ...this.settleAdvances,
        series: this.advances.entries,
        dropped: this.advances.dropped,
      },
    };
  }
}

/** {@link SpaceStats.snapshot}. */
export interface SpaceStatsSnapshot extends Counts<(typeof TOP)[number]> {
  readonly demand: Counts<(typeof DEMAND)[number]>;
  readonly events: Counts<(typeof EVENTS)[number]> & {
    readonly needsAttention: {
      readonly total: number;
      readonly byPhase: Readonly<Record<string, number>>;
    };
  };
  readonly lease: Counts<(typeof LEASE)[number]>;
  readonly parkedRuntimes: Counts<(typeof PARKED)[number]>;
  readonly memo: Counts<(typeof MEMO)[number]>;
  readonly outbox: Counts<(typeof OUTBOX)[number]>;
  readonly settle: { readonly series: readonly SettleSample[]; readonly dropped: number };
  readonly settleAdvances: {
    readonly count: number;
    readonly lastDelta: number;
    readonly series: readonly AdvanceSample[];
    readonly dropped: number;
  };
}
