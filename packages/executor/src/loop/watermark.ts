import type { Seq } from "@tidemark/protocol";

/** What the loop knows of its coverage. Immutable: each step returns the next state. */
export interface Coverage {
  /** W: the highest seq whose derived consequences are committed (seed 001 §3). */
  readonly watermark: Seq;
  /** Highest seq applied that is not this tenure's own derived commit. */
  readonly input: Seq;
  /** Highest seq applied at the last frame barrier, own commits included. */
  readonly applied: Seq;
  /** A batch head that an idle scheduler proved, not yet covered by W. */
  readonly proven: Seq;
  /** Own derived seqs above W, ascending. */
  readonly tail: readonly Seq[];
  /** Set by a content-carrying own commit, consumed by the drain-settle advance. */
  readonly owesAdvance: boolean;
}

const ZERO = 0 as Seq;

/** A commit that an activation finds above the stored watermark. */
export interface StandingCommit {
  readonly seq: Seq;
  /** Committed by some tenure's loop, as opposed to being input. */
  readonly derived: boolean;
  /** Carries more than the watermark document. */
  readonly content: boolean;
}

/**
 * The state of a tenure that begins over a store with W at `watermark`. Input above W is covered by
 * the first quiet cycle; a predecessor's derived tail is this tenure's to cover, as its own would be.
 */
export function openCoverage(
  watermark: Seq,
  head: Seq,
  standing: readonly StandingCommit[],
): Coverage {
  const inputs = standing.filter((commit) => !commit.derived).map((commit) => commit.seq);
  const tail = standing.filter((commit) => commit.derived);
  return {
    watermark,
    input: max(watermark, inputs.at(-1) ?? ZERO),
    applied: head,
    proven: ZERO,
    tail: tail.map((commit) => commit.seq),
    owesAdvance: tail.some((commit) => commit.content),
  };
}

/** A frame barrier applied one commit. */
export function applyCommit(coverage: Coverage, seq: Seq, own: boolean): Coverage {
  return {
    ...coverage,
    applied: max(coverage.applied, seq),
    input: own ? coverage.input : max(coverage.input, seq),
  };
}

/** An idle scheduler at this moment proves what the last barrier applied. */
export function proveIdle(coverage: Coverage, floor: Seq | undefined): Coverage {
  const head = floor === undefined ? coverage.input : min(coverage.input, below(floor));
  return { ...coverage, proven: max(coverage.proven, head) };
}

/** A wave that aborted withdrew consequences that the proof would count. */
export function discardProof(coverage: Coverage): Coverage {
  return { ...coverage, proven: ZERO };
}

/** Where W may go with the wave that is about to commit: never back. */
export function nextWatermark(coverage: Coverage): Seq {
  return max(coverage.watermark, coverage.proven);
}

/** Somebody else's tenure moved W to `watermark`: what it covered is covered. */
export function raiseWatermark(coverage: Coverage, watermark: Seq): Coverage {
  return {
    ...coverage,
    watermark: max(coverage.watermark, watermark),
    tail: coverage.tail.filter((seq) => seq > watermark),
  };
}

/** An own derived commit landed at `seq`, with W at `watermark`. */
export function landOwn(
  coverage: Coverage,
  landed: { readonly seq: Seq; readonly watermark: Seq; readonly content: boolean },
): Coverage {
  const watermark = max(coverage.watermark, landed.watermark);
  return {
    ...coverage,
    watermark,
    tail: [...coverage.tail, landed.seq].filter((seq) => seq > watermark),
    owesAdvance: coverage.owesAdvance || landed.content,
  };
}

/**
 * The drain-settle advance (seed 001 §3): at true quiescence W takes in the own derived tail that
 * stands contiguously above it. `undefined`: none is owed, or there is none to cover.
 */
export function settleAdvance(coverage: Coverage): Seq | undefined {
  if (!coverage.owesAdvance) return undefined;
  let reached = coverage.watermark;
  for (const seq of coverage.tail) {
    // A seq that is not this tenure's stands between: its coverage arrives input-driven.
    if (seq !== reached + 1) break;
    reached = seq;
  }
  return reached > coverage.watermark ? reached : undefined;
}

/**
 * The advance committed at `seq`: its own commit is never chased, and stands in nobody's way. An answer
 * from outside that lands behind it has nothing but own commits below it.
 */
export function consumeAdvance(coverage: Coverage, advanced: Seq, seq: Seq): Coverage {
  return {
    ...coverage,
    watermark: max(coverage.watermark, advanced),
    tail: [...coverage.tail.filter((own) => own > advanced), seq],
    owesAdvance: false,
  };
}

function max(a: Seq, b: Seq): Seq {
  return a > b ? a : b;
}

function min(a: Seq, b: Seq): Seq {
  return a < b ? a : b;
}

function below(seq: Seq): Seq {
  return (seq - 1) as Seq;
}
