import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type PlanFile, type PlanResult, runPlan } from "../../src/simulator/index.js";
import { loadMutated, type MutatedSimulator } from "./mutations/load-mutated.js";
import { type Mutation, MUTATIONS } from "./mutations/mutations.js";

/** `all`, or a part of the names of those to plant; without it a handful is planted. */
const WHICH = process.env["MUTATIONS"];
const ALL = WHICH !== undefined;
/** Looks for each from seed 1 on in so many seeds, where what is known to find it does not. */
const SEARCH = Number(process.env["MUTATION_SEEDS"] ?? 0);
const PER_SEED_MS = 35_000;
const LOADING_MS = 60_000;

function isPlanted({ name, quick }: Mutation): boolean {
  if (WHICH === undefined) return quick === true;
  return WHICH === "all" || name.includes(WHICH);
}

/** The first result that has findings. */
async function find(
  simulator: MutatedSimulator["simulator"],
  seed: Mutation["seed"],
): Promise<PlanResult | undefined> {
  const plan = typeof seed === "string" ? planOf(seed) : simulator.makePlan(seed);
  const result = await simulator.runPlan(plan);
  if (result.findings.length > 0 || SEARCH === 0) {
    return result.findings.length > 0 ? result : undefined;
  }
  const { failed } = await simulator.runCampaign({ from: 1, seeds: SEARCH, untilFailure: true });
  return failed[0];
}

function planOf(file: string): PlanFile {
  const path = join(import.meta.dirname, "mutations/plans", file);
  return JSON.parse(readFileSync(path, "utf8")) as PlanFile;
}

describe("planted faults", () => {
  test("there are twenty of them and more, each with a name of its own", () => {
    expect(MUTATIONS.length).toBeGreaterThanOrEqual(20);
    expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
  });

  test("[SI-S6] one that fits its source nowhere is an error", async () => {
    const [first] = MUTATIONS;
    expect(first).toBeDefined();
    const stale = { ...(first as Mutation), find: "no source has this line" };
    await expect(loadMutated(stale)).rejects.toThrow("fits 0 places");
  });

  for (const mutation of MUTATIONS.filter(isPlanted)) {
    test(
      `[SI-S5] found: ${mutation.name}`,
      { timeout: LOADING_MS + Math.max(1, SEARCH) * PER_SEED_MS },
      async () => {
        const { simulator, close } = await loadMutated(mutation);
        try {
          const first = await find(simulator, mutation.seed);
          expect(first, `nothing found with ${mutation.seed}`).toBeDefined();
          // What fails without the planted fault too finds nothing.
          expect(first && (await runPlan(first.plan)).findings).toEqual([]);
          if (ALL) {
            const { rule, what } = first?.findings[0] ?? { rule: "", what: "" };
            console.log(`seed ${first?.plan.seed}, ${rule}: ${what.slice(0, 160)}`);
          }
        } finally {
          await close();
        }
      },
    );
  }
});
