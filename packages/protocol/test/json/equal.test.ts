import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalJson,
  getAt,
  getOwn,
  jsonEqual,
  jsonSameShape,
  type JsonValue,
  setOwn,
} from "../../src/index.js";
import { clone, HOSTILE_KEYS, jsonValues, reversedKeys } from "../support/json-arbitraries.js";

describe("jsonEqual", () => {
  test("[PR-V7] agrees with an independent comparison on any two values", () => {
    fc.assert(
      fc.property(jsonValues, jsonValues, (a, b) => {
        expect(jsonEqual(a, b)).toBe(isDeepStrictEqual(a, b));
        expect(jsonEqual(b, a)).toBe(jsonEqual(a, b));
        expect(jsonEqual(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
      }),
      { numRuns: 1000 },
    );
  });

  test("[PR-V7] a value equals its copy in any key order", () => {
    fc.assert(fc.property(jsonValues, (v) => jsonEqual(v, reversedKeys(clone(v)))));
  });

  test("[PR-V7] kinds that look alike are different", () => {
    expect(jsonEqual([], {})).toBe(false);
    expect(jsonEqual(null, {})).toBe(false);
    expect(jsonEqual(1, "1")).toBe(false);
    expect(jsonEqual({ a: 1 }, { a: 1, b: 2 })).toBe(false);
    expect(jsonEqual({ a: 1, b: 2 }, { a: 1 })).toBe(false);
    expect(jsonEqual([1], [1, 2])).toBe(false);
    expect(jsonEqual("\u00e9", "e\u0301")).toBe(false);
    expect(jsonEqual(undefined, null)).toBe(false);
    expect(jsonEqual(undefined, undefined)).toBe(true);
    expect(jsonEqual(0, -0)).toBe(true);
  });

  test("[PR-V6] a hostile key is not found on a prototype", () => {
    for (const key of HOSTILE_KEYS) {
      const object = JSON.parse(`{"${key}":1}`) as { readonly [key: string]: number };
      expect(jsonEqual(object, { a: 1 })).toBe(false);
      expect(jsonEqual({ a: 1 }, object)).toBe(false);
      expect(getOwn({}, key)).toBeUndefined();
      expect(getAt({}, [key])).toBeUndefined();
      expect(getAt(object, [key])).toBe(1);
    }
  });

  test("[PR-V6] an own __proto__ is not equal to a prototype that looks like it", () => {
    const object = JSON.parse('{"__proto__":{}}') as JsonValue;
    expect(jsonEqual(object, { a: 1 })).toBe(false);
    expect(jsonSameShape(object, { a: 1 })).toBe(false);
  });

  test("[PR-V6] a hostile key is written as an own property", () => {
    for (const key of HOSTILE_KEYS) {
      const object = {};
      setOwn(object, key, { x: 1 });
      expect(Object.keys(object)).toEqual([key]);
      expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    }
  });
});

describe("jsonSameShape", () => {
  test("[PR-V8] sees keys, lengths and types, not values", () => {
    expect(jsonSameShape({ x: 1, y: 2 }, { y: 0, x: [] })).toBe(true);
    expect(jsonSameShape({ x: 1 }, { x: 1, y: 2 })).toBe(false);
    expect(jsonSameShape({ x: 1, y: 1 }, { x: 1, z: 1 })).toBe(false);
    expect(jsonSameShape({ x: 1, z: 1 }, { x: 1 })).toBe(false);
    expect(jsonSameShape([1, 2], [3, 4])).toBe(true);
    expect(jsonSameShape([1], [1, 2])).toBe(false);
    expect(jsonSameShape([], {})).toBe(false);
    expect(jsonSameShape("a", "b")).toBe(true);
    expect(jsonSameShape("a", 1)).toBe(false);
    expect(jsonSameShape(null, {})).toBe(false);
    expect(jsonSameShape(null, null)).toBe(true);
    expect(jsonSameShape(undefined, null)).toBe(false);
  });
});

describe("getAt", () => {
  test("[PR-V9] follows keys in objects and indexes in arrays, and never the one as the other", () => {
    const value = { list: [{ name: "a" }], "0": "zero", text: "abc" };
    expect(getAt(value, [])).toBe(value);
    expect(getAt(value, ["list", 0, "name"])).toBe("a");
    expect(getAt(value, ["list", "0"])).toBeUndefined();
    expect(getAt(value, ["list", "length"])).toBeUndefined();
    expect(getAt(value, ["list", -1])).toBeUndefined();
    expect(getAt(value, [0])).toBeUndefined();
    expect(getAt(value, ["text", 0])).toBeUndefined();
    expect(getAt(value, ["text", "length"])).toBeUndefined();
    expect(getAt(value, ["gone", "further"])).toBeUndefined();
    expect(getAt(undefined, ["a"])).toBeUndefined();
    expect(getAt({ a: null }, ["a"])).toBeNull();
    expect(getAt({ a: null }, ["a", "b"])).toBeUndefined();
  });
});
