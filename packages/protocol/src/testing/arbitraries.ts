import type FastCheck from "fast-check";
import type { JsonValue, Path } from "../json/json-value.js";
import { setOwn } from "../json/own.js";
import type { PatchOp, ValueOperation } from "../patch/operations.js";

/** Generators of what this package defines, for property tests. */
export interface Arbitraries {
  /** Canonical JSON: no −0, no lone surrogates, hostile keys as own data, few enough to be often alike. */
  readonly json: FastCheck.Arbitrary<JsonValue>;
  readonly key: FastCheck.Arbitrary<string>;
  readonly path: FastCheck.Arbitrary<Path>;
  /** Well formed; it may not apply to a given value. */
  readonly patchOp: FastCheck.Arbitrary<PatchOp>;
  /** Well formed; it may not apply to a given value. */
  readonly operation: FastCheck.Arbitrary<ValueOperation>;
}

const KEYS = ["a", "b", "c", "", "0", "__proto__", "constructor", "toString"];

function jsonOf(fc: typeof FastCheck, key: FastCheck.Arbitrary<string>): Arbitraries["json"] {
  const scalar: FastCheck.Arbitrary<JsonValue> = fc.oneof(
    fc.constantFrom(null, true, false, 0, 1, 2, "", "a", "é", "😀"),
    fc.integer({ min: -1000, max: 1000 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  );
  return fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: "small", withCrossShrink: true },
      scalar,
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map(objectOf),
    ),
  })).value;
}

function objectOf(entries: readonly (readonly [string, JsonValue])[]): JsonValue {
  const object: Record<string, JsonValue> = {};
  for (const [key, value] of entries) setOwn(object, key, value);
  return object;
}

function patchOpOf(
  fc: typeof FastCheck,
  json: Arbitraries["json"],
  path: Arbitraries["path"],
): Arbitraries["patchOp"] {
  const op = <N extends string>(name: N) => ({ op: fc.constant(name), path });
  const merging = { requiredKeys: ["op", "path", "value"] as ["op", "path", "value"] };
  const number = fc.integer({ min: 1, max: 9 });
  const small = fc.integer({ min: 0, max: 3 });
  return fc.oneof(
    fc.record({ ...op("replace"), value: json }),
    fc.record({ ...op("add"), value: json }),
    fc.record(op("remove")),
    fc.record({ ...op("append"), value: json, ifAbsent: json }, merging),
    fc.record({ ...op("addUnique"), value: json, ifAbsent: json }, merging),
    fc.record({ ...op("increment"), value: number, ifAbsent: json }, merging),
    fc.record({
      ...op("splice"),
      index: small,
      remove: small,
      insert: fc.oneof(fc.array(json, { maxLength: 2 }), fc.constantFrom("", "x", "😀")),
    }),
  ) as Arbitraries["patchOp"];
}

/**
 * Makes the generators. Takes fast-check as a parameter, as the suites take `test` and `expect`, so that
 * this package does not depend on it.
 */
export function createArbitraries(fc: typeof FastCheck): Arbitraries {
  const key = fc.constantFrom(...KEYS);
  const json = jsonOf(fc, key);
  const path = fc.array(fc.oneof(key, fc.integer({ min: 0, max: 3 })), { maxLength: 3 });
  const patchOp = patchOpOf(fc, json, path);
  const operation: Arbitraries["operation"] = fc.oneof(
    { weight: 2, arbitrary: fc.record({ op: fc.constant("set" as const), value: json }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant("delete" as const) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        op: fc.constant("patch" as const),
        value: fc.array(patchOp, { minLength: 1, maxLength: 3 }),
      }),
    },
  );
  return { json, key, path, patchOp, operation };
}
