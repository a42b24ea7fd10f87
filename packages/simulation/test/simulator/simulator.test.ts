import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makePlan, type PlanFile, runPlan } from "../../src/simulator/index.js";
import { FIRST, hold, PER_SEED_MS } from "./seeds.js";

const REGRESSIONS = join(import.meta.dirname, "../../regressions");
const SEED = Number(process.env["FUZZ_SEED"] ?? 1);

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
    `[SI-S2] [SI-S4] whatever happens in ${FIRST.seeds} worlds from seed ${FIRST.from} on, nothing is lost, doubled, reordered or shown wrongly`,
    FIRST,
    () => hold(FIRST),
  );
});
