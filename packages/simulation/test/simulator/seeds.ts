import { expect, test } from "vitest";
import { runCampaign } from "../../src/simulator/index.js";

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 50);
const SEED = Number(process.env["FUZZ_SEED"] ?? 1);
/** Far beyond what one takes, also on a machine that does something else. */
export const PER_SEED_MS = 20_000;
/** So few may leave out one thing or another. */
const FEW = 10;

/** The seeds of a test run lie in two files, for two threads. */
const HALVES = {
  first: { from: SEED, seeds: Math.ceil(RUNS / 2) },
  second: { from: SEED + Math.ceil(RUNS / 2), seeds: Math.floor(RUNS / 2) },
} as const;

/** Runs one half of the seeds. */
export function holdSeeds(half: keyof typeof HALVES): void {
  const { from, seeds } = HALVES[half];
  test.runIf(seeds > 0)(
    `[SI-S2] [SI-S4] whatever happens in ${seeds} worlds from seed ${from} on, nothing is lost, doubled, reordered or shown wrongly`,
    { timeout: Math.max(1, seeds) * PER_SEED_MS },
    async () => {
      const { failed, work } = await runCampaign({ from, seeds });
      expect(failed.map(({ plan, findings }) => ({ seed: plan.seed, findings }))).toEqual([]);
      // A fuzzer that does nothing finds nothing.
      expect(work.consequenced).toBeGreaterThan(seeds * 5);
      expect(work.derivedCommits).toBeGreaterThan(seeds * 5);
      if (seeds < FEW) return;
      expect(work.crashes).toBeGreaterThan(0);
      expect(work.takeovers).toBeGreaterThan(0);
      expect(work.errored).toBeGreaterThan(0);
      expect(work.passedOver).toBeGreaterThan(0);
    },
  );
}
