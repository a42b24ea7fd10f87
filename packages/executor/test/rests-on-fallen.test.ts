import { expect, test } from "vitest";
import { z } from "zod";
import { action, cell, pattern } from "@tidemark/runtime";
import { createWorld } from "./support/world.js";

/** One handler makes a document and reads what others write; another writes a part of that document, blind. */
const shelf = pattern({
  id: "shelf",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const box = cell("box", z.record(z.string(), z.unknown()), { default: {} });
    const make = action("make", () => {
      box.set({ made: n.get() });
      n.set(n.get() + 1);
    });
    const mark = action("mark", () => {
      box.key("mark").set(true);
    });
    return { n, box, make, mark };
  },
});

test("[EX-W33] one that wrote into what a raced event had made runs again after it, and no tenure fails for it", async () => {
  const w = await createWorld({ patterns: [shelf] });
  const piece = await w.create(shelf);
  await w.open(w.owner, piece, ["n"]);
  const ben = await w.t.connected("ben");
  await ben.call("space.open", { space: w.space, watches: [] });
  await w.settle();
  w.t.gates.hold("feed:before-apply");
  const e1 = await w.fire(w.owner, piece, "make");
  const e2 = await w.fire(w.owner, piece, "mark");
  w.t.gates.hold("wave:before-commit");
  w.t.gates.release("feed:before-apply");
  await w.t.run();
  expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
  await w.write(ben, piece, "n", 40);
  w.t.gates.release("wave:before-commit");
  await w.settle(2_000);
  expect(w.value(piece, "box")).toEqual({ made: 40, mark: true });
  expect([w.value(piece, "n"), w.naming(e1), w.naming(e2)]).toEqual([41, 1, 1]);
  expect(w.reports.filter(({ kind }) => kind === "tenure-failed")).toEqual([]);
  await w.stop();
});
