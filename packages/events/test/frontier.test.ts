import * as fc from "fast-check";
import { expect, test } from "vitest";
import { advanceFrontier, isBehindFrontier, type FrontierEntry } from "../src/index.js";
import { at } from "./kit.js";

const open = (seq: number, index = 0): FrontierEntry => ({ seq: at(seq), index });
const done = (seq: number, index = 0): FrontierEntry => ({
  seq: at(seq),
  index,
  consequenced: true,
});

test("[EV-W1] the frontier passes the contiguous marked prefix and stops at the first open entry", () => {
  expect(advanceFrontier(at(0), [done(3), done(5), open(8), done(9)])).toBe(5);
  expect(advanceFrontier(at(5), [open(8), done(9)])).toBe(5);
  expect(advanceFrontier(at(0), [done(3), done(5)])).toBe(5);
  expect(advanceFrontier(at(7), [])).toBe(7);
  // What it has passed already counts no more.
  expect(advanceFrontier(at(7), [done(3), open(8)])).toBe(7);
});

test("[EV-W2] entries of one seq pass together or not at all", () => {
  expect(advanceFrontier(at(0), [done(3), done(5, 0), open(5, 1), done(7)])).toBe(3);
  expect(advanceFrontier(at(0), [done(3), done(5, 0), done(5, 1), open(7)])).toBe(5);
});

test("[EV-W3] marks about to commit count, and only at their own place", () => {
  const entries = [open(3), open(5, 0), open(5, 1)];

  expect(advanceFrontier(at(0), entries, [{ seq: at(3), index: 0 }])).toBe(3);
  expect(
    advanceFrontier(at(0), entries, [
      { seq: at(3), index: 0 },
      { seq: at(5), index: 1 },
    ]),
  ).toBe(3);
});

test("[EV-W4] an event at or below the frontier is never processed again", () => {
  expect(isBehindFrontier(at(5), at(5))).toBe(true);
  expect(isBehindFrontier(at(6), at(5))).toBe(false);
});

/** The definition, read literally: the greatest seq with nothing open at or below it. */
function naive(frontier: number, entries: readonly FrontierEntry[]): number {
  const seqs = [...new Set(entries.map((entry) => entry.seq as number))];
  const passed = seqs.filter((seq) =>
    entries.every((entry) => entry.seq > seq || entry.consequenced === true),
  );
  return Math.max(frontier, ...passed);
}

test("[EV-W5] whatever the marks, the frontier equals the naive definition and never goes back", () => {
  const entriesArb = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.boolean()), { maxLength: 30 })
    .map((pairs) => {
      const count = new Map<number, number>();
      return [...pairs]
        .sort(([a], [b]) => a - b)
        .map(([seq, marked]): FrontierEntry => {
          const index = count.get(seq) ?? 0;
          count.set(seq, index + 1);
          return marked ? done(seq, index) : open(seq, index);
        });
    });
  fc.assert(
    fc.property(entriesArb, (entries) => {
      expect(advanceFrontier(at(0), entries)).toBe(naive(0, entries));
    }),
  );
});
