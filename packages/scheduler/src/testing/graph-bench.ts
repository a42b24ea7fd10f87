import type { ActionId, Clock, InstanceKey, ScopeKey } from "@tidemark/protocol";
import { createGraph } from "../graph/graph.js";
import { Scheduler } from "../scheduler.js";
import type { ReadEntry, RunOutcome } from "../types.js";

/** What a graph must offer to be measured. */
export interface BenchGraph {
  source(value: number): { get(): number; set(value: number): void };
  computed(fn: () => number): { get(): number };
  /** Keeps a computed alive and current. */
  watch(computed: { get(): number }): void;
  /** Applies writes and brings everything watched up to date. */
  update(write: () => void): void;
}

/** Microseconds per update, the median of the rounds. */
export interface GraphBenchRow {
  readonly workload: string;
  /** The other library, where one was given. */
  readonly yardstickUs: number | undefined;
  readonly graphUs: number;
  readonly schedulerUs: number;
  /** Graph core over yardstick: 2 or less is the goal. */
  readonly graphRatio: number | undefined;
  /** Scheduler over graph core: 4 or less is the goal. */
  readonly schedulerRatio: number;
}

export interface GraphBenchOptions {
  readonly yardstick?: () => BenchGraph;
  /** Default 9. */
  readonly rounds?: number;
  /** How long one graph is measured per round, ms. Default 60. */
  readonly roundMs?: number;
}

interface Workload {
  readonly name: string;
  /** Builds the graph; what it returns does one update, and says what must come out. */
  build(graph: BenchGraph): {
    step(i: number): void;
    result(): number;
    expected(i: number): number;
  };
}

/** Four shapes: one change that fans out and in, a long chain, a diamond, inputs that switch. */
const WORKLOADS: readonly Workload[] = [
  {
    name: "broad 1→1000→1",
    build(graph) {
      const source = graph.source(0);
      const middle = Array.from({ length: 1_000 }, (_, i) =>
        graph.computed(() => source.get() + i),
      );
      const join = graph.computed(() => {
        let sum = 0;
        for (const node of middle) sum += node.get();
        return sum;
      });
      return single(graph, source, join, (i) => i * 1_000 + (999 * 1_000) / 2);
    },
  },
  {
    name: "deep 1000",
    build(graph) {
      const source = graph.source(0);
      let last: { get(): number } = source;
      for (let i = 0; i < 1_000; i++) {
        const input = last;
        last = graph.computed(() => input.get() + 1);
      }
      return single(graph, source, last, (i) => i + 1_000);
    },
  },
  {
    name: "diamond 1→4→1",
    build(graph) {
      const source = graph.source(0);
      const sides = [1, 2, 3, 4].map((factor) => graph.computed(() => source.get() * factor));
      const join = graph.computed(() => {
        let sum = 0;
        for (const side of sides) sum += side.get();
        return sum;
      });
      return single(graph, source, join, (i) => i * 10);
    },
  },
  {
    name: "dynamic 100",
    build(graph) {
      const flag = graph.source(0);
      const left = graph.source(1);
      const right = graph.source(2);
      const sides = [
        graph.computed(() => left.get() + 1),
        graph.computed(() => right.get() + 1),
      ] as const;
      const nodes = Array.from({ length: 100 }, (_, i) =>
        graph.computed(() => sides[flag.get() % 2 === 0 ? 0 : 1].get() + i),
      );
      const join = graph.computed(() => {
        let sum = 0;
        for (const node of nodes) sum += node.get();
        return sum;
      });
      return single(graph, flag, join, (i) => (i % 2 === 0 ? 200 : 300) + 4_950);
    },
  },
];

function single(
  graph: BenchGraph,
  source: { set(value: number): void },
  join: { get(): number },
  expected: (i: number) => number,
): ReturnType<Workload["build"]> {
  graph.watch(join);
  return {
    step: (i) => graph.update(() => source.set(i)),
    result: () => join.get(),
    expected,
  };
}

/** The graph core behind the interface. */
export function graphCore(): BenchGraph {
  const graph = createGraph();
  return {
    source: (value) => graph.source(value),
    computed: (fn) => graph.computed(fn),
    watch(computed) {
      graph.effect(() => void computed.get());
    },
    update: (write) => graph.batch(write),
  };
}

