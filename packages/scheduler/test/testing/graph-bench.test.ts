import { systemClock } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { graphCore, runGraphBench, type BenchGraph } from "../../src/testing/index.js";

test("[SC-B1] the benchmark times every workload and each contestant", () => {
  const rows = runGraphBench(systemClock, { yardstick: graphCore, rounds: 1, roundMs: 1 });
  expect(rows).toHaveLength(4);
  for (const row of rows) {
    expect(row.graphUs).toBeGreaterThan(0);
    expect(row.schedulerUs).toBeGreaterThan(0);
    expect(row.graphRatio).toBeGreaterThan(0);
  }
});

test("[SC-B1] a contestant that computes something else is refused", () => {
  const wrong = (): BenchGraph => {
    const graph = graphCore();
    return { ...graph, computed: (fn) => graph.computed(() => fn() + 1) };
  };
  expect(() => runGraphBench(systemClock, { yardstick: wrong, rounds: 1, roundMs: 1 })).toThrow(
    "wrong result",
  );
});
