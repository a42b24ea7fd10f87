import { cell, computed, generateText, handler, type Pattern, pattern } from "@tidemark/runtime";
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

/** Requests to a language model that stand at once, as many as a space may have outstanding. */
const ASKS = 16;

/** What a bad neighbour does: a cascade without an end, large values, and a model asked again and again. */
export const benchHostile = pattern({
  id: "bench-hostile",
  version: "1",
  build: () => {
    const turns = cell("turns", z.number(), { default: 0 });
    const topic = cell("topic", z.number(), { default: 0 });
    const hoard = cell("hoard", z.string(), { default: "" });
    const asks = Array.from({ length: ASKS }, (_, i) =>
      generateText(`ask${i}`, () => ({
        model: "bench",
        messages: [{ role: "user", content: `${i} of ${topic.get()}` }],
      })),
    );
    const spin = handler("spin", z.unknown(), () => {
      turns.increment(1);
      spinAgain.send(null);
    });
    const spinAgain = handler("spinAgain", z.unknown(), () => {
      spin.send(null);
    });
    const keep = handler("keep", z.string(), (text) => hoard.set(text));
    const ask = handler("ask", z.unknown(), () => topic.increment(1));
    return {
      turns,
      hoard,
      spin,
      keep,
      ask,
      ...Object.fromEntries(asks.map((a, i) => [`ask${i}`, a])),
    };
  },
});

/** A counter among derivations that have nothing to do with it: what a tenure has to build, or finds built. */
export function benchWide(nodes: number): Pattern {
  return pattern({
    id: "bench-wide",
    version: "1",
    build: () => {
      const input = cell("input", z.number(), { default: 1 });
      const count = cell("count", z.number(), { default: 0 });
      const increment = handler("increment", z.unknown(), () => count.increment(1));
      const derived = Array.from({ length: nodes }, (_, i) => {
        return computed(`d${i}`, () => input.get() * i);
      });
      return { count, increment, ...Object.fromEntries(derived.map((d, i) => [`d${i}`, d])) };
    },
  });
}
