import type { PlanFile } from "./plan-file.js";
import { type PlanResult, runPlan } from "./run-plan.js";

/** How many runs a minimisation may cost. */
const MOST_RUNS = 60;

/**
 * Leaves out steps as long as the same rule is still broken: halves, then quarters, then single steps. A plan means
 * something whatever is left out of it, since steps that do not apply are passed over.
 */
export async function minimise(
  failed: PlanResult,
  onRun: (steps: number) => void = () => undefined,
): Promise<PlanResult> {
  const rule = failed.findings[0]?.rule;
  const last = failed.findings[0]?.step ?? failed.plan.steps.length;
  let best = failed;
  let steps = failed.plan.steps.slice(0, last);
  let runs = 0;
  const fails = async (shorter: PlanFile["steps"]): Promise<boolean> => {
    if (runs >= MOST_RUNS) return false;
    runs += 1;
    const result = await runPlan({ ...failed.plan, steps: shorter });
    onRun(shorter.length);
    if (result.findings[0]?.rule !== rule) return false;
    best = result;
    return true;
  };
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < steps.length;) {
      const shorter = [...steps.slice(0, at), ...steps.slice(at + size)];
      if (await fails(shorter)) steps = shorter;
      else at += size;
    }
  }
  return best;
}
