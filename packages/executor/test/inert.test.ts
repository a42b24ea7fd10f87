import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { action, cell, computed, pattern } from "@tidemark/runtime";
import { lab } from "./support/patterns.js";
import { createWorld } from "./support/world.js";

beforeEach(() => lab.runs.clear());

/** What is derived from a contested value, until a switch turns it to another. */
const turned = pattern({
  id: "turned",
  version: "1",
  build: () => {
    const contested = cell("contested", z.number(), { default: 0 });
    const quiet = cell("quiet", z.number(), { default: 7 });
    const turn = cell("turn", z.boolean(), { default: false });
    const seen = cell("seen", z.number(), { default: 0 });
    const shown = computed("shown", () => {
      lab.ran("shown");
      return turn.get() ? quiet.get() : contested.get();
    });
    const bump = action("bump", () => {
      contested.set(contested.get() + 1);
    });
    const look = action("look", () => {
      seen.set(shown.get());
    });
    const flip = action("flip", () => {
      turn.set(true);
    });
    return { contested, quiet, turn, seen, shown, bump, look, flip };
  },
});

test("[EX-W15] a node that has sealed anew is not run again for what was withdrawn of it before", async () => {
  const w = await createWorld({ patterns: [turned] });
  const piece = await w.create(turned);
  await w.open(w.owner, piece, ["shown"]);
  const ben = await w.t.connected("ben");
  await ben.call("space.open", { space: w.space, watches: [] });
  await w.settle();
  lab.runs.clear();
  w.t.gates.hold("feed:before-apply");
  for (const name of ["bump", "look", "flip"]) await w.fire(w.owner, piece, name);
  w.t.gates.hold("wave:before-commit");
  w.t.gates.release("feed:before-apply");
  await w.t.run();
  expect(lab.runs.get("shown")).toBe(2);
  await w.write(ben, piece, "contested", 40);
  w.t.gates.release("wave:before-commit");
  await w.settle();
  expect([w.value(piece, "shown"), w.value(piece, "seen")]).toEqual([7, 7]);
  expect(w.value(piece, "contested")).toBe(41);
  expect(lab.runs.get("shown")).toBe(2);
  await w.stop();
});
