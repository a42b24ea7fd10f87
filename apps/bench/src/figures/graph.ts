import { systemClock } from "@tidemark/protocol";
import { type BenchGraph, runGraphBench } from "@tidemark/scheduler/testing";
import { batch, computed, effect, signal } from "@preact/signals-core";
import type { Row } from "../report/row.js";
import type { Figure } from "../support/figure.js";

const GRAPH_REACH = 2;
const SCHEDULER_REACH = 4;

/** The graph core beside @preact/signals-core, and the scheduler beside the graph core, on the same graphs. */
export const graph: Figure = {
  name: "graph",
  about: "graph core beside @preact/signals-core, scheduler with read logs beside graph core",
  measure({ quick }) {
    const results = runGraphBench(systemClock, {
      yardstick: preact,
      rounds: quick ? 3 : 9,
      roundMs: quick ? 20 : 60,
    });
    const rows = results.map(({ workload, graphUs, yardstickUs = Number.NaN }) =>
      row(`graph core, ${workload}`, graphUs, yardstickUs, GRAPH_REACH),
    );
    const scheduled = results.map(({ workload, graphUs, schedulerUs }) =>
      row(`scheduler, ${workload}`, schedulerUs, graphUs, SCHEDULER_REACH),
    );
    return Promise.resolve([...rows, ...scheduled]);
  },
};

function preact(): BenchGraph {
  return {
    source(value) {
      const source = signal(value);
      return {
        get: () => source.value,
        set(next) {
          source.value = next;
        },
      };
    },
    computed(fn) {
      const derived = computed(fn);
      return { get: () => derived.value };
    },
    watch(derived) {
      effect(() => void derived.get());
    },
    update: (write) => batch(write),
  };
}

function row(figure: string, ours: number, yardstick: number, reach: number): Row {
  const ratio = ours / yardstick;
  const target = `≤ ${reach}×`;
  return { figure, unit: "µs", ours, yardstick, ratio, target, met: ratio <= reach };
}
