import { Coverage } from "./coverage.js";
import { makePlan } from "./plan.js";
import { type PlanResult, runPlan } from "./run-plan.js";
import { emptyWork, type Work } from "./work.js";

/** What came of many seeds. */
export interface CampaignResult {
  readonly seeds: number;
  readonly failed: readonly PlanResult[];
  readonly work: Work;
  readonly coverage: Coverage;
}

/** Which seeds, and whom to tell. */
export interface CampaignOptions {
  readonly from: number;
  readonly seeds: number;
  /** Ends at the first failing seed. */
  readonly untilFailure?: boolean;
  readonly onSeed?: (seed: number, result: PlanResult) => void;
  /** Ends behind the seed under way, with the sums so far. */
  readonly signal?: AbortSignal;
}

/** Runs seed after seed. Of those that held only sums are kept: any number may run. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const failed: PlanResult[] = [];
  const work = emptyWork();
  const coverage = new Coverage();
  let seeds = 0;
  for (let seed = options.from; seed < options.from + options.seeds; seed++) {
    const result = await runPlan(makePlan(seed));
    seeds += 1;
    if (result.findings.length > 0) failed.push(result);
    coverage.add(result.coverage);
    for (const name of Object.keys(work) as (keyof Work)[]) work[name] += result.work[name];
    options.onSeed?.(seed, result);
    if (options.untilFailure && failed.length > 0) break;
    if (options.signal?.aborted) break;
  }
  return { seeds, failed, work, coverage };
}
