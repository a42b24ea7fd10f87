import type { Subscription } from "@tidemark/memory-engine";
import type { AcceptedCommit, EventId, Seq } from "@tidemark/protocol";
import { Runtime } from "@tidemark/runtime";
import { Cascade } from "../drain/cascade.js";
import { Deliveries } from "../drain/delivery.js";
import { Drain } from "../drain/drain.js";
import type { EffectOutbox } from "../effects/outbox.js";
import { VerbStep } from "../lifecycle/verb-step.js";
import { CommitStep } from "../loop/commit-step.js";
import { CoverageKeeper } from "../loop/coverage-keeper.js";
import { DemandPass } from "../loop/demand-pass.js";
import { Inbox } from "../loop/inbox.js";
import { gateOf, ServingLoop } from "../loop/loop.js";
import type { BasisRecovery } from "../recovery/basis-recovery.js";
import { readStart } from "../recovery/read-start.js";
import { ServingScheduler } from "../recovery/serving-scheduler.js";
import type { LoadAnswer, LoadNews } from "../replica/loads.js";
import { Replica, type ReadThrough } from "../replica/replica.js";
import { ServingView } from "../replica/serving-view.js";
import { WaveAccumulator } from "../wave/accumulator.js";
import { WaveSeal } from "../wave/wave-seal.js";
import type { OwnTenure } from "../wave/store-view.js";
import { TenureBinding, type TenureHooks } from "./binding.js";
import { buildEffects } from "./build-effects.js";
import { Pieces } from "./pieces.js";
import { StructureLoads } from "./structure-loads.js";
import type { TenureOptions } from "./tenure-options.js";

/**
 * The working parts of a tenure, wired. It reads the store at one moment and builds everything that
 * serves it (seed 001 §3, on activate); the parts reach each other through it, and only when they run.
 * After an idle park they may serve the space's next tenure as they stand (§1, Parking).
 */
export class TenureParts {
  readonly scheduler: ServingScheduler;
  readonly replica: Replica;
  readonly accumulator: WaveAccumulator;
  readonly coverage: CoverageKeeper;
  readonly inbox: Inbox;
  readonly structure: StructureLoads;
  readonly deliveries: Deliveries;
  readonly cascade: Cascade;
  readonly drain: Drain;
  readonly effects: EffectOutbox;
  readonly verbs: VerbStep;
  readonly commits: CommitStep;
  readonly runtime: Runtime;
  readonly demand: DemandPass;
  readonly loop: ServingLoop;
  /** Which tenure serves with them. */
  readonly binding = new TenureBinding();
  readonly #options: TenureOptions;
  readonly #view: ServingView;
  readonly #own: OwnTenure;
  readonly #pass: ReturnType<typeof gateOf>;
  #news: Subscription | undefined;

