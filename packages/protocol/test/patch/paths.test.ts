import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyPatch,
  getAt,
  isMerging,
  isPathPrefix,
  jsonEqual,
  type JsonValue,
  operationsCommute,
  overwritesOf,
  overwrittenPaths,
  standingPart,
  type PatchOp,
  type Path,
  pathsOverlap,
  touchedPaths,
  type ValueOperation,
} from "../../src/index.js";
import { jsonValues, paths } from "../support/json-arbitraries.js";
import { opsAt, pathsOf } from "../support/patch-arbitraries.js";

const replace: PatchOp = { op: "replace", path: ["a", "b"], value: 1 };
const append: PatchOp = { op: "append", path: ["l"], value: 1 };
const increment: PatchOp = { op: "increment", path: ["n"], value: 1 };
const splice: PatchOp = { op: "splice", path: ["l"], index: 0, remove: 1, insert: [] };

function patch(...value: PatchOp[]): ValueOperation {
  return { op: "patch", value };
}

describe("paths of an operation", () => {
  test("[PR-P12] set and delete overwrite the root, replace, add and remove their path", () => {
    expect(overwrittenPaths({ op: "set", value: 1 })).toEqual([[]]);
    expect(overwrittenPaths({ op: "delete" })).toEqual([[]]);
    const ops: PatchOp[] = [
      replace,
      append,
      { op: "add", path: ["l", 0], value: 1 },
      { op: "remove", path: ["c"] },
      splice,
      increment,
    ];
    expect(overwrittenPaths(patch(...ops))).toEqual([["a", "b"], ["l", 0], ["c"]]);
    expect(overwrittenPaths({ ...append, op: "addUnique" })).toEqual([]);
    expect(overwrittenPaths({ op: "remove", path: ["l"], value: 1 })).toEqual([]);
    expect(ops.map(isMerging)).toEqual([false, true, false, false, true, true]);
  });

  test("[PR-P12] a removal by value overwrites the addition of an equal element, and nothing else", () => {
    const by = overwritesOf(
      patch({ op: "remove", path: ["l"], value: { id: 1 } }, { op: "remove", path: ["c"] }),
    );
    const added: PatchOp = { op: "append", path: ["l"], value: { id: 1 } };
    const unlike: PatchOp[] = [
      { op: "append", path: ["l"], value: { id: 2 } },
      { op: "append", path: [], value: { id: 1 } },
      { op: "append", path: ["l", 0], value: { id: 1 } },
      { op: "replace", path: ["l"], value: [{ id: 1 }] },
      splice,
    ];
    for (const one of [added, { ...added, op: "addUnique" as const }]) {
      expect(standingPart(patch(one), by)).toBeUndefined();
    }
    const others = patch(...unlike);
    expect(standingPart(others, by)).toBe(others);
    const below: PatchOp = { op: "append", path: ["c", "d"], value: 1 };
    expect(standingPart(patch(added, ...unlike, below), by)).toEqual(others);
    const whole: ValueOperation = { op: "set", value: 1 };
    expect(standingPart(whole, by)).toBe(whole);
    expect(standingPart(whole, overwritesOf({ op: "delete" }))).toBeUndefined();
    const byValue = overwritesOf(patch({ op: "remove", path: [], value: 1 }));
    expect(standingPart(whole, byValue)).toBe(whole);
  });

  test("[PR-P13] an element put in or taken out touches its array, a key itself alone", () => {
    expect(touchedPaths({ op: "add", path: ["l", 1], value: 0 })).toEqual([["l"]]);
    expect(touchedPaths({ op: "remove", path: ["l", 1] })).toEqual([["l"]]);
    expect(touchedPaths({ op: "add", path: ["l", "1"], value: 0 })).toEqual([["l", "1"]]);
    expect(touchedPaths({ op: "remove", path: ["o", 0], value: 1 })).toEqual([["o", 0]]);
    expect(touchedPaths({ op: "set", value: 1 })).toEqual([[]]);
    expect(touchedPaths(patch(replace, append))).toEqual([["a", "b"], ["l"]]);
  });

  test("[PR-P13] what no touched path overlaps is the same before and after", () => {
    let changed = 0;
    fc.assert(
      fc.property(valueAndOps(1), ({ value, ops }) => {
        const after = attempt(() => applyPatch(value, ops));
        if (after === undefined || after === value) return;
        changed++;
        const touched = touchedPaths(patch(...ops));
        for (const path of pathsOf(value)) {
          if (touched.some((t) => pathsOverlap(t, path))) continue;
          expect(getAt(after, path)).toEqual(getAt(value, path));
        }
      }),
      { numRuns: 1500 },
    );
    expect(changed).toBeGreaterThan(300);
  });

  test("[PR-P14] two paths overlap when one leads to the other", () => {
    const cases: readonly (readonly [Path, Path, boolean])[] = [
      [[], ["a"], true],
      [["a"], ["a", "b"], true],
      [["a", "b"], ["a"], true],
      [["a", "b"], ["a", "c"], false],
      [["a", 0], ["a", 1], false],
      [["a", 0], ["a", "0"], true],
      [["ab"], ["a", "b"], false],
    ];
    for (const [a, b, expected] of cases) expect(pathsOverlap(a, b)).toBe(expected);
    fc.assert(fc.property(paths, paths, (a, b) => pathsOverlap(a, b) === pathsOverlap(b, a)));
    expect(isPathPrefix(["a"], ["a", "b"])).toBe(true);
    expect(isPathPrefix(["a", "b"], ["a"])).toBe(false);
  });
});

