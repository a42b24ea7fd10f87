import type { ServedSpace } from "@tidemark/memory-engine";
import type {
  AcceptedCommit,
  Clock,
  EventId,
  Gates,
  HolderId,
  IdSource,
  Seq,
  SpaceId,
} from "@tidemark/protocol";
import { Runtime, type PatternRegistry, type RuntimeReport } from "@tidemark/runtime";
import type { SchedulerReport } from "@tidemark/scheduler";
import { Cascade } from "../drain/cascade.js";
import { Deliveries } from "../drain/delivery.js";
import { Drain } from "../drain/drain.js";
import { CommitStep } from "../loop/commit-step.js";
import { CoverageKeeper } from "../loop/coverage-keeper.js";
import { DemandPass } from "../loop/demand-pass.js";
import { Inbox } from "../loop/inbox.js";
import { gateOf, ServingLoop } from "../loop/loop.js";
import type { ServingPolicy } from "../policy.js";
import { BasisRecovery } from "../recovery/basis-recovery.js";
import { ServingScheduler } from "../recovery/serving-scheduler.js";
import { Replica } from "../replica/replica.js";
import { ServingView } from "../replica/serving-view.js";
import type { SpaceStats } from "../stats/counters.js";
import { WaveAccumulator } from "../wave/accumulator.js";
import { WaveSeal } from "../wave/wave-seal.js";
import type { OwnTenure } from "../wave/store-view.js";
import { Pieces } from "./pieces.js";

/** What a tenure tells whoever watches; nothing here is decided by. */
export type ServingReport =
  | { readonly kind: "scheduler"; readonly space: SpaceId; readonly report: SchedulerReport }
  | { readonly kind: "runtime"; readonly space: SpaceId; readonly report: RuntimeReport }
  | {
      readonly kind: "piece-failed";
      readonly space: SpaceId;
      readonly piece: string;
      readonly error: unknown;
    }
  | {
      readonly kind: "event-failed";
      readonly space: SpaceId;
      readonly event: EventId;
      readonly error: unknown;
    }
  | {
      readonly kind: "handler-slow";
      readonly space: SpaceId;
      readonly event: EventId;
      readonly error: unknown;
    }
  | { readonly kind: "tenure-failed"; readonly space: SpaceId; readonly error: unknown }
  | { readonly kind: "dispose-late"; readonly space: SpaceId; readonly afterMs: number };

/** What one tenure is built over. */
export interface TenureOptions {
  readonly served: ServedSpace;
  readonly holder: HolderId;
  readonly patterns: PatternRegistry;
  readonly clock: Clock;
  readonly gates: Gates;
  readonly ids: IdSource;
  readonly policy: ServingPolicy;
  readonly stats: SpaceStats;
  readonly report: (report: ServingReport) => void;
}

/** What the parts need of the tenure that owns them. */
export interface TenureHooks {
  readonly wake: () => void;
  readonly live: () => boolean;
  readonly onYield: () => void;
  readonly confirmLease: () => boolean;
}

/** The working parts of one tenure, wired. */
export interface TenureParts {
  readonly loop: ServingLoop;
  readonly inbox: Inbox;
  readonly demand: DemandPass;
  readonly drain: Drain;
  readonly scheduler: ServingScheduler;
  readonly runtime: Runtime;
  readonly replica: Replica;
  readonly accumulator: WaveAccumulator;
  readonly coverage: CoverageKeeper;
  readonly pieces: Pieces;
}

