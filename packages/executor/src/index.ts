/** `@tidemark/executor`: the serving loop of a process: which spaces it serves, and how. */
export {
  DEFAULT_MAX_OUTSTANDING_EFFECTS,
  type EgressEnvironment,
  type EgressSettings,
  GUARDED_EGRESS_RATE,
  readEgressSettings,
} from "./effects/settings.js";
export {
  type DispatchedCall,
  type EffectCall,
  EffectError,
  type EffectErrorKind,
  type EffectPerformer,
  type EffectPerformers,
} from "./effects/performer.js";
export { ExecutorHost, type ExecutorHostOptions, type ServingStats } from "./host/executor-host.js";
export {
  createFetchPerformer,
  DEFAULT_FETCH_LIMITS,
  type FetchLimits,
  type FetchPerformerOptions,
} from "./performers/fetch/fetch-performer.js";
export type { EgressOptions } from "./performers/egress/policy.js";
export type { Resolver } from "./performers/egress/resolve.js";
export {
  createGenerateObjectPerformer,
  createGenerateTextPerformer,
  type GeneratePerformerOptions,
} from "./performers/generate/generate-performers.js";
export {
  DEFAULT_PROVIDER_LIMITS,
  openAiCompatibleProvider,
  type OpenAiProviderOptions,
  type ProviderLimits,
} from "./performers/generate/open-ai/open-ai-provider.js";
export type { ObjectMode } from "./performers/generate/open-ai/request-body.js";
export type {
  LlmMessage,
  LlmParams,
  LlmProvider,
  LlmRequest,
} from "./performers/generate/provider.js";
export type { ExchangeLimits } from "./performers/http/exchange.js";
export {
  createSqlitePerformer,
  DEFAULT_SQLITE_LIMITS,
  type SqliteLimits,
  type SqlitePerformer,
  type SqlitePerformerOptions,
  userDatabaseFile,
} from "./performers/sqlite/sqlite-performer.js";
export type { PoolLimits } from "./performers/sqlite/query-pool.js";
export { NotServedError, type NotServedReason, UnknownPieceError } from "./lifecycle/errors.js";
export type {
  CreateVerb,
  LifecycleResult,
  LifecycleVerb,
  PatternName,
  SetSourceVerb,
} from "./lifecycle/verbs.js";
export { DEFAULT_SERVING_POLICY, type ServingPolicy } from "./policy.js";
export { storeLoads, type DocumentLoads, type LoadAnswer, type LoadNews } from "./replica/loads.js";
export type { AdvanceSample, SettleSample, SpaceStatsSnapshot } from "./stats/counters.js";
export type { ServingReport } from "./tenure/report.js";
