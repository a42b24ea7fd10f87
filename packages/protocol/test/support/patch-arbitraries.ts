import * as fc from "fast-check";
import type { JsonValue, Path, PatchOp } from "../../src/index.js";
import { jsonValues, paths } from "./json-arbitraries.js";

const small = fc.integer({ min: 0, max: 4 });
const increments = fc.integer({ min: -3, max: 3 });
const inserts = fc.oneof(
  fc.array(jsonValues, { maxLength: 3 }),
  fc.constantFrom("", "x", "é", "😀"),
);

/** Any operation at a path of `at`; many of them do not apply to any one value. */
export function opsAt(at: fc.Arbitrary<Path>): fc.Arbitrary<PatchOp> {
  return fc.oneof(
    fc.record({ op: fc.constantFrom("replace", "add"), path: at, value: jsonValues }),
    fc.record({ op: fc.constant("remove"), path: at }),
    fc.record({ op: fc.constantFrom("append", "addUnique"), path: at, value: jsonValues }),
    fc.record({ op: fc.constant("increment"), path: at, value: increments }),
    fc.record({
      op: fc.constant("splice"),
      path: at,
      index: small,
      remove: small,
      insert: inserts,
    }),
  ) as fc.Arbitrary<PatchOp>;
}

/** Patches of up to five operations at random paths. */
export const patches: fc.Arbitrary<readonly PatchOp[]> = fc.array(opsAt(paths), { maxLength: 5 });

/** Every path that leads to something in `value`, the root included. */
export function pathsOf(value: JsonValue, prefix: Path = []): Path[] {
  if (Array.isArray(value)) {
    return [prefix, ...value.flatMap((item: JsonValue, i) => pathsOf(item, [...prefix, i]))];
  }
  if (typeof value !== "object" || value === null) return [prefix];
  const entries = Object.entries(value) as [string, JsonValue][];
  return [prefix, ...entries.flatMap(([key, item]) => pathsOf(item, [...prefix, key]))];
}
