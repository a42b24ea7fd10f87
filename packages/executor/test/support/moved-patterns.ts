import { expect } from "vitest";
import type { DocId } from "@tidemark/protocol";
import { cell, cellAt, computed, handler, pattern } from "@tidemark/runtime";
import { z } from "zod";
import { chain, counter, counter2, lab, patient } from "./patterns.js";
import { document } from "./verbs.js";
import { createWorld, type World, type WorldOptions } from "./world.js";

/** The counter once more. */
export const counter3 = pattern({
  id: "counter",
  version: "3",
  build: () => {
    const count = cell("count", z.number(), { default: 0 });
    return { count, double: computed("double", () => count.get() * 5) };
  },
});

/** Takes an argument that the counter has not. */
export const needy = pattern({
  id: "needy",
  version: "1",
  argument: z.object({ must: z.string() }),
  build: () => ({ n: cell("n", z.number(), { default: 0 }) }),
});

/** Shows the version of another piece's pattern. */
export const onlooker = pattern({
  id: "onlooker",
  version: "1",
  argument: z.object({ at: z.object({ pattern: z.object({ version: z.string() }) }) }),
  build: ({ argument }) => ({
    version: computed("version", () => argument.key("at").key("pattern").key("version").get()),
  }),
});

/** Writes the documents of other pieces. */
export const meddler = pattern({
  id: "meddler",
  version: "1",
  build: () => {
    const log = cell("log", z.array(z.string()), { default: [] });
    const later = handler("later", z.object({ id: z.string() }), async ({ id }, ctx) => {
      const theirs = cellAt<Record<string, string>>({ id: id as DocId });
      await lab.doors.get("later");
      ctx.cell(theirs).key("note").set("mine");
    });
    const say = handler("say", z.string(), (word) => {
      log.append(word);
    });
    /** Moves the pointer itself, the first time that it runs. */
    const repoint = handler("repoint", z.object({ id: z.string() }), async ({ id }, ctx) => {
      const theirs = cellAt<Record<string, unknown>>({ id: id as DocId });
      await lab.doors.get("later");
      lab.ran("repoint");
      if (lab.runs.get("repoint") === 1) {
        ctx.cell(theirs).key("pattern").key("version").set("2");
        ctx.cell(log).set(["moved"]);
      }
    });
    const stamp = handler("stamp", z.object({ id: z.string() }), ({ id }) => {
      lab.ran("stamp");
      cellAt<Record<string, string>>({ id: id as DocId })
        .key("note")
        .set("mine");
    });
    return { log, later, say, stamp, repoint };
  },
});

/** What a source may be moved between, and what looks on. */
export const MOVED = [counter, counter2, counter3, needy, meddler, onlooker, patient, chain];

/** Which version of its pattern a piece's document names. */
export const versionOf = (w: World, piece: DocId): string =>
  (document(w, piece) as { readonly pattern: { readonly version: string } }).pattern.version;

/** A counter at 4 that somebody watches. */
export async function counting(
  options: Partial<WorldOptions> = {},
): Promise<{ readonly w: World; readonly piece: DocId }> {
  const w = await createWorld({ patterns: MOVED, ...options });
  const piece = await w.create(counter);
  await w.open(w.owner, piece, ["count", "double"]);
  await w.write(w.owner, piece, "count", 4);
  await w.settle();
  expect(w.value(piece, "double")).toBe(8);
  return { w, piece };
}
