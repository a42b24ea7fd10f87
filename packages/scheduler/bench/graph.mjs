// Graph core against @preact/signals-core, scheduler against graph core: `node bench/graph.mjs` after a build.
import { systemClock } from "@tidemark/protocol";
import { batch, computed, effect, signal } from "@preact/signals-core";
import { runGraphBench } from "../dist/testing/index.js";

const preact = () => ({
  source(value) {
    const s = signal(value);
    return { get: () => s.value, set: (next) => void (s.value = next) };
  },
  computed(fn) {
    const c = computed(fn);
    return { get: () => c.value };
  },
  watch: (node) => void effect(() => void node.get()),
  update: (write) => batch(write),
});

// Processor time of this process: what else the machine does must not count.
const clock = {
  ...systemClock,
  monotonic() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

const us = (value) => `${value.toFixed(2)} us`;
console.table(
  runGraphBench(clock, { yardstick: preact }).map((row) => ({
    workload: row.workload,
    preact: us(row.yardstickUs),
    graph: us(row.graphUs),
    scheduler: us(row.schedulerUs),
    "graph / preact (<= 2)": row.graphRatio.toFixed(2),
    "scheduler / graph (<= 4)": row.schedulerRatio.toFixed(2),
  })),
);
