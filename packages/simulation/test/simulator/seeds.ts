import { expect } from "vitest";
import { runCampaign } from "../../src/simulator/index.js";

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 50);
const SEED = Number(process.env["FUZZ_SEED"] ?? 1);
/** Far beyond what one takes, also on a machine that does something else. */
export const PER_SEED_MS = 20_000;
/** So few may leave out one thing or another. */
const FEW = 10;

/** Some of the seeds of a test run. */
export interface Part {
  readonly from: number;
  readonly seeds: number;
  readonly timeout: number;
}

const part = (from: number, seeds: number): Part => ({
  from,
  seeds,
  timeout: Math.max(1, seeds) * PER_SEED_MS,
});
const half = Math.ceil(RUNS / 2);

/** The seeds of a test run lie in two files, for two threads. */
export const FIRST = part(SEED, half);
export const LATER = part(SEED + half, RUNS - half);

/** Runs some of the seeds. */
export async function hold({ from, seeds }: Part): Promise<void> {
  const { failed, work } = await runCampaign({ from, seeds });
  expect(failed.map(({ plan, findings }) => ({ seed: plan.seed, findings }))).toEqual([]);
  // A fuzzer that does nothing finds nothing.
  expect(work.consequenced).toBeGreaterThanOrEqual(seeds * 5);
  expect(work.derivedCommits).toBeGreaterThanOrEqual(seeds * 5);
  if (seeds < FEW) return;
  expect(work.crashes).toBeGreaterThan(0);
  expect(work.takeovers).toBeGreaterThan(0);
  expect(work.errored).toBeGreaterThan(0);
  expect(work.passedOver).toBeGreaterThan(0);
}
