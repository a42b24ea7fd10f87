import type { ActionId, Clock, InstanceKey, JsonValue, Path, ScopeKey } from "@tidemark/protocol";
import type { CycleError } from "./errors.js";

/** What a run read: a path of a document instance, its value or only its outline (keys or length, ADM-03). */
export interface ReadEntry {
  readonly key: InstanceKey;
  readonly path: Path;
  readonly kind: "value" | "shape";
}

/** One document instance moved. */
export interface Change {
  readonly key: InstanceKey;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
  /** Where it may differ, if the caller knows; spares a comparison of the rest. `[]` (an empty path) is the whole document. */
  readonly paths?: readonly Path[];
}

/**
 * Why a run should be tried again on a later pass (SC-13; the caller knows the class of its failure):
 * `transient` up to 10 times; `stale` without spending that budget; `not-ready` 5 times and then only when an input
 * changes; `none` only when an input changes. The reads stay subscribed in all cases.
 */
export type RetryClass = "transient" | "stale" | "not-ready" | "none";

/** What one run came to. */
export interface RunOutcome {
  /** Every read, in the order read. The node is subscribed to exactly these until its next run. */
  readonly reads: readonly ReadEntry[];
  /** What it changed; nothing where it failed. */
  readonly changes: readonly Change[];
  /** The error, when it failed: its last value stays and its reads arm it again (R32). */
  readonly failed?: unknown;
  readonly retry?: RetryClass;
}

/** How often a node may run. Work is late, never lost: what was held back runs once at the boundary (SC-12). */
export interface GateSpec {
  /** At least this many milliseconds between two runs. */
  readonly throttleMs?: number;
  /** Run only when no input has changed for this many milliseconds. */
  readonly debounceMs?: number;
}

/** One computation for one instance. */
export interface NodeSpec {
  /** Durable identity, the same after every restart. */
  readonly action: ActionId;
  /** The instance that it runs for. */
  readonly instance: ScopeKey;
  /** The document instances that it alone writes. */
  readonly writes: readonly InstanceKey[];
  /** Runs to its end, synchronously. Reads of keys go through {@link Scheduler.pull} first. */
  run(): RunOutcome;
  /** Runs before this node when both are dirty, and takes it along when it is unregistered (SC-11). */
  readonly parent?: NodeHandle;
  readonly gate?: GateSpec;
}

/** A registered node. */
export interface NodeHandle {
  readonly action: ActionId;
  readonly instance: ScopeKey;
  /** Its output is what its inputs say. */
  readonly current: boolean;
  /** Something demanded needs it. */
  readonly live: boolean;
  readonly registered: boolean;
  /** How often it ran. */
  readonly runs: number;
}

/** A unit of ordered work ahead of derivations: an event and its handler. */
export interface EventTask {
  readonly id: string;
  run(): Promise<void> | void;
}

/** What the scheduler has to tell; nothing here stops it. */
export type SchedulerReport =
  | { readonly kind: "cycle"; readonly error: CycleError; readonly path: readonly string[] }
  | {
      readonly kind: "action-failed";
      readonly action: ActionId;
      readonly instance: ScopeKey;
      readonly error: unknown;
    }
  | {
      readonly kind: "retry-exhausted";
      readonly action: ActionId;
      readonly instance: ScopeKey;
      readonly retry: RetryClass;
      readonly tries: number;
      readonly error: unknown;
    }
  | { readonly kind: "event-failed"; readonly id: string; readonly error: unknown };

export interface SchedulerOptions {
  readonly clock: Clock;
  /** Continuous work between two yields, ms. Default 16 (seed 001 §3). */
  readonly sliceMs?: number;
  /** How many passes in a row a member of a cycle may run before the cycle backs off. Default 100. */
  readonly passBudget?: number;
  /** Only a serving runtime yields (CY-03); a client keeps its microtasks. */
  readonly yielding: boolean;
  /** Told before control leaves: the place to renew a lease that is due (CY-02). */
  readonly onYield?: () => void;
  /** Told once when there is something to settle and no settle is running. */
  readonly onWork?: () => void;
  readonly report: (report: SchedulerReport) => void;
}

/**
 * `idle`: nothing is left but undemanded dirt and cycles that back off. `deadline`: time was up.
 * `budget`: idle but for a cycle that this settle cut.
 */
export interface SettleResult {
  readonly state: "idle" | "deadline" | "budget";
  /** Runs of nodes in this settle. */
  readonly ran: number;
}

/** Figures since construction (counters) and now (gauges). */
export interface SchedulerStats {
  readonly nodes: number;
  readonly edges: number;
  readonly ports: number;
  readonly documents: number;
  readonly live: number;
  readonly queued: number;
  readonly queuedEvents: number;
  readonly held: number;
  readonly backingOff: number;
  readonly runs: number;
  readonly failures: number;
  readonly retries: number;
  readonly events: number;
  readonly yields: number;
  readonly cuts: number;
  readonly passes: number;
  readonly demandRootEnters: number;
  readonly demandRootLeaves: number;
}
