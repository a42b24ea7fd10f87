import type { ServedSpace } from "@tidemark/memory-engine";
import type {
  AcceptedCommit,
  Clock,
  Gates,
  HolderId,
  IdSource,
  InstanceKey,
} from "@tidemark/protocol";
import type { PatternRegistry } from "@tidemark/runtime";
import type { EgressBudget } from "../effects/budget.js";
import type { EffectPerformers } from "../effects/performer.js";
import type { ServingPolicy } from "../policy.js";
import type { DocumentLoads } from "../replica/loads.js";
import type { SpaceStats } from "../stats/counters.js";
import type { ServingReport } from "./report.js";

/** What one tenure is built over. */
export interface TenureOptions {
  readonly served: ServedSpace;
  readonly holder: HolderId;
  readonly patterns: PatternRegistry;
  readonly clock: Clock;
  readonly gates: Gates;
  readonly ids: IdSource;
  readonly policy: ServingPolicy;
  readonly stats: SpaceStats;
  /** Where the replica's documents come from. */
  readonly loads: DocumentLoads;
  readonly performers: EffectPerformers;
  /** What may leave the space, over all its tenures. */
  readonly budget: EgressBudget;
  /** A warm-marked notice of this space: documents that a verb staged, and the commit that holds them. */
  readonly announce: (commit: AcceptedCommit | undefined, staged: readonly InstanceKey[]) => void;
  readonly report: (report: ServingReport) => void;
}
