import { expect, test } from "vitest";
import { z } from "zod";
import { action, cell, computed, pattern } from "@tidemark/runtime";
import { lab } from "./support/patterns.js";
import { createHost, createWorld } from "./support/world.js";

/** A count that two write at once, and what a patient reader derives from it. */
const tally = pattern({
  id: "tally",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const out = cell("out", z.number(), { default: 0 });
    const other = cell("other", z.number(), { default: 0 });
    const beside = computed("beside", () => other.get());
    const twice = computed("twice", () => n.get() * 2);
    const inc = action("inc", () => {
      n.increment(1);
    });
    const look = action("look", async (ctx) => {
      await lab.doors.get("look");
      ctx.cell(out).set(ctx.cell(twice).get());
    });
    return { n, out, other, beside, twice, inc, look };
  },
});

test("[EX-R5] what is derived under a body from a rebased write, before the replica has what it landed on, is not vouched for", async () => {
  const w = await createWorld({ patterns: [tally], policy2: { flushDeadlineMs: 100 } });
  const piece = await w.create(tally);
  await w.open(w.owner, piece, ["beside"]);
  const ben = await w.t.connected("ben");
  await ben.call("space.open", { space: w.space, watches: [] });
  await w.settle();
  const open = lab.door("look");
  w.t.gates.hold("feed:before-apply");
  await w.write(w.owner, piece, "other", 1);
  await w.fire(w.owner, piece, "inc");
  await w.fire(w.owner, piece, "look");
  w.t.gates.release("feed:before-apply");
  await w.t.run();
  await w.patch(ben, piece, "n", [{ op: "increment", path: [], value: 5, ifAbsent: 0 }]);
  await w.t.clock.advance(101);
  await w.t.run();
  expect(w.value(piece, "n")).toBe(6);
  open();
  await w.settle();
  expect(w.value(piece, "twice")).toBe(2);
  const stopping = w.host.stop();
  await w.t.clock.advance(10_000);
  await stopping;
  const host = createHost(w.t, { patterns: [tally] }, [], 21);
  host.start();
  await w.open(w.owner, piece, ["twice"]);
  await w.settle(1_000);
  expect(w.value(piece, "twice")).toBe(12);
  const again = host.stop();
  await w.t.clock.advance(10_000);
  await again;
  await w.t.stop();
});