describe("operationsCommute", () => {
  test("[PR-P15] disjoint paths commute and overlapping ones do not", () => {
    expect(operationsCommute(patch(replace), patch(append, increment))).toBe(true);
    expect(operationsCommute(patch(replace), patch({ ...replace, path: ["a"] }))).toBe(false);
    expect(operationsCommute(patch(replace), patch(append, replace))).toBe(false);
    expect(operationsCommute({ op: "set", value: 1 }, patch(append))).toBe(false);
    expect(operationsCommute({ op: "delete" }, { op: "delete" })).toBe(false);
    expect(operationsCommute({ op: "set", value: 1 }, patch())).toBe(true);
    expect(
      operationsCommute(
        patch({ op: "remove", path: ["l", 0] }),
        patch({ op: "replace", path: ["l", 1], value: 1 }),
      ),
    ).toBe(false);
  });

  test("[PR-P15] merging alike at one path commutes, and splices do not", () => {
    for (const op of [append, increment, { ...append, op: "addUnique" } as PatchOp]) {
      expect(operationsCommute(patch(op), patch(op))).toBe(true);
    }
    expect(operationsCommute(patch(splice), patch(splice))).toBe(false);
    expect(operationsCommute(patch(splice), patch(append))).toBe(false);
    expect(operationsCommute(patch(append), patch({ ...append, op: "addUnique" }))).toBe(false);
    expect(operationsCommute(patch(append), patch({ ...append, path: ["l", 0] }))).toBe(false);
  });

  test("[PR-P15] patches that commute give the same value in both orders, up to appends' order", () => {
    let commuted = 0;
    fc.assert(
      fc.property(documents, documentPatches, documentPatches, (value, a, b) => {
        if (!operationsCommute(patch(...a), patch(...b))) return;
        if (attempt(() => applyPatch(value, a)) === undefined) return;
        if (attempt(() => applyPatch(value, b)) === undefined) return;
        commuted++;
        const ab = applyPatch(applyPatch(value, a), b);
        const ba = applyPatch(applyPatch(value, b), a);
        expect(jsonEqual(sortedLists(ab), sortedLists(ba))).toBe(true);
      }),
      { numRuns: 3000 },
    );
    expect(commuted).toBeGreaterThan(200);
  });
});

/** A value and operations, most of them at or just below places that the value has. */
function valueAndOps(
  count: number,
): fc.Arbitrary<{ readonly value: JsonValue; readonly ops: readonly PatchOp[] }> {
  return jsonValues.chain((value) => {
    const places = fc.constantFrom(...pathsOf(value));
    const below = fc
      .tuple(places, fc.constantFrom<string | number>("a", "b", "__proto__", 0, 1))
      .map(([path, step]) => [...path, step]);
    const ops = opsAt(fc.oneof(places, below));
    return fc.record({
      value: fc.constant(value),
      ops: fc.array(ops, { minLength: count, maxLength: count }),
    });
  });
}

const ints = fc.integer({ min: -2, max: 2 });
const lists = fc.array(ints, { maxLength: 3 });
const documents = fc.record({
  n: ints,
  l: lists,
  t: fc.string(),
  o: fc.record({ x: ints, l: lists }),
});
const listPaths = fc.constantFrom<Path>(["l"], ["o", "l"]);
const numberPaths = fc.constantFrom<Path>(["n"], ["o", "x"], ["o", "new"], ["l", 0], ["l", 1]);

/** Patches that mostly fit {@link documents}. */
const documentPatches = fc.array(
  fc.oneof(
    fc.record({ op: fc.constantFrom("append", "addUnique"), path: listPaths, value: ints }),
    fc.record({ op: fc.constant("increment"), path: numberPaths, value: fc.constantFrom(1, 2) }),
    fc.record({ op: fc.constantFrom("replace", "add"), path: numberPaths, value: ints }),
    fc.record({ op: fc.constant("remove"), path: numberPaths }),
    fc.record({
      op: fc.constant("splice"),
      path: listPaths,
      index: fc.nat({ max: 3 }),
      remove: fc.nat({ max: 2 }),
      insert: lists,
    }),
    fc.record({
      op: fc.constant("splice"),
      path: fc.constant(["t"]),
      index: fc.nat({ max: 3 }),
      remove: fc.nat({ max: 2 }),
      insert: fc.constantFrom("", "x"),
    }),
    fc.constant({ op: "replace", path: ["o"], value: { x: 0, l: [] } }),
  ) as fc.Arbitrary<PatchOp>,
  { minLength: 1, maxLength: 2 },
);

/** Lists as multisets: two appends commute but for the order of their elements. */
function sortedLists(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return value
      .map((item: JsonValue) => sortedLists(item))
      .sort((x, y) => (JSON.stringify(x) < JSON.stringify(y) ? -1 : 1));
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, sortedLists(item as JsonValue)]);
  return Object.fromEntries(entries.sort(([x], [y]) => (String(x) < String(y) ? -1 : 1)));
}

function attempt(run: () => JsonValue): JsonValue | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
