import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makePlan, type PlanFile, runCampaign, runPlan } from "../../src/simulator/index.js";

const REGRESSIONS = join(import.meta.dirname, "../../regressions");
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 5);
const SEED = Number(process.env["FUZZ_SEED"] ?? 1);
const PER_SEED_MS = 20_000;

describe("seeds that once failed", () => {
  const files = readdirSync(REGRESSIONS).filter((name) => name.endsWith(".json"));
  for (const name of files) {
    test(`[SI-S3] ${name}`, { timeout: PER_SEED_MS }, async () => {
      const plan = JSON.parse(readFileSync(join(REGRESSIONS, name), "utf8")) as PlanFile;
      const { findings } = await runPlan(plan);
      expect(findings).toEqual([]);
    });
  }
});

describe("seeds", () => {
  test(
    "[SI-S1] the same seed makes the same plan, and the plan the same run",
    { timeout: PER_SEED_MS },
    async () => {
      expect(makePlan(SEED)).toEqual(makePlan(SEED));
      const [first, second] = [await runPlan(makePlan(SEED)), await runPlan(makePlan(SEED))];
      expect(second.work).toEqual(first.work);
      expect(second.trace).toEqual(first.trace);
    },
  );

  test(
    `[SI-S2] [SI-S4] whatever happens in ${RUNS} worlds from seed ${SEED} on, nothing is lost, doubled, reordered or shown wrongly`,
    {
      timeout: RUNS * PER_SEED_MS,
    },
    async () => {
      const { failed, work } = await runCampaign({ from: SEED, seeds: RUNS });
      expect(failed.map(({ plan, findings }) => ({ seed: plan.seed, findings }))).toEqual([]);
      // A fuzzer that does nothing finds nothing.
      expect(work.consequenced).toBeGreaterThan(RUNS * 5);
      expect(work.derivedCommits).toBeGreaterThan(RUNS * 5);
      if (RUNS < 5) return;
      expect(work.crashes).toBeGreaterThan(0);
      expect(work.takeovers).toBeGreaterThan(0);
      expect(work.errored).toBeGreaterThan(0);
      expect(work.passedOver).toBeGreaterThan(0);
    },
  );
});
