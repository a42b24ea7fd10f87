import type { ServingStats } from "@tidemark/executor";

/** The paths of the numbers in a tree of counters. Lists, and tables whose keys are data, have none. */
type FigurePath<T, Prefix extends string = ""> = {
  [K in keyof T & string]: T[K] extends number
    ? `${Prefix}${K}`
    : T[K] extends readonly unknown[]
      ? never
      : string extends keyof T[K]
        ? never
        : FigurePath<T[K], `${Prefix}${K}.`>;
}[keyof T & string];

/** What a figure is to a reader of metrics. */
export interface Figure {
  /** `counter`: grows until the process ends. `gauge`: may fall. */
  readonly type: "counter" | "gauge";
  readonly help: string;
}

const counter = (help: string): Figure => ({ type: "counter", help });
const gauge = (help: string): Figure => ({ type: "gauge", help });

/**
 * Every figure of `servingLoop`: the meanings are those of seed 001 §7. A counter that is added there does not compile
 * here until it is said what it is.
 */
export const SERVING_FIGURES: Readonly<Record<FigurePath<Required<ServingStats>>, Figure>> = {
  activeSpaces: gauge("Spaces whose loop runs in this process."),
  waves: counter("Waves closed, those that aborted or held nothing included."),
  wavesBudgetExhausted: counter(
    "Cycles cut by the flush deadline or the pass budget, committed or not.",
  ),
  exhaustedAdvances: counter("Cut cycles whose committed wave still moved the watermark."),
  supersededWrites: counter(
    "Derived writes dropped because somebody wrote the document meanwhile.",
  ),
  authoredSeen: counter("Authored commits that the loops took as input."),
  effectAcks: counter("Acknowledgements of effects that clients enacted."),
  derivedCommits: counter("Derived commits, those of waves and of effects' answers."),
  structureLoadFailures: counter("Loads of demanded structure that threw."),
  structureLoadDeferred: counter("Loads of demanded structure that could not land yet."),
  structureLoadStuck: counter("Roots whose deferrals in a row crossed the threshold."),
  structureLoadTerminal: counter("Roots parked because no piece stands behind them."),
  structureLoadConfirmationsSkipped: counter(
    "Second looks at such a root that the store's answer made needless.",
  ),
  structureLoadRearmed: counter("Parked roots that a commit armed again."),
  watermarkClamped: counter("Settled cycles whose watermark a hidden foreign write held back."),
  storeReads: counter("Reads of the store for documents that a serving replica did not hold."),
  storeRefreshes: counter("Held documents that were read anew from the store."),
  unstampedSealRefusals: counter(
    "Writing transactions refused for want of a run context: a fault.",
  ),
  foreignWriteRefusals: counter("Writes and sends to other spaces that were refused."),
  foreignEngineFailures: counter("Stores of other spaces that could not be opened for a commit."),
  warmRequests: counter("Explicit requests to serve a space that nobody watches."),
  watermarkLag: gauge("Seqs of input that the watermark does not cover yet."),
  demandArrivals: counter("Runs armed because somebody new demands a root."),
  undemandedNarrowingRuns: counter("Runs that narrowed without anybody's demand."),
  earlyEmitRefusals: counter("Emissions refused because their run had not begun its events."),
  handlersOverBudget: counter("Handlers that did not end within their budget and were given up."),
  disposeTimeouts: counter("Disposals of runtimes that were abandoned at their deadline."),
  receiptCollisions: counter("Events that ended though their receipt had been written already."),
  lifecycleVerbs: counter("Lifecycle verbs that settled."),
  directCommits: counter("Commits of lifecycle verbs beside a wave."),

  "demand.demandedRows": gauge("Instances that sessions track, counted once a session."),
  "demand.demandedInstances": gauge("Distinct instances that sessions track."),
  "demand.demandedInstancesMax": gauge("The most distinct instances tracked at one time."),
  "demand.demandedPairs": gauge("Pairs of an instance and who demands it."),
  "demand.demandedWriters": gauge("Writers that hold demand now."),
  "demand.demandedWritersMax": gauge("The most writers that held demand at one time."),
  "demand.demandRootEnters": counter("Writers that began to hold demand."),
  "demand.demandRootLeaves": counter("Writers that ceased to hold demand."),
  "demand.notCurrentRearms": counter("Writers armed because they were not current for a demander."),
  "demand.demandPasses": counter("Passes over the demand."),
  "demand.demandPassMs": counter("Wall time of the passes over the demand, loads included."),
  "demand.demandKeysReconciled": counter("Instances that the passes compared."),
  "demand.structureRootsPreloaded": counter("Root documents that the passes asked for."),
  "demand.pushGrowthWakes": counter("Notices that a push made a tracked set grow."),
  "demand.watchWakes": counter("Notices that a session's watches changed."),
  "demand.warmWakes": counter("Notices of staged instances by warm requests."),

  "events.appended": counter("Events that clients appended."),
  "events.processed": counter("Deliveries whose consequence committed."),
  "events.coalescedPerWaveMax": gauge("The most events that one wave carried."),
  "events.skippedIdempotent": counter("Duplicates of consumed events that were passed over."),
  "events.drainInFlightSkips": counter("Entries met again while their copy was in flight."),
  "events.visibilityBarriers": counter("Attempts to make lagging entries visible to a replica."),
  "events.visibilityRecoveries": counter("Entries that such attempts made visible."),
  "events.visibilityDeferrals": counter("Scans that stopped at an entry still not visible."),
  "events.deferredRescansArmed": counter("Backstops that a deferral armed."),
  "events.deferredRescansFired": counter("Backstops that fired."),
  "events.lt1LeftoversPurged": counter(
    "Unrun copies within the space that the deadline took back.",
  ),
  "events.lt1LateSealsRefused": counter("Copies within the space that sealed after their wave."),
  "events.orphanDeliveriesRefused": counter("Events withdrawn because no entry stood behind them."),
  "events.handlerNotRunDeferrals": counter("Deliveries whose body did not run, and that wait."),
  "events.arrivalHeldDeferrals": counter("Entries held behind an earlier one of their space."),
  "events.loadParkDeferrals": counter("Entries waiting for a load, with those behind a held one."),
  "events.loadParkFailures": counter("Entries whose required load failed."),
  "events.deliveryDeferralsActive": gauge("Entries whose delivery waits under a checkpoint."),
  "events.deliveryFailuresActive": gauge("Entries whose delivery stands as failed."),
  "events.maxAccumulatedDeliveryFailureMs": gauge(
    "The longest failure time that an unresolved entry has gathered.",
  ),
  "events.deliveryFailureWakesArmed": counter("Wakes armed at the end of a failure budget."),
  "events.deliveryFailureWakesFired": counter("Such wakes that fired."),
  "events.needsAttention.total": counter("Events that ended in a notice for a person."),
  "events.needsAttentionSealFailures": counter("Attempts to seal such a notice that failed."),
  "events.deliveryCheckpointWriteFailures": counter("Checkpoints of deliveries not written."),
  "events.explicitRetries": counter("Retries that a person asked for."),
  "events.dropped": counter("Events that nothing could run, dropped with a notice."),

  "memo.hits": counter("Runs of effectful nodes that found their answer stored."),
  "memo.misses": counter("Runs of effectful nodes that asked for an answer."),
  "memo.inflight": gauge("Requests of effects under way."),
  "outbox.queued": counter("Requests of effects taken into the outbox."),
  "outbox.completed": counter("Requests of effects that were answered."),
  "outbox.failed": counter("Requests of effects that ended in an error."),
  "outbox.budgetDeferrals": counter("Dispatches held back by a budget."),
  "outbox.landing": gauge("Answers that have come and are not readable yet."),

  "lease.held": gauge("Leases that this process holds."),
  "lease.lost": counter("Leases that this process lost while it served."),
  "parkedRuntimes.retained": counter("Runtimes that idle parks kept."),
  "parkedRuntimes.reused": counter("Kept runtimes that a later tenure served with."),
  "parkedRuntimes.discarded": counter("Kept runtimes that were disposed unused."),
  "parkedRuntimes.held": gauge("Runtimes kept now."),
  "push.prioritizedSessions": counter("Sessions served first in flushes that had both kinds."),
  "push.followerSessions": counter("Sessions served after them in those flushes."),
  "push.mixedFlushes": counter("Flushes that had sessions of both kinds."),

  "settle.dropped": counter("Settle times that fell out of the bounded series."),
  "settleAdvances.count": counter("Advances of the watermark over a quiet space's own tail."),
  "settleAdvances.lastDelta": gauge("Seqs that the last such advance took in."),
  "settleAdvances.dropped": counter("Advances that fell out of the bounded series."),
};
