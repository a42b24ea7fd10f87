/** `@tidemark/executor`: the serving loop of a process: which spaces it serves, and how. */
export {
  type EffectCall,
  EffectError,
  type EffectErrorKind,
  type EffectPerformer,
  type EffectPerformers,
} from "./effects/performer.js";
export { ExecutorHost, type ExecutorHostOptions, type ServingStats } from "./host/executor-host.js";
export { DEFAULT_SERVING_POLICY, type ServingPolicy } from "./policy.js";
export type { AdvanceSample, SettleSample, SpaceStatsSnapshot } from "./stats/counters.js";
export type { ServingReport } from "./tenure/parts.js";