  constructor(options: TenureOptions) {
    this.#options = options;
    const { served, holder, stats, clock, gates } = options;
    const { space } = served;
    const start = served.engine.view(() => readStart(served));
    this.#pass = gateOf(gates, space);
    this.scheduler = this.#buildScheduler();
    this.replica = this.#buildReplica(start.head);
    this.accumulator = new WaveAccumulator(this.replica);
    this.#own = { holder, since: start.head, direct: this.accumulator.direct };
    this.#view = new ServingView(space, this.accumulator.view, (key) => this.replica.missing(key));
    this.coverage = new CoverageKeeper(space, clock, stats, start);
    this.inbox = new Inbox(served, (commit) => this.#admitted(commit));
    this.structure = this.#buildStructure();
    this.deliveries = this.#buildDeliveries();
    this.cascade = this.#buildCascade();
    this.drain = this.#buildDrain();
    this.effects = buildEffects(this, options, this.#pass);
    this.verbs = this.#buildVerbs();
    this.commits = this.#buildCommits();
    this.runtime = this.#buildRuntime(start.recovery);
    this.demand = this.#buildDemand();
    this.loop = this.#buildLoop();
  }

  /** A tenure begins to serve with them: it looks for every pending event and at all demand. */
  enter(tenure: TenureHooks): void {
    this.binding.bind(tenure);
    this.drain.reopen();
    this.effects.open();
    this.inbox.open(this.replica.seq);
    const { loads, served } = this.#options;
    this.#news = loads.watch(served.space, (news) => this.news(news));
  }

  /** Whether they hold an idle state over the store's head, and nothing that only this tenure can end. */
  get atRest(): boolean {
    const { scheduler, accumulator, inbox, drain, deliveries, commits, replica, binding } = this;
    return (
      !binding.tainted &&
      !this.effects.abandoned &&
      !scheduler.busy() &&
      scheduler.stats.backingOff === 0 &&
      accumulator.open.isEmpty &&
      accumulator.layers === 0 &&
      inbox.isEmpty &&
      drain.isEmpty &&
      !deliveries.bodyRunning &&
      commits.committing === undefined &&
      replica.isComplete &&
      replica.seq === this.#options.served.engine.head()
    );
  }

  /** Whether a lapse of the lease aborts something: a wave, a commit or a delivery has begun (§2). */
  get uncommitted(): boolean {
    const { accumulator, commits, deliveries } = this;
    return (
      accumulator.layers > 0 ||
      !accumulator.open.isEmpty ||
      commits.committing !== undefined ||
      deliveries.engaged
    );
  }

  /** The lease lapsed and is held again: the store is asked afresh what is pending and covered. */
  resume(): void {
    this.drain.restart();
    this.coverage.resume(this.#options.served.engine.watermark());
  }

  /** The tenure ends: its subscriptions, timers and demand go, and the terminal verdicts that came with it. */
  leave(): void {
    this.inbox.close();
    this.#news?.close();
    this.drain.close();
    this.effects.close();
    this.demand.leave();
    this.structure.clear();
    this.coverage.leave();
  }

  /** Loads came to be useless, or ones that had failed would succeed now (R25). */
  news({ kind, keys }: LoadNews): void {
    if (kind === "forgotten") return this.replica.forget(keys);
    const waited = keys.filter((key) => this.replica.missing(key) !== undefined);
    if (waited.length === 0) return;
    this.replica.forget(waited);
    this.runtime.arrived(waited);
    for (const key of waited) this.scheduler.rearmReaders(key);
    this.structure.settled(waited);
    this.drain.arm();
    this.verbs.arm();
    this.binding.wake();
  }

  /** Whether a commit is one of this tenure's own (seed 001 §3, self-echo). */
  isOwn(commit: AcceptedCommit): boolean {
    const { holder, since } = this.#own;
    return commit.class === "derived" && commit.holder === holder && commit.seq > since;
  }

  #admitted(commit: AcceptedCommit): void {
    this.coverage.admitted(commit);
    this.drain.admitted(commit);
    this.binding.wake();
  }

  #buildScheduler(): ServingScheduler {
    const { clock, policy, report, served } = this.#options;
    return new ServingScheduler({
      clock,
      sliceMs: policy.yieldSliceMs,
      passBudget: policy.passBudget,
      yielding: true,
      onYield: this.binding.onYield,
      onWork: this.binding.wake,
      report: (told) => report({ kind: "scheduler", space: served.space, report: told }),
    });
  }

  #buildReplica(seq: Seq): Replica {
    const { served, policy, loads } = this.#options;
    return new Replica({
      engine: served.engine,
      seq,
      maxDocuments: policy.replicaMaxDocuments,
      isRead: (key) => this.scheduler.isRead(key),
      isOwn: (commit) => this.isOwn(commit),
      ...(policy.storeReadThrough ? { through: this.#readThrough() } : {}),
      onTake: this.binding.took,
      load: (key, read) => loads.load(served.space, key, read),
    });
  }

  #readThrough(): ReadThrough {
    const { counts } = this.#options.stats;
    return {
      mayRead: this.binding.leaseLives,
      onRead: (again) => {
        if (again) counts.storeRefreshes += 1;
        else counts.storeReads += 1;
      },
    };
  }

  #buildStructure(): StructureLoads {
    const { served, stats, policy, report } = this.#options;
    const { space, engine } = served;
    const { view } = this.accumulator;
    return new StructureLoads({
      pieces: new Pieces({
        engine,
        view,
        failureOf: (key) => failureOf(this.replica.missing(key)),
        runtime: () => this.runtime,
      }),
      engine,
      replica: this.replica,
      view,
      stats,
      stuckAfter: policy.structureStuckAfter,
      reportFailure: (piece, error) => report({ kind: "piece-failed", space, piece, error }),
      reportStuck: (root, deferrals) => report({ kind: "structure-stuck", space, root, deferrals }),
    });
  }

