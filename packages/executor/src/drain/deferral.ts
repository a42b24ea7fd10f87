/** What an entry that could not run has spent so far. */
export interface Deferral {
  readonly spent: number;
  /** Monotonic ms at which the budget was last spent. */
  readonly lastSpentAt: number;
}

/** The two knobs of the deferral budget (seed 000 §5, T3). */
export interface DeferralPolicy {
  readonly threshold: number;
  readonly backstopMs: number;
}

/** A decided deferral: `exhausted` means that the event drops with a notice. */
export interface DeferralStep {
  readonly deferral: Deferral;
  readonly exhausted: boolean;
}

/**
 * One more failed attempt of the space's earliest pending entry. A drop needs attempts and time:
 * attempts within one backstop of the last that was counted cost nothing, however many waves
 * there were in between (fault class 11, FS-06).
 */
export function spendDeferral(
  deferral: Deferral | undefined,
  now: number,
  policy: DeferralPolicy,
): DeferralStep {
  if (deferral !== undefined && now - deferral.lastSpentAt < policy.backstopMs) {
    return { deferral, exhausted: false };
  }
  const spent = (deferral?.spent ?? 0) + 1;
  return { deferral: { spent, lastSpentAt: now }, exhausted: spent > policy.threshold };
}
