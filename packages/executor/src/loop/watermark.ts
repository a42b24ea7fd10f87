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
  /** Own derived commits above W, in the order of their seqs. */
  readonly tail: readonly OwnCommit[];
}

/** A derived commit of this space's loops. */
export interface OwnCommit {
  readonly seq: Seq;
  /** Carries more than the watermark document: an advance is owed until W takes it in. */
  readonly content: boolean;
}

const ZERO = 0 as Seq;

/** A commit that an activation finds above the stored watermark. */
export interface StandingCommit extends OwnCommit {
  /** Committed by some tenure's loop, as opposed to being input. */
  readonly derived: boolean;
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
    tail: tail.map(({ seq, content }) => ({ seq, content })),
  };
}

/** A frame barrier applied one commit. */
export function applyCommit(coverage: Coverage, seq: Seq, own: boolean): Coverage {
  const { watermark, proven, tail } = coverage;
  const input = own ? coverage.input : max(coverage.input, seq);
  return { watermark, input, applied: max(coverage.applied, seq), proven, tail };
}

/** An idle scheduler at this moment proves what the last barrier applied. */
export function proveIdle(coverage: Coverage, floor: Seq | undefined): Coverage {
  const head = floor === undefined ? coverage.input : min(coverage.input, below(floor));
  return { ...coverage, proven: max(coverage.proven, head) };
}

/** A floor that has come since the proof holds back what it had proven (seed 001 §3, prefix coverage). */
export function clampProof(coverage: Coverage, floor: Seq | undefined): Coverage {
  if (floor === undefined || coverage.proven < floor) return coverage;
  return { ...coverage, proven: below(floor) };
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
    tail: coverage.tail.filter(({ seq }) => seq > watermark),
  };
}

/** An own derived commit landed at `seq`, with W at `watermark`. */
export function landOwn(
  coverage: Coverage,
  landed: OwnCommit & { readonly watermark: Seq },
): Coverage {
  const watermark = max(coverage.watermark, landed.watermark);
  const { seq, content } = landed;
  const tail = [...coverage.tail, { seq, content }].filter((own) => own.seq > watermark);
  return { ...coverage, watermark, tail };
}

/**
 * The drain-settle advance (seed 001 §3): at true quiescence W takes in the own derived tail that
 * stands contiguously above it. `undefined`: none is owed, since nothing there has content.
 */
export function settleAdvance(coverage: Coverage): Seq | undefined {
  let reached = coverage.watermark;
  let owed = false;
  for (const { seq, content } of coverage.tail) {
    // A seq that is not this tenure's stands between: its coverage arrives input-driven.
    if (seq !== reached + 1) break;
    reached = seq;
    owed ||= content;
  }
  return owed ? reached : undefined;
}

/**
 * The advance committed at `seq`: its own commit is never chased, and stands in nobody's way. What landed
 * after its target was chosen is above it, and owes another.
 */
export function consumeAdvance(coverage: Coverage, advanced: Seq, seq: Seq): Coverage {
  const later = coverage.tail.filter((own) => own.seq > advanced);
  return {
    ...coverage,
    watermark: max(coverage.watermark, advanced),
    tail: [...later, { seq, content: false }],
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
