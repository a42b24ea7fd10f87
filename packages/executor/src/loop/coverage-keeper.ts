import type { AcceptedCommit, Clock, Seq, SpaceId } from "@tidemark/protocol";
import type { SettleSample, SpaceStats } from "../stats/counters.js";
import {
  applyCommit,
  clampProof,
  consumeAdvance,
  discardProof,
  landOwn,
  nextWatermark,
  openCoverage,
  proveIdle,
  raiseWatermark,
  settleAdvance,
  type Coverage,
} from "./watermark.js";

/** Inputs that wait to be covered and are remembered one by one; more are covered all the same. */
const MAX_WAITING = 4_096;

interface WaitingInput {
  readonly seq: Seq;
  readonly since: number;
  readonly cycles: number;
  readonly waves: number;
}

interface Covered {
  readonly sample: SettleSample;
  readonly since: number;
}

/** Whether a commit carries more than the watermark document and basis rows (R8). */
export function hasContent(commit: AcceptedCommit): boolean {
  const own = commit.watermark === undefined ? 0 : 1;
  return commit.appends.length > 0 || commit.marks.length > 0 || commit.changes.length > own;
}

/** Holds the coverage of a tenure and measures how long inputs wait for it. */
export class CoverageKeeper {
  readonly #space: SpaceId;
  readonly #clock: Clock;
  readonly #stats: SpaceStats;
  #coverage: Coverage;
  #waiting: WaitingInput[] = [];
  /** The input covered last. */
  #last: Covered | undefined;
  /** The input after whose coverage a push made demand grow; its landing is the next derived commit. */
  #grown: Covered | undefined;
  #owesProof = false;
  /** Cycles of this tenure so far. */
  cycles = 0;

  constructor(
    space: SpaceId,
    clock: Clock,
    stats: SpaceStats,
    store: {
      readonly watermark: Seq;
      readonly head: Seq;
      /** What stands above W and that history has lost: input, for all that anybody can say. */
      readonly lost?: Seq | undefined;
      readonly standing: readonly AcceptedCommit[];
    },
  ) {
    this.#space = space;
    this.#clock = clock;
    this.#stats = stats;
    const standing = store.standing.map((commit) => ({
      seq: commit.seq,
      derived: commit.class === "derived",
      content: hasContent(commit),
    }));
    const lost =
      store.lost === undefined ? [] : [{ seq: store.lost, derived: false, content: false }];
    this.#coverage = openCoverage(store.watermark, store.head, [...lost, ...standing]);
    for (const commit of store.standing) this.#see(commit);
    this.#gauge();
  }

  get watermark(): Seq {
    return this.#coverage.watermark;
  }

  /** Where W goes with the next wave; equal to the watermark where nothing is proven. */
  get next(): Seq {
    return nextWatermark(this.#coverage);
  }

  /** Highest seq taken in that is not this tenure's own. */
  get input(): Seq {
    return this.#coverage.input;
  }

  /** What a drain-settle advance would cover now. */
  get advance(): Seq | undefined {
    return settleAdvance(this.#coverage);
  }

  /** The feed told of a commit: an input waits from here on, whenever a barrier takes it in (seed 001 §7). */
  admitted({ class: kind, seq }: AcceptedCommit): void {
    if (kind !== "authored" || this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push({
      seq,
      since: this.#clock.monotonic(),
      cycles: this.cycles,
      waves: this.#stats.counts.waves,
    });
  }

  applied(commit: AcceptedCommit, own: boolean): void {
    this.#coverage = applyCommit(this.#coverage, commit.seq, own);
    this.#see(commit);
    this.#gauge();
  }

  idle(floor: Seq | undefined): void {
    this.#coverage = proveIdle(this.#coverage, floor);
  }

  /** What holds W back as its wave closes holds back what was proven before, too. */
  clamp(floor: Seq | undefined): void {
    this.#coverage = clampProof(this.#coverage, floor);
  }

  aborted(): void {
    this.#coverage = discardProof(this.#coverage);
    this.#owesProof = true;
  }

  /** True once after a proof was discarded: what gave it back may arm nothing, and W must go on all the same. */
  takeOwedProof(): boolean {
    const owed = this.#owesProof;
    this.#owesProof = false;
    return owed;
  }

  /** The lease came back after a lapse: whoever held it meanwhile may have moved W. */
  resume(watermark: Seq): void {
    if (watermark <= this.#coverage.watermark) return;
    this.#coverage = raiseWatermark(this.#coverage, watermark);
    this.#covered();
  }

  /** The tenure ends: what it had proven and not committed is its successor's to prove (seed 001 §3). */
  leave(): void {
    this.#coverage = discardProof(this.#coverage);
  }

  /** A push made demand grow: what the input covered last wrote reaches further (seed 001 §7, adjacency). */
  grew(): void {
    this.#grown = this.#last;
  }

  landed(commit: AcceptedCommit): void {
    if (hasContent(commit)) this.#landGrowth();
    const watermark = commit.watermark ?? this.#coverage.watermark;
    this.#coverage = landOwn(this.#coverage, {
      seq: commit.seq,
      watermark,
      content: hasContent(commit),
    });
    this.#covered();
  }

  advanced(commit: AcceptedCommit, to: Seq): void {
    const from = this.#coverage.watermark;
    this.#coverage = consumeAdvance(this.#coverage, to, commit.seq);
    const { settleAdvances, advances } = this.#stats;
    settleAdvances.count += 1;
    settleAdvances.lastDelta = to - from;
    advances.push({ space: this.#space, from, to, at: commit.at });
    this.#covered();
  }

  /** Input that an activation finds is seen as what a barrier brings; what a tenure before it saw is not seen again. */
  #see({ class: kind, seq, appends }: AcceptedCommit): void {
    const stats = this.#stats;
    if (kind !== "authored" || seq <= stats.seenThrough) return;
    stats.seenThrough = seq;
    stats.counts.authoredSeen += 1;
    stats.events.appended += appends.length;
  }

  #landGrowth(): void {
    const grown = this.#grown;
    this.#grown = undefined;
    if (grown === undefined) return;
    const landedMs = this.#clock.monotonic() - grown.since;
    const { sample } = grown;
    this.#stats.settle.amend(sample, { ...sample, class: "structural-growth", landedMs });
  }

  #covered(): void {
    const now = this.#clock.monotonic();
    const { watermark } = this.#coverage;
    this.#waiting = this.#waiting.filter((input) => {
      if (input.seq > watermark) return true;
      const sample: SettleSample = {
        space: this.#space,
        seq: input.seq,
        ms: now - input.since,
        cycles: this.cycles - input.cycles,
        waves: this.#stats.counts.waves - input.waves,
        class: "value-only",
      };
      this.#stats.settle.push(sample);
      this.#last = { sample, since: input.since };
      return false;
    });
    this.#gauge();
  }

  #gauge(): void {
    const { input, watermark } = this.#coverage;
    this.#stats.counts.watermarkLag = Math.max(0, input - watermark);
  }
}
