import { action, cell, pattern } from "@tidemark/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { counter, set, World } from "../support/world.js";

/** A pattern whose asynchronous echo waits for the test. */
function gated() {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const slowly = pattern({
    id: "slowly",
    version: "1",
    build: () => {
      const count = cell("count", z.number(), { default: 0 });
      const slow = action("slow", async (ctx) => {
        const now = ctx.cell(count).get();
        await gate;
        ctx.cell(count).set(now + 1);
      });
      const quick = action("quick", () => count.increment());
      return { count, slow, quick };
    },
  });
  return { slowly, open: () => open() };
}

test("[CL-D24] an event that ended badly says so, although answers come while its frame is being taken in", async () => {
  const world = new World();
  const { slowly, open } = gated();
  const a1 = world.client("alice", "s1", { patterns: [counter, slowly] });
  await world.found(a1);
  const { piece, created } = a1.open(world.space).create(slowly, {}, { cause: "w" });
  await world.run();
  await created;
  world.piece = piece.id;
  const failed = piece.fire("quick");
  await world.run();
  // Its echo is under way: what comes now waits for its turn, and then the echo runs anew on it.
  piece.fire("slow");
  const writes = { count: set(5) };
  await world.serve({ events: [failed], status: "errored", error: "no", writes });
  const later = [piece.fire("quick"), piece.fire("quick")];
  await world.run();
  expect(failed.outcome).toBeUndefined();
  open();
  await world.run();
  expect(failed.outcome).toMatchObject({ kind: "errored", reason: "no" });
  expect(later.map(({ outcome }) => outcome)).toEqual([undefined, undefined]);
});
