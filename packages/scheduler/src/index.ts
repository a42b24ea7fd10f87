export { CycleError, PullDeferredError, RegistrationError } from "./errors.js";
export {
  createGraph,
  type Computed,
  type Graph,
  type GraphOptions,
  type Source,
  type ValueOptions,
} from "./graph/graph.js";
export { Scheduler } from "./scheduler.js";
export type {
  Change,
  EventTask,
  GateSpec,
  NodeHandle,
  NodeSpec,
  ReadEntry,
  RetryClass,
  RunOutcome,
  SchedulerOptions,
  SchedulerReport,
  SchedulerStats,
  SettleResult,
} from "./types.js";
