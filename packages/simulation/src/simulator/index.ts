export { type CampaignOptions, type CampaignResult, runCampaign } from "./campaign.js";
export { Coverage } from "./coverage.js";
export type { Finding } from "./judge.js";
export { minimise } from "./minimise.js";
export { GATE_FAULTS, makePlan, type PlanFile, type RawStep, REACHED_GATES } from "./plan.js";
export { planText, scenarioText } from "./report.js";
export { type PlanResult, runPlan, type Work } from "./run-plan.js";
