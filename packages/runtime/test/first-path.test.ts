import { expect, test } from "vitest";
import { z } from "zod";
import { cell, computed, handler, pattern } from "../src/index.js";
import { createTestSpace } from "../src/testing/index.js";
import { idOf, runsOf, stored } from "./kit.js";

const counter = pattern({
  id: "counter",
  version: "1",
  build: () => {
    const count = cell("count", z.number(), { default: 0 });
    const double = computed("double", () => count.get() * 2);
    const add = handler("add", z.object({ by: z.number() }), ({ by }) => {
      count.increment(by);
    });
    return { count, double, add };
  },
});

test("[RT-P1] a demanded computed follows what a handler writes", async () => {
  const space = createTestSpace();
  const piece = space.start(counter);
  await space.demand(idOf(piece, "double"));
  expect(stored(space, piece, "double")).toBe(0);

  const outcome = await space.fire(idOf(piece, "add"), { by: 4 });
  await space.settle();

  expect(outcome).toEqual({ kind: "sealed", value: undefined });
  expect(stored(space, piece, "count")).toBe(4);
  expect(stored(space, piece, "double")).toBe(8);
  expect(runsOf(space, "double")).toBe(2);
});

test("[RT-P1] a computed that nobody demands or reads does not run", async () => {
  const space = createTestSpace();
  const piece = space.start(counter);

  await space.fire(idOf(piece, "add"), { by: 4 });
  await space.settle();

  expect(runsOf(space, "double")).toBe(0);
  expect(stored(space, piece, "double")).toBeUndefined();
});