  #buildDeliveries(): Deliveries {
    const { served, clock, policy, stats, report } = this.#options;
    const { space } = served;
    return new Deliveries({
      clock,
      handlerBudgetMs: policy.handlerBudgetMs,
      stats,
      accumulator: this.accumulator,
      view: this.#view,
      runtime: () => this.runtime,
      scheduler: this.scheduler,
      prepare: (stream) => this.structure.stream(stream),
      pass: this.#pass,
      committing: () => this.commits.committing,
      onSends: (contribution) => this.cascade.follow(contribution),
      checkAccess: (request) => {
        const verdict = served.checkAccess(request);
        return verdict.ok ? undefined : verdict.error;
      },
      live: this.binding.live,
      onEnd: this.binding.wake,
      reportSlow: (event, error) =>
        report({ kind: "handler-slow", space, event: event.eventId, error }),
    });
  }

  #buildCascade(): Cascade {
    return new Cascade({
      stats: this.#options.stats,
      accumulator: this.accumulator,
      queue: this.scheduler,
      holds: (stream) => this.drain.holds(stream),
      deliver: (event, copy) => this.deliveries.deliver(event, copy),
      reportFailure: (event, error) => this.#failed(event.eventId, error),
    });
  }

  #buildDrain(): Drain {
    const { served, clock, policy, stats } = this.#options;
    return new Drain({
      entries: served.engine.entries,
      clock,
      policy,
      stats,
      accumulator: this.accumulator,
      queue: this.scheduler,
      seq: () => this.replica.seq,
      catchUp: () => this.loop.catchUp(),
      prepare: (stream) => this.structure.stream(stream),
      isPending: (key) => this.replica.missing(key)?.state === "pending",
      deliver: (event) => this.deliveries.deliver(event),
      recall: () => this.deliveries.recall(),
      pass: this.#pass,
      live: this.binding.live,
      wake: this.binding.wake,
      reportFailure: (event, error) => this.#failed(event, error),
    });
  }

  #buildVerbs(): VerbStep {
    const { served, holder, stats, announce } = this.#options;
    return new VerbStep({
      served,
      holder,
      accumulator: this.accumulator,
      replica: this.replica,
      coverage: this.coverage,
      scheduler: this.scheduler,
      structure: this.structure,
      stats,
      pass: this.#pass,
      confirmLease: this.binding.confirmLease,
      announce,
    });
  }

  #buildCommits(): CommitStep {
    const { served, stats, policy, report } = this.#options;
    const { space } = served;
    return new CommitStep({
      served,
      own: this.#own,
      accumulator: this.accumulator,
      replica: this.replica,
      coverage: this.coverage,
      drain: this.drain,
      deliveries: this.deliveries,
      effects: this.effects,
      verbs: this.verbs,
      scheduler: this.scheduler,
      stats,
      waveMaxBytes: policy.waveMaxBytes,
      pass: this.#pass,
      leaseHeld: this.binding.live,
      confirmLease: this.binding.confirmLease,
      reportReceipt: (event, receipt) => report({ kind: "receipt-stands", space, event, receipt }),
    });
  }

  #buildRuntime(recovery: BasisRecovery): Runtime {
    const { served, patterns, clock, ids, stats, report } = this.#options;
    const { space } = served;
    const seal = new WaveSeal({
      space,
      accumulator: this.accumulator,
      stats,
      now: () => clock.now(),
      stage: (run) => this.deliveries.stage(run),
      onSends: (contribution) => this.cascade.follow(contribution),
      live: this.binding.live,
      onLate: this.binding.taint,
    });
    return new Runtime({
      space,
      patterns,
      scheduler: this.scheduler,
      view: this.#view,
      seal,
      posture: "serving",
      clock,
      ids,
      report: (told) => report({ kind: "runtime", space, report: told }),
      recovered: (action, scopeKey) => recovery.take(action, scopeKey),
      ensureOwner: (id) => this.structure.read(id),
    });
  }

  #buildDemand(): DemandPass {
    const { served, clock, policy, stats } = this.#options;
    return new DemandPass({
      served,
      scheduler: this.scheduler,
      structure: this.structure,
      clock,
      sliceMs: policy.yieldSliceMs,
      stats,
      staying: this.binding.staying,
    });
  }

  #buildLoop(): ServingLoop {
    const { served, clock, gates, policy, stats } = this.#options;
    return new ServingLoop({
      space: served.space,
      clock,
      gates,
      policy,
      stats,
      inbox: this.inbox,
      replica: this.replica,
      accumulator: this.accumulator,
      scheduler: this.scheduler,
      structure: this.structure,
      demand: this.demand,
      drain: this.drain,
      cascade: this.cascade,
      deliveries: this.deliveries,
      effects: this.effects,
      verbs: this.verbs,
      coverage: this.coverage,
      commits: this.commits,
      isOwn: (commit) => this.isOwn(commit),
      live: this.binding.live,
    });
  }

  #failed(event: EventId, error: unknown): void {
    const { report, served } = this.#options;
    report({ kind: "event-failed", space: served.space, event, error });
  }
}

function failureOf(answer: Exclude<LoadAnswer, { state: "held" }> | undefined): unknown {
  return answer?.state === "failed" ? answer.error : undefined;
}
