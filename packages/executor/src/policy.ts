import { ProtocolError } from "@tidemark/protocol";
import { DEFAULT_MAX_OUTSTANDING_EFFECTS } from "./effects/settings.js";

/**
 * What an operator may tune of the serving loop. The names that `scenarios/FORMAT.md` lists are
 * public; milliseconds unless a name says otherwise.
 */
export interface ServingPolicy {
  /** T_flush: a cycle that still runs after it commits what is sealed (seed 001 §3). */
  readonly flushDeadlineMs: number;
  /** A space with no live session, undelivered event or warm request parks after it (R17). */
  readonly idleParkMs: number;
  readonly leaseTtlMs: number;
  readonly leaseRenewMs: number;
  /** Delay of the first failure park's successor; doubles per consecutive one (seed 001 §1). */
  readonly activationBackoffMs: number;
  readonly activationBackoffCapMs: number;
  /** Continuous work between two cooperative yields (seed 001 §3). */
  readonly yieldSliceMs: number;
  /** Deferrals an event that cannot run may spend before it is dropped (seed 000 §5). */
  readonly deferralThreshold: number;
  /** Least time between two deferrals that spend the budget. */
  readonly deferralBackstopMs: number;
  /** Runs of one node within one settle before the settle is cut. */
  readonly passBudget: number;
  readonly compactAfterEntries: number;
  readonly compactAfterMs: number;
  readonly compactMaxEntries: number;
  /** Least time between two rounds of compaction and pruning of one space. */
  readonly maintenanceEveryMs: number;
  /** A park's runtime is disposed within it, or abandoned (LS-10). */
  readonly parkDisposeTimeoutMs: number;
  /** Bytes of operations past which a wave is split by piece into several commits (seed 001 §3). */
  readonly waveMaxBytes: number;
  /** Deferrals in a row after which a demanded root's structure counts as stuck (seed 001 §7). */
  readonly structureStuckAfter: number;
  /**
   * What the feed reports is read from the store again, and another principal's instance only under a
   * lease that lives at that moment (seed 001 §1, plane (a)); off, the feed's own operations are applied.
   */
  readonly storeReadThrough: boolean;
  /** How long an idle park's runtime is kept for the space's next tenure; 0 disposes at every park (§1). */
  readonly parkedRuntimeRetentionMs: number;
  /** Runtimes kept across the host; 0 keeps none. */
  readonly maxParkedRuntimes: number;
  /** Calls of effects dispatched and not settled, per space; 0: no bound (seed 001 §5). */
  readonly maxOutstandingEffects: number;
  /** Calls of effects a second, per space, one second's worth at once; 0: no pacing (seed 001 §5). */
  readonly egressRatePerSecond: number;
  /** A handler that still runs after it is named, counted and given up as an error. */
  readonly handlerBudgetMs: number;
  /** Documents the executor's replica keeps, those that nodes read aside. */
  readonly replicaMaxDocuments: number;
}

export const DEFAULT_SERVING_POLICY: ServingPolicy = {
  flushDeadlineMs: 100,
  idleParkMs: 30_000,
  leaseTtlMs: 15_000,
  leaseRenewMs: 5_000,
  activationBackoffMs: 250,
  activationBackoffCapMs: 30_000,
  yieldSliceMs: 16,
  deferralThreshold: 8,
  deferralBackstopMs: 250,
  passBudget: 100,
  compactAfterEntries: 64,
  compactAfterMs: 600_000,
  compactMaxEntries: 10_000,
  maintenanceEveryMs: 60_000,
  parkDisposeTimeoutMs: 5_000,
  waveMaxBytes: 4_194_304,
  structureStuckAfter: 8,
  storeReadThrough: false,
  parkedRuntimeRetentionMs: 600_000,
  maxParkedRuntimes: 8,
  maxOutstandingEffects: DEFAULT_MAX_OUTSTANDING_EFFECTS,
  egressRatePerSecond: 0,
  handlerBudgetMs: 60_000,
  replicaMaxDocuments: 20_000,
};

/**
 * Defaults with overrides. Names that are not the loop's own are another component's and pass.
 *
 * @throws ProtocolError naming a knob whose value is not a non-negative finite number, or no boolean
 *   where it is a switch.
 */
export function resolvePolicy(overrides: Partial<ServingPolicy> = {}): ServingPolicy {
  const resolved: Record<string, number | boolean> = { ...DEFAULT_SERVING_POLICY };
  for (const [name, standard] of Object.entries(DEFAULT_SERVING_POLICY)) {
    const value = overrides[name as keyof ServingPolicy];
    if (value === undefined) continue;
    const fits =
      typeof standard === "boolean"
        ? typeof value === "boolean"
        : typeof value === "number" && Number.isFinite(value) && value >= 0;
    if (!fits) {
      const wanted = typeof standard === "boolean" ? "true or false" : "a number of at least 0";
      throw new ProtocolError(`policy ${name} must be ${wanted}, not ${String(value)}`, {
        path: [name],
      });
    }
    resolved[name] = value;
  }
  return resolved as unknown as ServingPolicy;
}
