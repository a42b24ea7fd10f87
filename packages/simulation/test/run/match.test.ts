import { expect, test } from "vitest";
import { matches } from "../../src/run/match.js";

const ids = (name: string) => (name === "$e1" ? "01EVENT" : undefined);

test("[SI-M1] an object without `partial` has exactly the fields that are named", () => {
  expect(matches({ a: 1 }, { a: 1 }, ids)).toBe(true);
  expect(matches({ a: 1, b: 2 }, { a: 1 }, ids)).toBe(false);
  expect(matches({ a: 1, b: 2 }, { a: 1 }, ids, "partial")).toBe(true);
  expect(matches({ a: { b: 1, c: 2 } }, { a: { b: 1 } }, ids, "partial")).toBe(true);
});

test("[SI-M1] a list has exactly the elements that are named, also partially", () => {
  expect(matches([{ k: 1, l: 2 }], [{ k: 1 }], ids, "partial")).toBe(true);
  expect(matches([{ k: 1 }, { k: 2 }], [{ k: 1 }], ids, "partial")).toBe(false);
});

test("[SI-M2] comparators bound a number from both sides and match nothing else", () => {
  expect(matches(2, { ">=": 1, "<": 3 }, ids)).toBe(true);
  expect(matches(3, { ">=": 1, "<": 3 }, ids)).toBe(false);
  expect(matches("2", { ">=": 1 }, ids)).toBe(false);
  expect(matches(undefined, { "<=": 1 }, ids)).toBe(false);
});

test("[SI-M2] a pattern matches strings, an event's name stands for its id, absence is the lack of a field", () => {
  expect(matches("evk:abc", { "~": "^evk:.+" }, ids)).toBe(true);
  expect(matches(7, { "~": "." }, ids)).toBe(false);
  expect(matches("01EVENT", "$e1", ids)).toBe(true);
  expect(matches("$e2", "$e2", ids)).toBe(true);
  expect(matches({ a: 1 }, { a: 1, b: { absent: true } }, ids)).toBe(true);
  expect(matches({ a: 1, b: 0 }, { a: 1, b: { absent: true } }, ids)).toBe(false);
});

test("[SI-M2] null is what is absent, and nothing that is there", () => {
  expect(matches(undefined, null, ids)).toBe(true);
  expect(matches(null, null, ids)).toBe(true);
  expect(matches(0, null, ids)).toBe(false);
  expect(matches(false, null, ids)).toBe(false);
});
