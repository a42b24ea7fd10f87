import { cell, handler, pattern } from "@tidemark/runtime";
import { z } from "zod";
import { Patch } from "./patch.js";

/**
 * A text that events edit, one transaction of a recording each. `applied` counts the events in the same handler, so
 * that one that was lost or done twice shows even where the text does not tell.
 *
 * This module is what a server is given by `--patterns`: it exports patterns and nothing else.
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
