import { cell, handler, pattern } from "@tidemark/runtime";
import { z } from "zod";
import { Patch } from "./patch.js";

// A server is given this module by `--patterns`: it exports patterns and nothing else.

/** A text that events edit, one transaction of a recording each. */
export const recordedText = pattern({
  id: "recorded-text",
  version: "1",
  title: "A text, as recorded",
  build: () => {
    const text = cell("text", z.string(), { default: "" });
    const edit = handler("edit", z.array(Patch), (patches) => {
      for (const [at, remove, insert] of patches) text.splice(at, remove, insert);
    });
    return { text, edit };
  },
});

/**
 * The same, and `applied` counts the events in the same handler: one that was lost or done twice shows even where the
 * text does not tell.
 */
export const replayText = pattern({
  id: "replay-text",
  version: "1",
  title: "A text, replayed",
  build: () => {
    const text = cell("text", z.string(), { default: "" });
    const applied = cell("applied", z.number(), { default: 0 });
    const edit = handler("edit", z.array(Patch), (patches) => {
      for (const [at, remove, insert] of patches) text.splice(at, remove, insert);
      applied.increment(1);
    });
    return { text, applied, edit };
  },
});
