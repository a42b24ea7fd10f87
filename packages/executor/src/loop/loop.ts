import type {
  AcceptedCommit,
  Clock,
  EventId,
  GateName,
  Gates,
  Seq,
  SpaceId,
} from "@tidemark/protocol";
import type { Scheduler, SettleResult } from "@tidemark/scheduler";
import type { Cascade } from "../drain/cascade.js";
import type { Deliveries } from "../drain/delivery.js";
import type { Drain } from "../drain/drain.js";
import type { EffectOutbox } from "../effects/outbox.js";
import type { VerbStep } from "../lifecycle/verb-step.js";
import type { ServingPolicy } from "../policy.js";
import type { Replica } from "../replica/replica.js";
import type { SpaceStats } from "../stats/counters.js";
import type { StructureLoads } from "../tenure/structure-loads.js";
import type { WaveAccumulator } from "../wave/accumulator.js";
import { moveReplica } from "./barrier.js";
import type { CommitStep } from "./commit-step.js";
import type { CoverageKeeper } from "./coverage-keeper.js";
import type { DemandPass } from "./demand-pass.js";
import type { Inbox } from "./inbox.js";
import { Shadows } from "./shadows.js";
import { WaveTrace } from "./wave-trace.js";

/** The parts of a tenure that a cycle moves. */
export interface LoopParts {
  readonly space: SpaceId;
  readonly clock: Clock;
  readonly gates: Gates;
  readonly policy: ServingPolicy;
  readonly stats: SpaceStats;
  readonly inbox: Inbox;
  readonly replica: Replica;
  readonly accumulator: WaveAccumulator;
  readonly scheduler: Pick<Scheduler, "notify" | "settle" | "stats" | "inEvent" | "busy">;
  readonly structure: StructureLoads;
  readonly demand: DemandPass;
  readonly drain: Drain;
  readonly cascade: Cascade;
  readonly deliveries: Deliveries;
  readonly effects: EffectOutbox;
  readonly verbs: VerbStep;
  readonly coverage: CoverageKeeper;
  readonly commits: CommitStep;
  readonly isOwn: (commit: AcceptedCommit) => boolean;
  readonly live: () => boolean;
}

/** What a cycle leaves. */
export interface CycleEnd {
  /** There is more to do at once. */
  readonly again: boolean;
  /** At rest: nothing to derive, to deliver or to commit, and nothing that waits for time. */
  readonly atRest: boolean;
}

/**
 * The serving loop (seed 001 §3): barrier, verbs, demand, drain, settle, one commit. Input that arrives
 * meanwhile is the next cycle's.
 */
