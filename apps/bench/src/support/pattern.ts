import { cell, handler, pattern } from "@tidemark/runtime";
import { z } from "zod";

/** The smallest durable work: one number, counted up. */
export const benchCounter = pattern({
  id: "bench-counter",
  version: "1",
  build: () => {
    const count = cell("count", z.number(), { default: 0 });
    const increment = handler("increment", z.unknown(), () => count.increment(1));
    return { count, increment };
  },
});

/** One change of a text: at a code point, so many taken out, this put in. */
export const Patch = z.tuple([z.number().int().min(0), z.number().int().min(0), z.string()]);

/** A text that events edit. */
export const benchText = pattern({
  id: "bench-text",
  version: "1",
  build: () => {
    const text = cell("text", z.string(), { default: "" });
    const edit = handler("edit", z.array(Patch), (patches) => {
      for (const [at, remove, insert] of patches) text.splice(at, remove, insert);
    });
    return { text, edit };
  },
});
