/** The two knobs of the failure-park backoff, in milliseconds. */
export interface BackoffPolicy {
  readonly baseMs: number;
  readonly capMs: number;
}

/**
 * Delay before the activation that follows the `failures`th consecutive failure park:
 * base · 2^(n−1) up to the cap, 0 while nothing failed (seed 001 §1).
 */
export function activationDelay(failures: number, { baseMs, capMs }: BackoffPolicy): number {
  if (failures <= 0) return 0;
  // Past 2^40 every sensible base is over every sensible cap; the bound keeps the power finite.
  return Math.min(capMs, baseMs * 2 ** Math.min(failures - 1, 40));
}
