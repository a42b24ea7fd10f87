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
