import type { Random } from "@tidemark/protocol";

/** How fast delays grow, and how far. All times in milliseconds. */
export interface BackoffDelays {
  /** The ceiling of the first delay; it doubles with each failed attempt. */
  readonly baseMs: number;
  /** The greatest ceiling. */
  readonly capMs: number;
}

/** How a lost connection is tried again. */
export interface BackoffPolicy extends BackoffDelays {
  /** How long an authenticated connection must live before the attempts are forgotten (OB-08). */
  readonly minLifetimeMs: number;
}

/** Exponents beyond this reach any cap; bounding them keeps the power finite (field fault OB-07). */
const MAX_EXPONENT = 30;

/**
 * The delay before attempt number `attempt` (0: the first after a loss). It is spread evenly over the
 * upper half of a ceiling that doubles up to the cap, so that at the cap too a fleet spreads over half
 * of it (field fault OB-08).
 */
export function backoffDelayMs(attempt: number, policy: BackoffDelays, random: Random): number {
  const ceiling = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(attempt, MAX_EXPONENT));
  return ceiling / 2 + (random.next() * ceiling) / 2;
}
