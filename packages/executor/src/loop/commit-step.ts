import type { ServedSpace } from "@tidemark/memory-engine";
import {
  parseInstanceKey,
  type DocId,
  type EventId,
  type GateName,
  type Seq,
} from "@tidemark/protocol";
import type { Scheduler } from "@tidemark/scheduler";
import type { Deliveries } from "../drain/delivery.js";
import type { Drain } from "../drain/drain.js";
import type { EffectOutbox } from "../effects/outbox.js";
import type { VerbStep } from "../lifecycle/verb-step.js";
import type { SpaceStats } from "../stats/counters.js";
import { TenureEnd } from "../tenure/end.js";
import type { Settled, Wave, WaveAccumulator } from "../wave/accumulator.js";
import { commitWave, type WaveVerdict } from "../wave/commit-wave.js";
import type { Contribution } from "../wave/contribution.js";
import type { Reason, WavePlan } from "../wave/plan.js";
import type { OwnTenure } from "../wave/store-view.js";
import { AccessStep } from "./access-step.js";
import type { CoverageKeeper } from "./coverage-keeper.js";
import type { WaveTrace } from "./wave-trace.js";

/** What a {@link CommitStep} is made of. */
export interface CommitStepOptions {
  readonly served: ServedSpace;
  readonly own: OwnTenure;
  readonly accumulator: WaveAccumulator;
  readonly replica: { readonly seq: Seq };
  readonly coverage: CoverageKeeper;
  readonly drain: Drain;
  readonly deliveries: Deliveries;
  readonly effects: Pick<EffectOutbox, "take">;
  readonly verbs: Pick<VerbStep, "landed">;
  readonly scheduler: Pick<Scheduler, "notify" | "node" | "rearm">;
  readonly stats: SpaceStats;
  /** Bytes of operations past which a wave is split. */
  readonly waveMaxBytes: number;
  readonly pass: (gate: GateName, event?: EventId) => Promise<void> | undefined;
  /** Whether the lease is still believed in. */
  readonly leaseHeld: () => boolean;
  /** A derived commit was refused: the row itself is asked (seed 001 §2). */
  readonly confirmLease: () => boolean;
  /** An event ended whose receipt somebody had written: told, and nothing more (seed 000 §4). */
  readonly reportReceipt: (event: EventId, receipt: DocId) => void;
}

type Landed = Extract<WaveVerdict, { readonly ok: true }>;

/** Closes waves: one derived commit each, more past the bound (seed 001 §3). Any failure ends the tenure. */
export class CommitStep {
  readonly #options: CommitStepOptions;
  readonly #access: AccessStep;
  #committing: Promise<void> | undefined;

  constructor(options: CommitStepOptions) {
    this.#options = options;
    this.#access = new AccessStep(options);
  }

  /** The commit that is under way. */
  get committing(): Promise<void> | undefined {
    return this.#committing;
  }

  /** Commits the open wave, with W at `watermark`. @throws TenureEnd */
  commit(watermark: Seq, trace?: WaveTrace): Promise<void> {
    return this.#exclusive(() => this.#commit(watermark, trace));
  }

