import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Selector, selectorProblem, SelectorSchema, WatchSchema } from "../../src/index.js";

const { selector } = fc.letrec<{ selector: Selector }>((tie) => ({
  selector: fc.oneof(
    { maxDepth: 5, depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Selector>({ kind: "value" }, { kind: "any" }),
    fc.record({ kind: fc.constant("follow" as const), to: tie("selector") }),
    fc.record({ kind: fc.constant("list" as const), items: tie("selector") }),
    fc.record(
      {
        kind: fc.constant("object" as const),
        keys: fc.dictionary(fc.constantFrom("a", "__proto__", "kind"), tie("selector")),
        rest: tie("selector"),
      },
      { requiredKeys: ["kind", "keys"] },
    ),
  ),
}));

test("[PR-Q1] every selector of the five kinds is taken as it is", () => {
  fc.assert(
    fc.property(selector, (value) => {
      expect(selectorProblem(value, { maxDepth: 64, maxNodes: 100_000 })).toBeUndefined();
      expect(SelectorSchema.parse(value)).toBe(value);
    }),
  );
});

test.each<[string, unknown, readonly (string | number)[]]>([
  ["no object", "any", []],
  ["an array", [], []],
  ["an unknown kind", { kind: "all" }, []],
  ["an inherited kind", { kind: "toString" }, []],
  ["a kind too few", { keys: {} }, []],
  ["a field of another kind", { kind: "any", to: { kind: "any" } }, []],
  ["a missing field", { kind: "follow" }, []],
  ["a broken part", { kind: "list", items: { kind: "follow", to: 1 } }, ["items", "to"]],
  ["broken keys", { kind: "object", keys: [] }, []],
  ["a broken key", { kind: "object", keys: { a: { kind: "x" } } }, ["keys", "a"]],
  ["an own __proto__", JSON.parse('{"kind":"any","__proto__":{"kind":"any"}}'), []],
])("[PR-Q1] %s is refused with its path", (_title, value, path) => {
  expect(selectorProblem(value)?.path).toEqual(path);
  expect(SelectorSchema.safeParse(value).success).toBe(false);
});

test("[PR-Q1] depth and size are bounded, without recursion", () => {
  let deep: unknown = { kind: "any" };
  for (let depth = 0; depth < 100_000; depth += 1) deep = { kind: "follow", to: deep };
  expect(selectorProblem(deep)?.reason).toBe("deeper than 32");
  const keys = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [at, { kind: "value" }]));
  expect(selectorProblem({ kind: "object", keys })?.reason).toBe("more than 1024 nodes");
});

test("[PR-Q1] a watch has a root or is of the pieces, and not both", () => {
  const root = { id: "piece:x" };
  expect(WatchSchema.safeParse({ id: "w", root }).success).toBe(true);
  expect(
    WatchSchema.safeParse({ id: "w", pieces: true, selector: { kind: "value" } }).success,
  ).toBe(true);
  expect(WatchSchema.safeParse({ id: "w" }).success).toBe(false);
  expect(WatchSchema.safeParse({ id: "w", root, pieces: true }).success).toBe(false);
  expect(WatchSchema.safeParse({ id: "w", root, pieces: false }).success).toBe(false);
});
