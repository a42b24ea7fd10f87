export { type CampaignOptions, type CampaignResult, runCampaign } from "./campaign.js";
export { Coverage } from "./coverage.js";
export type { Finding } from "./judge.js";
export { minimise } from "./minimise.js";
export { makePlan } from "./plan.js";
export {
  GATE_FAULTS,
  type PlanFile,
  type RawStep,
  REACHED_GATES,
  WORLD_FAULTS,
} from "./plan-file.js";
export { planText, scenarioText } from "./report.js";
export { type PlanResult, runPlan } from "./run-plan.js";
export type { Work } from "./work.js";
