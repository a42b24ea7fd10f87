import { expect, test } from "vitest";
import { z } from "zod";
import { action, cell, computed, pattern } from "@tidemark/runtime";
import { createWorld } from "./support/world.js";

const counter = pattern({
  id: "counter",
  version: "1",
  build: () => {
    const count = cell("count", z.number(), { default: 0 });
    const double = computed("double", () => count.get() * 2);
    const inc = action("inc", () => {
      count.increment(1);
    });
    return { count, double, inc };
  },
});

test("[EX-L1] one click is one derived commit that carries consequence, mark, frontier and watermark", async () => {
  const w = await createWorld({ patterns: [counter] });
  const piece = await w.create(counter);
  await w.open(w.owner, piece, ["count", "double"]);
  await w.settle();
  const before = w.head();

  const e1 = await w.fire(w.owner, piece, "inc");
  await w.settle();

  expect(w.reports).toEqual([{ kind: "tenure-began", space: w.space, reused: false }]);
  expect(w.value(piece, "count")).toBe(1);
  expect(w.value(piece, "double")).toBe(2);
  expect(w.entry(piece, "inc", e1)).toMatchObject({ consequenced: true });
  expect(w.naming(e1)).toBe(1);
  expect(w.derived(before)).toBe(2);
  expect(w.watermark()).toBe(w.head() - 1);
  const stats = w.host.spaceStats(w.space);
  expect(stats.events).toMatchObject({ appended: 1, processed: 1 });
  expect(stats.settleAdvances.count).toBeGreaterThanOrEqual(1);
  await w.stop();
});
