import { runScenario } from "../run/run-scenario.js";
import { parseScenario } from "../scenario/file.js";
import type { PlanFile } from "./plan-file.js";
import type { PlanResult } from "./run-plan.js";

/** A failing plan as a file that replays it: `simulate --replay FILE`. */
export function planText({ plan, findings }: PlanResult): string {
  const [first] = findings;
  const note = first ? `${first.rule}: ${first.what}`.slice(0, NOTE_LENGTH) : "holds";
  return `${JSON.stringify({ ...plan, note }, undefined, 1)}\n`;
}

const NOTE_LENGTH = 500;

/**
 * The same as a scenario of the format, where the format can say what went wrong: what was done, step by step, ends in
 * a failure of the scenario runner too. Most of what the judge sees has no expectation there.
 */
export async function scenarioText(result: PlanResult): Promise<string | undefined> {
  const { plan, done } = result;
  const overlay = Object.fromEntries(Object.keys(plan.clients).map((name) => [name, 0]));
  const file: PlanFile = { ...plan, steps: [...done, { overlay }] };
  try {
    const { passed } = await runScenario(parseScenario(plan.id, file), { transport: "loopback" });
    return passed ? undefined : `${JSON.stringify(file, undefined, 1)}\n`;
  } catch {
    return undefined;
  }
}