  /** Commits the drain-settle advance: W takes in the own derived tail. @throws TenureEnd */
  advance(to: Seq, trace?: WaveTrace): Promise<void> {
    return this.#exclusive(async () => {
      const landed = await this.#close(this.#options.accumulator.close(), to, trace);
      if (landed.commit !== undefined) this.#options.coverage.advanced(landed.commit, to);
    });
  }

  async #commit(watermark: Seq, trace?: WaveTrace): Promise<void> {
    const { accumulator, coverage } = this.#options;
    const before = coverage.watermark;
    const landed = await this.#close(accumulator.close(), watermark, trace);
    for (const commit of landed.commits) coverage.landed(commit);
    // Something was given back, whether or not anything was left to write.
    if (coverage.watermark === before && watermark > before) coverage.aborted();
  }

  async #close(wave: Wave, watermark: Seq, trace?: WaveTrace): Promise<Landed> {
    const { stats, accumulator } = this.#options;
    stats.counts.waves += 1;
    try {
      await this.#options.pass("wave:before-commit");
      if (!this.#options.leaseHeld()) throw new TenureEnd("lapse");
      const asked = this.#access.commit(wave.contributions);
      const refused = asked instanceof Promise ? await asked : asked;
      const verdict = this.#write(wave, watermark, refused);
      try {
        this.#told(wave, verdict);
        this.#options.verbs.landed(verdict);
        trace?.landed(wave.contributions, verdict);
        await this.#options.pass("wave:after-commit");
      } finally {
        // It is durable whatever happens to this tenure: held back, it would keep the space's frames for good.
        verdict.release();
      }
      // Another process's commits no feed tells of (R19): what lost to one would lose to it again and again.
      if (metUnseen(verdict.plan)) this.#options.served.refresh();
      this.#options.effects.take(wave.contributions, verdict.plan);
      return verdict;
    } catch (error) {
      accumulator.abort(wave);
      trace?.aborted(wave.contributions, error);
      throw error;
    }
  }

  #write(wave: Wave, watermark: Seq, refused: ReadonlyMap<number, Reason>): Landed {
    const { served, own, coverage, confirmLease, waveMaxBytes } = this.#options;
    const header = { from: coverage.watermark, to: watermark, maxBytes: waveMaxBytes };
    const verdict = commitWave(served, own, wave.contributions, header, refused);
    if (verdict.ok) return verdict;
    // A refused derived commit can be the first sign of a lapse (seed 001 §2).
    throw new TenureEnd(confirmLease() ? "failed" : "lapse", verdict.error);
  }

  /** The store has spoken: the view, the drain and the graph learn of it, before anybody else does. */
  #told(wave: Wave, { plan, commits, commit, places }: Landed): void {
    const { accumulator, replica, stats, deliveries, scheduler } = this.#options;
    stats.counts.derivedCommits += commits.length;
    const settled = accumulator.accept(wave, plan, commit?.seq ?? replica.seq, places);
    deliveries.taint(new Set(plan.fallen.keys()), this.#streamsTakenBack(wave, plan));
    scheduler.notify(settled.rollback, "rollback");
    this.#rearm(wave, plan, settled);
    this.#release(wave, plan);
    this.#count(wave, plan);
  }

  /** A withdrawn run's node is armed again, whatever its inputs now say, unless it has sealed anew (seed 001 §3d). */
  #rearm(wave: Wave, plan: WavePlan, settled: Settled): void {
    const gone = wave.contributions.filter(({ id }) => plan.fates.get(id)?.kind === "withdrawn");
    gone.push(...settled.withdrawn);
    if (gone.length === 0) return;
    const landed = wave.contributions.filter(({ id }) => plan.fates.get(id)?.kind === "lands");
    const newest = new Map<string, number>();
    for (const one of [...landed, ...this.#options.accumulator.open.contributions]) {
      if (one.kind === "derivation") newest.set(nodeOf(one), one.id);
    }
    for (const contribution of gone) {
      if ((newest.get(nodeOf(contribution)) ?? 0) < contribution.id) this.#rearmNode(contribution);
    }
  }

  #rearmNode(contribution: Contribution): void {
    if (contribution.kind !== "derivation") return;
    const { scheduler } = this.#options;
    const node = scheduler.node(contribution.action, contribution.instance);
    if (node !== undefined) scheduler.rearm(node);
  }

  #release(wave: Wave, plan: WavePlan): void {
    for (const contribution of wave.contributions) {
      this.#options.drain.settle(contribution, plan.fates.get(contribution.id));
    }
  }

  #streamsTakenBack(wave: Wave, plan: WavePlan): ReadonlySet<DocId> {
    const streams = new Set<DocId>();
    for (const { id, delivery } of wave.contributions) {
      if (delivery !== undefined && plan.fates.get(id)?.kind === "requeued") {
        streams.add(delivery.stream);
      }
    }
    return streams;
  }

  #count(wave: Wave, plan: WavePlan): void {
    const { events, counts } = this.#options.stats;
    let processed = 0;
    for (const { id, delivery } of wave.contributions) {
      const receipt = plan.standing.get(id);
      if (delivery !== undefined && receipt !== undefined) {
        counts.receiptCollisions += 1;
        this.#options.reportReceipt(delivery.eventId, parseInstanceKey(receipt).id);
      }
      if (delivery?.place === undefined || plan.fates.get(id)?.kind !== "lands") continue;
      if (delivery.duplicate === undefined) processed += 1;
      else events.skippedIdempotent += 1;
    }
    events.processed += processed;
    events.coalescedPerWaveMax = Math.max(events.coalescedPerWaveMax, processed);
    events.orphanDeliveriesRefused += plan.orphans;
    counts.supersededWrites += plan.supersededWrites;
  }

  async #exclusive(work: () => Promise<void>): Promise<void> {
    let done: () => void = () => undefined;
    this.#committing = new Promise((resolve) => {
      done = resolve;
    });
    try {
      await work();
    } finally {
      this.#committing = undefined;
      done();
    }
  }
}

function nodeOf({ action, instance }: Pick<Contribution, "action" | "instance">): string {
  return `${action} ${instance}`;
}

/** The store holds what the wave's replica had not seen: something fell to it, or was rebased over it. */
function metUnseen({ fates, lost, rebased }: WavePlan): boolean {
  if (lost.size > 0 || rebased.size > 0) return true;
  for (const fate of fates.values()) if (fate.kind !== "lands") return true;
  return false;
}
