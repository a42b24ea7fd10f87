import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { counter, lunchPoll, samplePatterns } from "@tidemark/patterns";
import { cell, computed, handler, pattern, type Pattern } from "@tidemark/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { createToolshed } from "../src/index.js";
import { seen, voter } from "./support/voter.js";

/** The counter of the samples, whose steps are ten times as long. */
const counter2 = pattern({
  id: counter.id,
  version: "2",
  argument: z.object({ title: z.string().default("Counter") }),
  build: ({ argument }) => {
    const count = cell("count", z.number(), { default: 0 });
    const parity = computed("parity", () => `${count.get()} steps`);
    const increment = handler("increment", z.object({ by: z.number() }), ({ by }) => {
      count.increment(by * 10);
    });
    return { title: argument.key("title"), count, parity, increment };
  },
});

test("what an operator asks of a space's pieces is what its people see and work with", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "toolshed-lifecycle-"));
  const patterns = [...samplePatterns, counter2 as unknown as Pattern];
  const demo = lunchPoll as unknown as Pattern;
  const toolshed = await createToolshed({ dataDir, patterns, demo });
  const { space } = toolshed.demo ?? expect.fail("the demo is there");
  const ana = voter(toolshed.loopback, toolshed.demo ?? expect.fail("the demo is there"));
  try {
    const asked = { principal: ana.did, cause: "the operator's counter" };
    const made = await toolshed.host.lifecycle(space, {
      ...asked,
      verb: "create",
      pattern: { id: counter.id, version: counter.version },
      argument: { title: "Coffees" },
    });
    await seen(ana.space.pieces, (pieces) => pieces.some(({ id }) => id === made.piece));
    const piece = ana.space.piece(made.piece, counter);
    await piece.fire("increment", { by: 3 }).settled;
    await seen(piece.get("parity"), (parity) => parity === "odd");

    await toolshed.host.lifecycle(space, {
      ...asked,
      verb: "setsrc",
      piece: made.piece,
      pattern: { id: counter.id, version: "2" },
    });
    const moved = ana.space.piece(made.piece, counter2);
    await seen(moved.get("parity"), (parity) => parity === "3 steps");
    await moved.fire("increment", { by: 1 }).settled;
    await seen(moved.get("count"), (count) => count === 13);
    await seen(moved.get("title"), (title) => title === "Coffees");
  } finally {
    ana.client.drop();
    await toolshed.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
