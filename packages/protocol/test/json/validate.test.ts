import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type JsonValue,
  type Path,
  type ValidateOptions,
  validateJson,
  ValueError,
  type ValueReason,
} from "../../src/index.js";
import { deepFreeze, HOSTILE_KEYS, jsonValues } from "../support/json-arbitraries.js";

function refusal(
  value: unknown,
  options?: ValidateOptions,
): readonly [ValueReason, Path] | undefined {
  const result = validateJson(value, options);
  if (result.ok) return undefined;
  expect(result.error).toBeInstanceOf(ValueError);
  return [result.error.reason, result.error.path];
}

function valid(value: unknown, options?: ValidateOptions): JsonValue {
  const result = validateJson(value, options);
  if (!result.ok) throw result.error;
  return result.value;
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

describe("validateJson", () => {
  test("[PR-V1] JSON comes back equal, as a copy that shares nothing with the input", () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        const copy = valid(deepFreeze(value));
        expect(copy).toEqual(value);
        if (typeof value === "object" && value !== null) expect(copy).not.toBe(value);
      }),
    );
    const inner = { n: 1 };
    const stored = valid({ inner });
    inner.n = 2;
    expect(stored).toEqual({ inner: { n: 1 } });
  });

  test("[PR-V1] a parsed value is returned as it is where nothing had to change", () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(valid(value, { reuse: true })).toBe(value);
      }),
    );
    const parsed = JSON.parse('{"a":[1,-0,2],"b":{"c":3}}') as { readonly b: object };
    const result = valid(deepFreeze(parsed as never), { reuse: true }) as typeof parsed;
    expect(JSON.stringify(result)).toBe('{"a":[1,0,2],"b":{"c":3}}');
    expect(result.b).toBe(parsed.b);
  });

  test("[PR-V2] -0 becomes 0 wherever it stands", () => {
    const result = valid({ a: -0, b: [1, -0] }) as { a: number; b: number[] };
    expect([valid(-0), result.a, result.b[1]].every((n) => Object.is(n, 0))).toBe(true);
  });

  test("[PR-V2] NaN and infinities are refused with their path", () => {
    expect(refusal(Number.NaN)).toEqual(["not-finite", []]);
    expect(refusal({ a: [1, Number.POSITIVE_INFINITY] })).toEqual(["not-finite", ["a", 1]]);
    expect(refusal([Number.NEGATIVE_INFINITY])).toEqual(["not-finite", [0]]);
  });

  test("[PR-V3] lone surrogates are refused in text and in keys, and pairs and NUL stay", () => {
    expect(refusal(["\ud800"])).toEqual(["lone-surrogate", [0]]);
    expect(refusal({ a: "\udc00\ud800" })).toEqual(["lone-surrogate", ["a"]]);
    expect(refusal({ "\udfff": 1 })?.[0]).toBe("lone-surrogate");
    expect(valid("a\u0000😀")).toBe("a\u0000😀");
  });

  test("[PR-V3] text is stored as given, composed or decomposed", () => {
    expect(valid({ "\u00e9": "e\u0301" })).toEqual({ "\u00e9": "e\u0301" });
    expect(valid("e\u0301")).not.toBe("\u00e9");
  });

  test("[PR-V4] what JSON cannot carry is refused with its path", () => {
    class Point {
      readonly x = 1;
    }
    const cases: readonly (readonly [unknown, ValueReason])[] = [
      [undefined, "undefined"],
      [() => 1, "function"],
      [Symbol("s"), "symbol"],
      [1n, "bigint"],
      [new Date(0), "not-plain"],
      [new Map(), "not-plain"],
      [new Set(), "not-plain"],
      [/x/, "not-plain"],
      [new Point(), "not-plain"],
      [Object.create({ inherited: 1 }), "not-plain"],
      [new Uint8Array(1), "not-plain"],
      [{ toJSON: () => 1 }, "function"],
      [{ [Symbol("s")]: 1 }, "symbol"],
    ];
    for (const [value, reason] of cases) {
      expect(refusal({ a: [value] })?.[0]).toBe(reason);
      expect(refusal({ a: [value] })?.[1].slice(0, 2)).toEqual(["a", 0]);
    }
    // oxlint-disable-next-line no-sparse-arrays
    expect(refusal([1, , 2])).toEqual(["undefined", [1]]);
  });

  test("[PR-V4] objects without a prototype and of another realm are plain", () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(valid(bare)).toEqual({ a: 1 });
  });

  test("[PR-V4] a cycle is refused, and a value that occurs twice is not", () => {
    const ring: { self?: unknown } = {};
    ring.self = [ring];
    expect(refusal(ring)?.[0]).toBe("cycle");
    const shared = { a: 1 };
    expect(valid([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
  });

  test("[PR-V4] a value that throws when it is read is refused", () => {
    const trap = {
      get a(): never {
        throw new Error("trap");
      },
    };
    expect(refusal(trap)?.[0]).toBe("unreadable");
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(refusal([proxy])?.[0]).toBe("unreadable");
  });

  test("[PR-V5] nesting beyond the depth limit is refused, however deep", () => {
    expect(refusal(nested(64))).toBeUndefined();
    expect(refusal(nested(65))?.[0]).toBe("too-deep");
    expect(refusal(nested(100_000))?.[0]).toBe("too-deep");
    expect(refusal(nested(100_000), { depth: 1_000_000 })?.[0]).toBe("too-deep");
    expect(refusal(nested(3), { depth: 2 })?.[0]).toBe("too-deep");
  });

  test("[PR-V5] size, keys and the length of a key are bounded", () => {
    expect(refusal(["x".repeat(100)], { size: 50 })?.[0]).toBe("too-large");
    expect(refusal({ a: 1, b: 2, c: 3 }, { keys: 2 })).toEqual(["too-many-keys", []]);
    expect(refusal({ [`k${"x".repeat(9)}`]: 1 }, { keyLength: 9 })?.[0]).toBe("key-too-long");
    expect(refusal(["x".repeat(40)], { size: 50 })).toBeUndefined();
  });

  test("[PR-V5] a small graph that unfolds without end is refused by its size", () => {
    let value: unknown = "x";
    for (let i = 0; i < 60; i++) value = [value, value];
    expect(refusal(value, { size: 10_000 })?.[0]).toBe("too-large");
  });

  test("[PR-V6] hostile keys are own data in the copy and reach no prototype", () => {
    for (const key of HOSTILE_KEYS) {
      const text = `{"${key}":{"x":-0}}`;
      for (const reuse of [false, true]) {
        const result = valid(JSON.parse(text), { reuse }) as object;
        expect(Object.keys(result)).toEqual([key]);
        expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
      }
    }
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});