/** Reads the store at one moment and builds everything that serves it (seed 001 §3, on activate). */
export function buildParts(options: TenureOptions, hooks: TenureHooks): TenureParts {
  const { served, holder, stats, clock, policy, gates, report } = options;
  const { space, engine } = served;
  const start = engine.view(() => readStart(options));
  const own: OwnTenure = { holder, since: start.head };
  const isOwn = (commit: AcceptedCommit): boolean =>
    commit.class === "derived" && commit.holder === holder && commit.seq > own.since;
  const scheduler = new ServingScheduler({
    clock,
    sliceMs: policy.yieldSliceMs,
    passBudget: policy.passBudget,
    yielding: true,
    onYield: hooks.onYield,
    onWork: hooks.wake,
    report: (told) => report({ kind: "scheduler", space, report: told }),
  });
  const replica = new Replica({
    engine,
    seq: start.head,
    maxDocuments: policy.replicaMaxDocuments,
    isRead: (key) => scheduler.isRead(key),
    isOwn,
  });
  const accumulator = new WaveAccumulator(replica);
  const view = new ServingView(space, accumulator.view);
  const coverage = new CoverageKeeper(space, clock, stats, start);
  const inbox = new Inbox(served, hooks.wake);
  const pass = gateOf(gates, space);
  let parts: TenureParts | undefined;
  const runtimeOf = (): Runtime => must(parts).runtime;
  const pieces = new Pieces({
    engine,
    view: accumulator.view,
    runtime: runtimeOf,
    stats,
    report: (piece, error) => report({ kind: "piece-failed", space, piece, error }),
  });
  const deliveries = new Deliveries({
    clock,
    handlerBudgetMs: policy.handlerBudgetMs,
    stats,
    accumulator,
    view,
    runtime: runtimeOf,
    scheduler,
    prepare: (stream) => pieces.ensureStream(stream),
    pass,
    committing: () => commits.committing,
    onSends: (contribution) => cascade.follow(contribution),
    live: hooks.live,
    onEnd: hooks.wake,
    reportSlow: (event, error) =>
      report({ kind: "handler-slow", space, event: event.eventId, error }),
  });
  const failedEvent = (event: EventId, error: unknown): void =>
    report({ kind: "event-failed", space, event, error });
  const cascade = new Cascade({
    stats,
    accumulator,
    queue: scheduler,
    deliver: (event, copy) => deliveries.deliver(event, copy),
    reportFailure: (event, error) => failedEvent(event.eventId, error),
  });
  const drain = new Drain({
    entries: engine.entries,
    clock,
    policy,
    stats,
    accumulator,
    queue: scheduler,
    seq: () => replica.seq,
    catchUp: () => must(parts).loop.catchUp(),
    prepare: (stream) => pieces.ensureStream(stream),
    deliver: (event) => deliveries.deliver(event),
    recall: () => deliveries.recall(),
    pass,
    live: hooks.live,
    wake: hooks.wake,
    reportFailure: failedEvent,
  });
  const commits = new CommitStep({
    served,
    own,
    accumulator,
    replica,
    coverage,
    drain,
    deliveries,
    scheduler,
    stats,
    pass,
    leaseHeld: hooks.live,
    confirmLease: hooks.confirmLease,
  });
  const seal = new WaveSeal({
    space,
    accumulator,
    stats,
    now: () => clock.now(),
    stage: (run) => deliveries.stage(run),
    onSends: (contribution) => cascade.follow(contribution),
    live: hooks.live,
  });
  const recovery = start.recovery;
  const runtime = new Runtime({
    space,
    patterns: options.patterns,
    scheduler,
    view,
    seal,
    posture: "serving",
    clock,
    ids: options.ids,
    report: (told) => report({ kind: "runtime", space, report: told }),
    recovered: (action, scopeKey) => recovery.take(action, scopeKey),
    ensureOwner: (id) => pieces.ensureRoot(id),
  });
  const demand = new DemandPass({
    served,
    scheduler,
    pieces,
    clock,
    sliceMs: policy.yieldSliceMs,
    stats,
    live: hooks.live,
  });
  const loop = new ServingLoop({
    space,
    clock,
    gates,
    policy,
    stats,
    inbox,
    replica,
    accumulator,
    scheduler,
    pieces,
    demand,
    drain,
    cascade,
    deliveries,
    coverage,
    commits,
    isOwn,
    live: hooks.live,
  });
  parts = {
    loop,
    inbox,
    demand,
    drain,
    scheduler,
    runtime,
    replica,
    accumulator,
    coverage,
    pieces,
  };
  return parts;
}

/** What activation reads of the store: W, the head, what stands between, and the basis index (§6). */
function readStart({ served }: TenureOptions): {
  readonly watermark: Seq;
  readonly head: Seq;
  readonly standing: readonly AcceptedCommit[];
  readonly recovery: BasisRecovery;
} {
  const { engine, space } = served;
  const watermark = engine.watermark();
  return {
    watermark,
    head: engine.head(),
    standing: engine.commitsSince(watermark),
    recovery: new BasisRecovery({ space, basis: engine.basis }),
  };
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("a part was used before it was built");
  return value;
}
