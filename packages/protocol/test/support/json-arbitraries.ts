import * as fc from "fast-check";
import type { JsonValue, Path } from "../../src/index.js";

/** Keys that a careless implementation looks up on a prototype, or writes to one (VL-01). */
export const HOSTILE_KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "toJSON",
] as const;

/** Composed and decomposed é are two texts (R12); the last two are one code point of two units. */
const TEXTS = ["", "a", "b", "\u00e9", "e\u0301", "\u0000", "😀", "𝒳"] as const;

export const keys = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "b", "c", "0", "") },
  { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_KEYS) },
);

const texts = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: "binary", maxLength: 6 }));

const scalars: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer({ min: -5, max: 5 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
  texts,
);

/** JSON values in canonical form, small enough that two of them are often alike. */
export const jsonValues: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small", withCrossShrink: true },
    scalars,
    fc.array(tie("value"), { maxLength: 4 }),
    jsonObjects(tie("value")),
  ),
})).value;

/** Objects whose entries are own properties, `__proto__` included. */
export function jsonObjects(values: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  return fc
    .array(fc.tuple(keys, values), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries) as JsonValue);
}

export const paths: fc.Arbitrary<Path> = fc.array(fc.oneof(keys, fc.integer({ min: 0, max: 3 })), {
  maxLength: 4,
});

/** The same value with every object's keys in reverse order. */
export function reversedKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => reversedKeys(item));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, reversedKeys(item)]);
  return Object.fromEntries(entries.reduceRight<typeof entries>((all, e) => [...all, e], []));
}

/** A copy that shares nothing, made without the code under test. */
export function clone(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => clone(item));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([k, v]) => [k, clone(v)])) as JsonValue;
}

/** Freezes a value in depth, so that a mutation of it throws. */
export function deepFreeze<T extends JsonValue>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) deepFreeze(item as JsonValue);
    Object.freeze(value);
  }
  return value;
}