/** The scheduler behind the interface: one document per node, every read pulled and logged, every write a change. */
export function scheduled(clock: Clock): BenchGraph {
  const scheduler = new Scheduler({
    clock,
    yielding: false,
    report(report) {
      throw new Error(`Unexpected report: ${report.kind}.`);
    },
  });
  let reads: ReadEntry[] | undefined;
  let count = 0;
  const reader = (cell: BenchCell) => (): number => {
    if (reads !== undefined) {
      reads.push(cell.read);
      scheduler.pull(cell.read.key);
    }
    return cell.value;
  };
  const run = (cell: BenchCell, fn: () => number): RunOutcome => {
    const outer = reads;
    const log: ReadEntry[] = [];
    reads = log;
    try {
      const before = cell.value;
      const after = (cell.value = fn());
      return { reads: log, changes: [{ key: cell.read.key, before, after }] };
    } finally {
      reads = outer;
    }
  };
  return {
    source(value) {
      const cell = benchCell(`space s${count++}`, value);
      return {
        get: reader(cell),
        set(after) {
          const change = { key: cell.read.key, before: cell.value, after };
          cell.value = after;
          scheduler.notify([change], "external");
        },
      };
    },
    computed(fn) {
      const cell = benchCell(`space c${count++}`, Number.NaN);
      const { key } = cell.read;
      scheduler.register({
        action: key as string as ActionId,
        instance: "space" as ScopeKey,
        writes: [key],
        run: () => run(cell, fn),
      });
      return Object.assign({ get: reader(cell) }, { key });
    },
    watch(computed) {
      scheduler.demand((computed as unknown as { readonly key: InstanceKey }).key, true);
      void scheduler.settle();
    },
    update(write) {
      write();
      // Without yields a settle is over when the call returns.
      void scheduler.settle();
    },
  };
}

interface BenchCell {
  readonly read: ReadEntry;
  value: number;
}

function benchCell(key: string, value: number): BenchCell {
  return { read: { key: key as InstanceKey, path: [], kind: "value" }, value };
}

const WARM_ROUNDS = 10;

/**
 * Measures the graph core, the scheduler and, where given, another library on the same graphs in the same process, in
 * turns, so that all meet the same machine. Checks every result.
 */
export function runGraphBench(clock: Clock, options: GraphBenchOptions = {}): GraphBenchRow[] {
  const { yardstick, rounds = 9, roundMs = 60 } = options;
  const makers: (() => BenchGraph)[] = [graphCore, () => scheduled(clock)];
  if (yardstick !== undefined) makers.push(yardstick);
  return WORKLOADS.map((workload) => {
    const meters = makers.map((make) => meter(clock, workload, make(), roundMs));
    // Long enough for the compiler to be done with the shapes of this workload.
    for (let warm = 0; warm < WARM_ROUNDS; warm++) for (const measure of meters) measure();
    const samples = meters.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      meters.forEach((measure, i) => samples[i]?.push(measure()));
    }
    const [graphUs = Number.NaN, schedulerUs = Number.NaN, yardstickUs] = samples.map(median);
    return {
      workload: workload.name,
      yardstickUs,
      graphUs,
      schedulerUs,
      graphRatio: yardstickUs === undefined ? undefined : graphUs / yardstickUs,
      schedulerRatio: schedulerUs / graphUs,
    };
  });
}

/** A function that runs one graph for a while and says how many microseconds an update took. */
function meter(clock: Clock, workload: Workload, graph: BenchGraph, ms: number): () => number {
  const built = workload.build(graph);
  let i = 0;
  return () => {
    const first = i;
    const start = clock.monotonic();
    let elapsed = 0;
    while (elapsed < ms) {
      // The clock is read once per ten updates: short updates would measure it instead.
      for (let n = 0; n < 10; n++) built.step(++i);
      elapsed = clock.monotonic() - start;
    }
    if (built.result() !== built.expected(i)) throw new Error(`${workload.name}: wrong result.`);
    return (elapsed * 1_000) / (i - first);
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values];
  sorted.sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
