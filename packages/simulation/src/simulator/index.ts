export { Coverage } from "./coverage.js";
export type { Finding } from "./judge.js";
export { GATE_FAULTS, makePlan, type PlanFile, type RawStep, REACHED_GATES } from "./plan.js";
export { type PlanResult, runPlan, type Work } from "./run-plan.js";