export class ServingLoop {
  readonly #parts: LoopParts;
  readonly #trace: WaveTrace;
  readonly #shadows: Shadows;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#trace = new WaveTrace(parts);
    this.#shadows = new Shadows(parts.accumulator.view);
  }

  async cycle(): Promise<CycleEnd> {
    const { drain, coverage, scheduler, clock, policy, stats, live } = this.#parts;
    coverage.cycles += 1;
    this.#trace.begin();
    this.#prove();
    await this.#barrier();
    await this.#answers();
    await this.#verbs();
    this.#trace.enter("demand");
    this.#parts.structure.retryOwed();
    const spent = await this.#load();
    this.#trace.enter("drain");
    await drain.scan();
    if (!live()) return { again: false, atRest: false };
    // The gates above may have held for any time: the deadline bounds the work.
    const deadlineAt = clock.monotonic() + policy.flushDeadlineMs - spent;
    this.#trace.enter("settle");
    const result = await scheduler.settle({ deadlineAt });
    this.#trace.settled(result.state);
    if (!live()) return { again: false, atRest: false };
    const quiet = this.#judge(result);
    const before = coverage.watermark;
    await this.#commit(quiet);
    this.#parts.verbs.settle();
    if (result.state !== "idle" && coverage.watermark > before) stats.counts.exhaustedAdvances += 1;
    // What the wave hid shows now, what it gave back is gone: another cycle proves what is left.
    const unproven = [this.#shadows.lift(), coverage.takeOwedProof()].includes(true);
    const again = unproven || this.#more();
    return { again, atRest: !again && this.#rests(quiet) };
  }

  /** A handler's body is running: the replica stands still. */
  get bodyRunning(): boolean {
    return this.#parts.deliveries.bodyRunning;
  }

  /** Moves the replica to the store now, unless a handler's body is in the middle of it (R25). */
  catchUp(): boolean {
    const { deliveries, inbox } = this.#parts;
    if (deliveries.bodyRunning) return false;
    inbox.refresh();
    return this.#apply(inbox.take());
  }

  /**
   * What ended since the last settle may have been all that its input was waiting for: an idle scheduler
   * proves it before newer input makes it busy again (seed 001 §3, prefix coverage).
   */
  #prove(): void {
    const { scheduler, deliveries, coverage } = this.#parts;
    if (scheduler.busy() || scheduler.stats.backingOff > 0 || deliveries.engaged) return;
    if (this.#loaded) coverage.idle(this.#floor);
  }

  async #barrier(): Promise<void> {
    const { gates, space, inbox, deliveries } = this.#parts;
    if (inbox.isEmpty || deliveries.bodyRunning) return;
    await gates.pass("feed:before-apply", { space });
    if (deliveries.bodyRunning || !this.#parts.live()) return;
    this.#apply(inbox.take());
  }

  /** Answers from outside land ahead of the wave that consumes them, and under no running body. */
  async #answers(): Promise<void> {
    const { effects, deliveries, live } = this.#parts;
    if (effects.due && live() && !deliveries.bodyRunning) await effects.land();
  }

  /** What was asked of the pieces runs ahead of the drain, and under no running body (seed 001 §1). */
  async #verbs(): Promise<void> {
    const { verbs, deliveries, live } = this.#parts;
    if (verbs.due && live() && !deliveries.bodyRunning) await verbs.run();
  }

  /** The demand pass, with half of the flush deadline at most. Returns the milliseconds that it took of it. */
  async #load(): Promise<number> {
    const { demand, clock, policy } = this.#parts;
    const share = policy.flushDeadlineMs / 2;
    const began = clock.monotonic();
    await demand.run(began + share);
    return Math.min(share, clock.monotonic() - began);
  }

  #apply(commits: readonly AcceptedCommit[]): boolean {
    if (commits.length === 0) return false;
    const { replica, accumulator, scheduler, structure, drain, coverage, isOwn } = this.#parts;
    const changes = moveReplica(replica, accumulator.view, commits, isOwn);
    scheduler.notify(changes, "external");
    for (const commit of commits) {
      const own = isOwn(commit);
      if (!own) this.#shadows.over(commit);
      coverage.applied(commit, own);
      drain.offer(commit);
    }
    structure.follow(commits);
    return true;
  }

  /** True quiescence, or an exhausted cycle (seed 001 §3). */
  #judge(result: SettleResult): boolean {
    const { scheduler, stats, cascade, coverage, deliveries } = this.#parts;
    const quiet = result.state === "idle" && scheduler.stats.backingOff === 0;
    if (result.state !== "idle") {
      stats.counts.wavesBudgetExhausted += 1;
      // Copies of this wave run in it or not at all; nothing runs between here and its close.
      cascade.purge();
    }
    if (result.state === "idle") this.#countClamp();
    if (!quiet || deliveries.bodyRunning) return false;
    if (this.#loaded) coverage.idle(this.#floor);
    return true;
  }

  #countClamp(): void {
    const { coverage, stats } = this.#parts;
    const { floor } = this.#shadows;
    if (floor === undefined || floor > coverage.input || coverage.input <= coverage.watermark)
      return;
    stats.counts.watermarkClamped += 1;
  }

  /** Nothing that is demanded waits for a load (seed 001 §3, prefix coverage). */
  get #loaded(): boolean {
    return !this.#parts.demand.isCut && this.#parts.replica.pending === 0;
  }

  /** W stays below the first input that is not visible, or that may have re-armed a root. */
  get #floor(): Seq | undefined {
    const { drain, structure } = this.#parts;
    let lowest: Seq | undefined;
    for (const floor of [drain.floor, structure.floor, this.#shadows.floor]) {
      if (floor !== undefined && (lowest === undefined || floor < lowest)) lowest = floor;
    }
    return lowest;
  }

  async #commit(quiet: boolean): Promise<void> {
    const { accumulator, coverage, commits, drain } = this.#parts;
    const { open } = accumulator;
    coverage.clamp(this.#floor);
    const advances = coverage.next > coverage.watermark;
    if (!open.isEmpty || advances) {
      // Rows alone are no reason to close a wave that is still being worked on.
      if (open.hasContent || advances || quiet) await commits.commit(coverage.next, this.#trace);
      return;
    }
    const settled = quiet && this.#loaded && drain.isEmpty;
    const advance = settled ? coverage.advance : undefined;
    if (advance !== undefined) await commits.advance(advance, this.#trace);
  }

  #more(): boolean {
    const { scheduler, inbox, demand, drain, deliveries, structure, effects, verbs } = this.#parts;
    const { queued, queuedEvents } = scheduler.stats;
    if (queued > 0 || (queuedEvents > 0 && !scheduler.inEvent())) return true;
    if (drain.isArmed || demand.isArmed || structure.due) return true;
    return (!inbox.isEmpty || effects.due || verbs.due) && !deliveries.bodyRunning;
  }

  #rests(quiet: boolean): boolean {
    const { scheduler, accumulator, drain, coverage, verbs } = this.#parts;
    return (
      quiet &&
      !scheduler.busy() &&
      accumulator.open.isEmpty &&
      drain.isEmpty &&
      verbs.isEmpty &&
      coverage.advance === undefined &&
      !this.#more()
    );
  }
}

/** A gate of one space, with the event that owns the operation. */
export function gateOf(gates: Gates, space: SpaceId) {
  return (name: GateName, event?: EventId): Promise<void> | undefined =>
    gates.pass(name, event === undefined ? { space } : { space, event });
}
