import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyPatch, diff, isMerging, type JsonValue } from "../../src/index.js";
import { clone, deepFreeze, jsonValues } from "../support/json-arbitraries.js";
import { patches } from "../support/patch-arbitraries.js";

function check(before: JsonValue, after: JsonValue): void {
  const frozen = deepFreeze(clone(before));
  const ops = diff(frozen, deepFreeze(clone(after)));
  expect(applyPatch(frozen, ops)).toEqual(after);
  expect(ops.some(isMerging)).toBe(false);
}

describe("diff", () => {
  test("[PR-P16] applied to the first value it gives the second, and changes neither", () => {
    fc.assert(fc.property(jsonValues, jsonValues, check), { numRuns: 2000 });
  });

  test("[PR-P16] arrays of small numbers, equal elements included, come out right", () => {
    const lists = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 8 });
    fc.assert(fc.property(lists, lists, check), { numRuns: 5000 });
    const nested = fc.array(fc.oneof(lists, fc.constant({ a: 1 })), { maxLength: 4 });
    fc.assert(fc.property(nested, nested, check), { numRuns: 1000 });
  });

  test("[PR-P16] swaps, removals in the middle and growth at both ends come out right", () => {
    const cases: readonly (readonly [JsonValue, JsonValue])[] = [
      [
        ["A", "B"],
        ["B", "A"],
      ],
      [[1, 2, 3, 4], [2]],
      [
        [1, 4, 5],
        [4, 1],
      ],
      [
        [1, 1, 1],
        [1, 1],
      ],
      [[{ n: 1 }, { n: 1 }], [{ n: 1 }]],
      [[3], [1, 2, 3, 4, 5]],
      [[], Array.from({ length: 100 }, (_, i) => i)],
      [Array.from({ length: 100 }, (_, i) => i), []],
      [Array.from({ length: 100 }, (_, i) => i), Array.from({ length: 70 }, (_, i) => i + 20)],
      [{ a: [1] }, { a: { "0": 1 } }],
      [JSON.parse('{"__proto__":{"a":1},"constructor":1}'), JSON.parse('{"__proto__":{"a":2}}')],
    ];
    for (const [before, after] of cases) check(before, after);
  });

  test("[PR-P16] equal values have an empty diff, whatever their key order", () => {
    expect(diff({ a: 1, b: [{}] }, { b: [{}], a: 1 })).toEqual([]);
    expect(diff({ a: 1 }, { a: 1 })).toEqual([]);
  });

  test("[PR-P17] a small change is a small patch at its own path", () => {
    const before = { items: [{ n: 1 }, { n: 2 }, { n: 3 }], title: "t" };
    const edited = { items: [{ n: 1 }, { n: 9 }, { n: 3 }], title: "t" };
    expect(diff(before, edited)).toEqual([{ op: "replace", path: ["items", 1, "n"], value: 9 }]);
    expect(diff(before, { ...before, items: before.items.slice(1) })).toEqual([
      { op: "remove", path: ["items", 0] },
    ]);
    expect(diff({ a: 1 }, { a: 1, b: 2 })).toEqual([{ op: "add", path: ["b"], value: 2 }]);
    expect(diff({ a: 1 }, [1])).toEqual([{ op: "replace", path: [], value: [1] }]);
  });

  test("[PR-P17] the diff of a patched value never names what the patch left alone", () => {
    fc.assert(
      fc.property(jsonValues, patches, (value, ops) => {
        const before = { left: { alone: [1] }, value };
        let after: JsonValue;
        try {
          after = applyPatch(
            before,
            ops.map((op) => ({ ...op, path: ["value", ...op.path] })),
          );
        } catch {
          return;
        }
        const steps = diff(before, after);
        expect(steps.every((step) => step.path[0] === "value")).toBe(true);
        expect(applyPatch(before, steps)).toEqual(after);
      }),
      { numRuns: 1000 },
    );
  });
});
