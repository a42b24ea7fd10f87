import type { ActionId, Clock, InstanceKey, JsonValue, Path, ScopeKey } from "@tidemark/protocol";
import { getAt } from "@tidemark/protocol";
import { Scheduler } from "../scheduler.js";
import type {
  Change,
  GateSpec,
  NodeHandle,
  ReadEntry,
  RunOutcome,
  SchedulerOptions,
  SchedulerReport,
} from "../types.js";

/** Reads one path of a document; what a computation gets. */
export type Reader = (key: string, path?: Path, kind?: "value" | "shape") => JsonValue | undefined;

/** What a computation of a {@link World} may say besides its value. */
export interface WorldNodeOptions {
  readonly parent?: NodeHandle;
  readonly gate?: GateSpec;
  readonly key?: string;
  readonly instance?: string;
  /** Replaces what the run comes to. */
  readonly outcome?: (outcome: RunOutcome) => RunOutcome;
}

export interface WorldOptions extends Partial<Omit<SchedulerOptions, "clock">> {
  readonly clock: Clock;
}

/**
 * A store of one value per document around a {@link Scheduler}, as small as a runtime can be: computations read through
 * `pull`, their values are stored, their reads and changes go back. For tests and benchmarks.
 */
export class World {
  readonly scheduler: Scheduler;
  readonly reports: SchedulerReport[] = [];
  /** Names of the nodes that ran, in order. */
  readonly log: string[] = [];
  readonly #values = new Map<InstanceKey, JsonValue | undefined>();

  constructor(options: WorldOptions) {
    this.scheduler = new Scheduler({
      yielding: false,
      report: (report) => this.reports.push(report),
      ...options,
    });
  }

  get(key: string): JsonValue | undefined {
    return this.#values.get(key as InstanceKey);
  }

  /** An outsider's write. */
  set(key: string, value: JsonValue | undefined, paths?: readonly Path[]): void {
    this.setAll({ [key]: value }, paths);
  }

  /** Several outsiders' writes at once. */
  setAll(values: Readonly<Record<string, JsonValue | undefined>>, paths?: readonly Path[]): void {
    const changes = Object.entries(values).map(([key, value]) =>
      this.#write(key as InstanceKey, value, paths),
    );
    this.scheduler.notify(changes, "external");
  }

  /** A layer is withdrawn: the document shows something else again. */
  withdraw(key: string, value: JsonValue | undefined): void {
    this.scheduler.notify([this.#write(key as InstanceKey, value)], "rollback");
  }

  /** Registers a computation that writes the document `name`, or `options.key`. */
  computed(
    name: string,
    compute: (read: Reader) => JsonValue | undefined,
    options: WorldNodeOptions = {},
  ): NodeHandle {
    const key = (options.key ?? name) as InstanceKey;
    return this.scheduler.register({
      action: name as ActionId,
      instance: (options.instance ?? "space") as ScopeKey,
      writes: [key],
      run: () => this.#run(name, key, compute, options),
      ...(options.parent === undefined ? {} : { parent: options.parent }),
      ...(options.gate === undefined ? {} : { gate: options.gate }),
    });
  }

  /** Demands a document. */
  watch(key: string, on = true): void {
    this.scheduler.demand(key as InstanceKey, on);
  }

  /** A read from outside, as a handler makes it. */
  read(key: string): JsonValue | undefined {
    this.scheduler.pull(key as InstanceKey);
    return this.get(key);
  }

  /** Takes the log since the last call. */
  ran(): string[] {
    return this.log.splice(0);
  }

  #run(
    name: string,
    key: InstanceKey,
    compute: (read: Reader) => JsonValue | undefined,
    options: WorldNodeOptions,
  ): RunOutcome {
    this.log.push(name);
    const reads: ReadEntry[] = [];
    const read: Reader = (from, path = [], kind = "value") => {
      reads.push({ key: from as InstanceKey, path, kind });
      this.scheduler.pull(from as InstanceKey);
      return getAt(this.get(from), path);
    };
    let outcome: RunOutcome;
    try {
      outcome = { reads, changes: [this.#write(key, compute(read))] };
    } catch (failed) {
      outcome = { reads, changes: [], failed };
    }
    return options.outcome?.(outcome) ?? outcome;
  }

  #write(key: InstanceKey, after: JsonValue | undefined, paths?: readonly Path[]): Change {
    const before = this.#values.get(key);
    this.#values.set(key, after);
    return { key, before, after, ...(paths === undefined ? {} : { paths }) };
  }
}
