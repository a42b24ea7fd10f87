/**
 * The rules that the model's steps keep. Each can be switched off: what then goes wrong must be found by the invariants,
 * which know nothing of these rules.
 */
export const LAW = {
  /** Admission refuses an id that stands above its stream's frontier (seed 000 §4). */
  admissionDedupes: true,
  /** A live row of another is not taken (seed 001 §2). */
  acquireAsksTheRow: true,
  /** A row that ran out is not renewed (seed 001 §2). */
  renewAsksTheRow: true,
  /** The store reads the row in the transaction of a derived commit (seed 001 §2). */
  commitAsksTheRow: true,
  /** What a tenure had not committed when its lease lapsed is gone with it (seed 001 §2). */
  lapseEndsTheWave: true,
  /** Events are taken up in the order of arrival (seed 000 §2). */
  drainsInOrder: true,
  /** An entry has one copy until the store has spoken for it (seed 000 §4). */
  oneCopy: true,
  /** A duplicate of a consumed event runs nothing (R1). */
  passesOverDuplicates: true,
  /** A mark and its effects are one commit (seed 000 §4). */
  effectsRideWithTheMark: true,
  /** A consequence that was beaten to what it rests on goes back (seed 001 §3d). */
  racedGoesBack: true,
  /** The later entries of its stream go back with it (R16). */
  followersGoBack: true,
  /** The frontier is the contiguous marked prefix (seed 000 §4). */
  frontierStopsAtPending: true,
  /** W moves with a wave of which everything landed (seed 001 §3). */
  takenBackKeepsW: true,
  /** W moves as far as an idle scheduler has proved (seed 001 §3). */
  provesAtRest: true,
  /** W never goes back and never passes the head (seed 001 §3). */
  watermarkRises: true,
  /** A process that starts asks the store what is pending (seed 001 §6). */
  successorAsksTheStore: true,
  /** Compaction takes what is consumed, at or below the frontier (R1). */
  compactsTheConsumed: true,
} as const;

export type Rule = keyof typeof LAW;
export type Law = Readonly<Record<Rule, boolean>>;

/** The law without one of its rules: a planted fault of the model. */
export function lawWithout(rule: Rule): Law {
  return { ...LAW, [rule]: false };
}
