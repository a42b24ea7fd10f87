import { cell, computed, handler, pattern } from "@tidemark/runtime";
import { z } from "zod";

const Step = z.object({
  by: z.number().int().default(1).meta({ title: "By", description: "How much to add or take." }),
});

/** One number that everybody counts up and down. */
export const counter = pattern({
  id: "counter",
  version: "1",
  title: "Counter",
  description: "One number that everybody counts up and down.",
  argument: z.object({ title: z.string().default("Counter").meta({ title: "Title" }) }),
  build: ({ argument }) => {
    const count = cell("count", z.number(), { default: 0, title: "Count" });
    const parity = computed("parity", () => (count.get() % 2 === 0 ? "even" : "odd"), {
      title: "Even or odd",
      schema: z.enum(["even", "odd"]),
    });
    const increment = handler("increment", Step, ({ by }) => count.increment(by), {
      title: "Count up",
    });
    const decrement = handler("decrement", Step, ({ by }) => count.increment(-by), {
      title: "Count down",
    });
    const reset = handler("reset", z.unknown(), () => count.set(0), { title: "Start again" });
    return { title: argument.key("title"), count, parity, increment, decrement, reset };
  },
});
