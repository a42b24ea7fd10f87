import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyOperation,
  applyPatch,
  getAt,
  type JsonValue,
  PatchError,
  type PatchOp,
  type PatchReason,
  type Path,
} from "../../src/index.js";
import { clone, deepFreeze, HOSTILE_KEYS, jsonValues } from "../support/json-arbitraries.js";
import { patches } from "../support/patch-arbitraries.js";

function refusal(value: JsonValue | undefined, ...ops: PatchOp[]): PatchReason | undefined {
  try {
    applyPatch(value, ops);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(PatchError);
    return (error as PatchError).reason;
  }
}

function nest(depth: number): JsonValue {
  let value: JsonValue = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

describe("overwriting operations", () => {
  test("[PR-P1] replace and add write a key under an existing container", () => {
    const value = { a: { b: 1 } };
    expect(applyPatch(value, [{ op: "replace", path: ["a", "c"], value: 2 }])).toEqual({
      a: { b: 1, c: 2 },
    });
    expect(applyPatch(value, [{ op: "add", path: ["a", "b"], value: 2 }])).toEqual({ a: { b: 2 } });
    expect(applyPatch(value, [{ op: "replace", path: [], value: 7 }])).toBe(7);
    expect(applyPatch(undefined, [{ op: "replace", path: [], value: 7 }])).toBe(7);
  });

  test("[PR-P1] a path that leads to no container of its kind is refused", () => {
    const op = (path: Path): PatchOp => ({ op: "replace", path, value: 1 });
    expect(refusal({ a: {} }, op(["b", "c"]))).toBe("no-container");
    expect(refusal({ a: 1 }, op(["a", "c"]))).toBe("no-container");
    expect(refusal({ a: null }, op(["a", "c"]))).toBe("no-container");
    expect(refusal({ a: [] }, op(["a", "0"]))).toBe("no-container");
    expect(refusal({ a: {} }, op(["a", 0]))).toBe("no-container");
    expect(refusal("text", op([0]))).toBe("no-container");
    expect(refusal(undefined, op(["a"]))).toBe("no-document");
    expect(refusal(undefined)).toBe("no-document");
    expect(refusal({}, op(Array.from({ length: 65 }, () => "a")))).toBe("bad-path");
  });

  test("[PR-P2] in an array replace writes an element or the one after the last, add inserts", () => {
    expect(applyPatch([1, 2], [{ op: "replace", path: [1], value: 9 }])).toEqual([1, 9]);
    expect(applyPatch([1, 2], [{ op: "replace", path: [2], value: 9 }])).toEqual([1, 2, 9]);
    expect(applyPatch([1, 2], [{ op: "add", path: [0], value: 9 }])).toEqual([9, 1, 2]);
    expect(applyPatch([1, 2], [{ op: "add", path: [2], value: [3] }])).toEqual([1, 2, [3]]);
    expect(applyPatch([1, 2, 3], [{ op: "remove", path: [1] }])).toEqual([1, 3]);
  });

  test("[PR-P2] an index that makes a hole, or is none, is refused", () => {
    for (const index of [3, -1, 0.5, Number.NaN, 2 ** 53]) {
      expect(refusal([1, 2], { op: "replace", path: [index], value: 1 })).toBe("bad-index");
      expect(refusal([1, 2], { op: "add", path: [index], value: 1 })).toBe("bad-index");
    }
    expect(refusal([1, 2], { op: "remove", path: [2] })).toBe("bad-index");
    expect(refusal([1], { op: "increment", path: [1], value: 1 })).toBe("bad-index");
  });

  test("[PR-P3] removing a key or a value that is not there changes nothing", () => {
    const value = deepFreeze({ a: { b: 1 }, list: [{ n: 1 }, { n: 2 }, { n: 1 }] });
    expect(applyPatch(value, [{ op: "remove", path: ["a", "c"] }])).toBe(value);
    expect(applyPatch(value, [{ op: "remove", path: ["list"], value: { n: 3 } }])).toBe(value);
    expect(applyPatch(value, [{ op: "remove", path: ["gone"], value: 1 }])).toBe(value);
    expect(applyPatch(value, [{ op: "remove", path: ["a", "b"] }])).toEqual({
      a: {},
      list: value.list,
    });
    expect(
      getAt(applyPatch(value, [{ op: "remove", path: ["list"], value: { n: 1 } }]), ["list"]),
    ).toEqual([{ n: 2 }]);
    expect(applyPatch([1, 2], [{ op: "remove", path: [], value: 1 }])).toEqual([2]);
    expect(refusal(value, { op: "remove", path: ["a"], value: 1 })).toBe("not-a-list");
  });

  test("[PR-P3] the whole value is removed by a delete and never by a patch", () => {
    expect(refusal({}, { op: "remove", path: [] })).toBe("root-removal");
    expect(applyOperation({ a: 1 }, { op: "delete" })).toBeUndefined();
    expect(applyOperation(undefined, { op: "set", value: null })).toBeNull();
    expect(
      applyOperation(1, { op: "patch", value: [{ op: "increment", path: [], value: 1 }] }),
    ).toBe(2);
  });
});

describe("merging operations", () => {
  test("[PR-P4] append and addUnique grow a list, and an equal element is added once", () => {
    const add = (op: "append" | "addUnique", value: JsonValue): PatchOp => ({
      op,
      path: ["l"],
      value,
    });
    expect(applyPatch({}, [add("append", 1), add("append", [2])])).toEqual({ l: [1, [2]] });
    expect(applyPatch({ l: [1] }, [add("append", [2])])).toEqual({ l: [1, [2]] });
    const value = deepFreeze({ l: [{ a: 1, b: 2 }] });
    expect(applyPatch(value, [add("addUnique", { b: 2, a: 1 })])).toBe(value);
    expect(applyPatch(value, [add("addUnique", { a: 1 })])).toEqual({
      l: [{ a: 1, b: 2 }, { a: 1 }],
    });
    for (const op of ["append", "addUnique"] as const) {
      expect(refusal({ l: {} }, add(op, 1))).toBe("not-a-list");
      expect(refusal({ l: null }, add(op, 1))).toBe("not-a-list");
    }
  });

  test("[PR-P5] increment adds to a number, starting from 0 where the key is absent", () => {
    const by = (value: number): PatchOp => ({ op: "increment", path: ["n"], value });
    expect(applyPatch({}, [by(3), by(4)])).toEqual({ n: 7 });
    expect(Object.is(getAt(applyPatch({ n: 2 }, [by(-2)]), ["n"]), 0)).toBe(true);
    expect(refusal({ n: "1" }, by(1))).toBe("not-a-number");
    expect(refusal({ n: null }, by(1))).toBe("not-a-number");
    for (const bad of [0, -0, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(refusal({ n: 1 }, by(bad))).toBe("bad-value");
    }
    expect(refusal({ n: Number.MAX_VALUE }, by(Number.MAX_VALUE))).toBe("bad-value");
  });

  test("[PR-P6] splice edits a list; what lies past the end is cut to it", () => {
    const splice = (index: number, remove: number, ...insert: JsonValue[]): PatchOp => ({
      op: "splice",
      path: [],
      index,
      remove,
      insert,
    });
    expect(applyPatch([1, 2, 3], [splice(1, 1, 8, [9])])).toEqual([1, 8, [9], 3]);
    expect(applyPatch([1], [splice(9, 9, 2)])).toEqual([1, 2]);
    const value = deepFreeze([1]);
    expect(applyPatch(value, [splice(0, 0)])).toBe(value);
    expect(refusal([1], splice(-1, 0))).toBe("bad-index");
    expect(refusal([1], splice(0, 0.5))).toBe("bad-index");
    expect(refusal({}, splice(0, 0, 1))).toBe("not-text-or-list");
    expect(refusal("ab", splice(0, 0, "c"))).toBe("not-text-or-list");
    expect(refusal([1], { op: "splice", path: [], index: 0, remove: 0, insert: "a" })).toBe(
      "not-text-or-list",
    );
  });

  test("[PR-P7] on an absent document a merging operation starts from its default", () => {
    const append: PatchOp = {
      op: "append",
      path: ["items"],
      value: 1,
      ifAbsent: deepFreeze({ items: [0], title: "t" }),
    };
    expect(applyPatch(undefined, [append])).toEqual({ items: [0, 1], title: "t" });
    expect(applyPatch(undefined, [append, append])).toEqual({ items: [0, 1, 1], title: "t" });
    expect(applyPatch({ title: "x" }, [append])).toEqual({ items: [1], title: "x" });
    expect(applyPatch(undefined, [{ op: "increment", path: [], value: 2, ifAbsent: 10 }])).toBe(12);
  });

  test("[PR-P7] without a default it starts from the empty value of its kind, at the root alone", () => {
    expect(applyPatch(undefined, [{ op: "append", path: [], value: 1 }])).toEqual([1]);
    expect(applyPatch(undefined, [{ op: "increment", path: [], value: 1 }])).toBe(1);
    const splice = { op: "splice", path: [], index: 0, remove: 0 } as const;
    expect(applyPatch(undefined, [{ ...splice, insert: "a" }])).toBe("a");
    expect(applyPatch(undefined, [{ ...splice, insert: [1] }])).toEqual([1]);
    expect(refusal(undefined, { op: "append", path: ["l"], value: 1 })).toBe("no-document");
    expect(refusal(null, { op: "append", path: [], value: 1, ifAbsent: [] })).toBe("not-a-list");
  });
});

describe("applyPatch", () => {
  test("[PR-P8] never changes its input or its operations, whatever the patch", () => {
    let applied = 0;
    fc.assert(
      fc.property(jsonValues, patches, (value, ops) => {
        const input = deepFreeze(clone(value));
        for (const op of ops) deepFreeze(op as never);
        try {
          applyPatch(input, ops);
          applied++;
        } catch (error) {
          // A TypeError would be a write to frozen input: only a refusal may come out.
          expect(error).toBeInstanceOf(PatchError);
        }
      }),
      { numRuns: 2000 },
    );
    expect(applied).toBeGreaterThan(200);
  });

  test("[PR-P8] one patch gives what its operations give one after the other", () => {
    fc.assert(
      fc.property(jsonValues, patches, (value, ops) => {
        const outcome = attempt(() => applyPatch(value, ops));
        const single = attempt(() =>
          ops.reduce<JsonValue>((current, op) => applyPatch(current, [op]), value),
        );
        expect(outcome).toEqual(single);
      }),
      { numRuns: 2000 },
    );
  });

  test("[PR-P9] shares with its input whatever did not change", () => {
    const value = deepFreeze({ a: { deep: [1] }, b: { n: 1 }, c: [{ x: 1 }, { x: 2 }] });
    const result = applyPatch(value, [
      { op: "increment", path: ["b", "n"], value: 1 },
      { op: "replace", path: ["c", 1, "x"], value: 3 },
    ]) as typeof value;
    expect(result.a).toBe(value.a);
    expect(result.c[0]).toBe(value.c[0]);
    expect(result).toEqual({ a: { deep: [1] }, b: { n: 2 }, c: [{ x: 1 }, { x: 3 }] });
    expect(applyPatch(value, [{ op: "replace", path: ["b", "n"], value: 1 }])).toBe(value);
  });

  test("[PR-P9] a value put in twice is not one value afterwards", () => {
    const shared = { n: 0 };
    const result = applyPatch({}, [
      { op: "add", path: ["a"], value: shared },
      { op: "add", path: ["b"], value: shared },
      { op: "increment", path: ["a", "n"], value: 1 },
      { op: "increment", path: ["a", "n"], value: 1 },
    ]);
    expect(result).toEqual({ a: { n: 2 }, b: { n: 0 } });
    expect(shared).toEqual({ n: 0 });
  });

  test("[PR-P10] a refusal names the operation, its path and its place in the patch", () => {
    const ops: PatchOp[] = [
      { op: "add", path: ["a"], value: 1 },
      { op: "append", path: ["a"], value: 1 },
    ];
    expect(() => applyPatch({}, ops)).toThrow(
      expect.objectContaining({
        details: { path: ["a"], reason: "not-a-list", index: 1 },
        message: expect.stringContaining('append at ["a"]') as string,
      }),
    );
  });

  test("[PR-P11] no patch makes a value that nests deeper than 64", () => {
    const deep = nest(64);
    const path = Array.from({ length: 63 }, () => 0);
    expect(refusal(deep, { op: "replace", path: [...path, 0], value: 1 })).toBeUndefined();
    expect(refusal(deep, { op: "replace", path: [...path, 0], value: [] })).toBe("too-deep");
    expect(refusal(deep, { op: "append", path, value: {} })).toBe("too-deep");
    expect(refusal(deep, { op: "addUnique", path, value: [] })).toBe("too-deep");
    expect(refusal(deep, { op: "append", path, value: 2 })).toBeUndefined();
    expect(refusal(deep, { op: "splice", path, index: 0, remove: 0, insert: [[]] })).toBe(
      "too-deep",
    );
    expect(refusal(1, { op: "replace", path: [], value: nest(65) })).toBe("too-deep");
    expect(refusal([], { op: "add", path: [0], value: { a: nest(63) } })).toBe("too-deep");
  });

  test("[PR-V6] paths of hostile keys are data or lead nowhere", () => {
    for (const key of HOSTILE_KEYS) {
      expect(refusal({}, { op: "replace", path: [key, "x"], value: 1 })).toBe("no-container");
      expect(refusal({}, { op: "append", path: ["a", key], value: 1 })).toBe("no-container");
      const first = applyPatch({}, [{ op: "add", path: [key], value: {} }]);
      const second = applyPatch(first, [{ op: "add", path: [key, "polluted"], value: 1 }]);
      expect(getAt(second, [key])).toEqual({ polluted: 1 });
      expect(Object.keys(second as object)).toEqual([key]);
      const third = applyPatch(second, [
        { op: "increment", path: [key, "polluted"], value: 1 },
        { op: "add", path: ["other"], value: 1 },
        { op: "remove", path: ["other"] },
      ]);
      expect(JSON.stringify(third)).toBe(`{"${key}":{"polluted":2}}`);
      expect(JSON.stringify(applyPatch(third, [{ op: "remove", path: [key] }]))).toBe("{}");
      expect(applyPatch({}, [{ op: "remove", path: [key] }])).toEqual({});
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("[PR-P9] removing a key keeps hostile siblings as own data", () => {
    const value = JSON.parse('{"__proto__":{"x":1},"a":1}') as JsonValue;
    const result = applyPatch(value, [{ op: "remove", path: ["a"] }]);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"x":1}}');
  });
});

function attempt(run: () => JsonValue): JsonValue | string {
  try {
    return run();
  } catch (error) {
    return `refused: ${(error as PatchError).reason}`;
  }
}
