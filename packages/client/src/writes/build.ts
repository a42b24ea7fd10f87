import { getAt, isMerging, validateJson } from "@tidemark/protocol";
import type { JsonValue, PatchOp, Path, ValueOperation } from "@tidemark/protocol";

/** A value as it may be stored. @throws ValueError with the path of what is no JSON. */
export function storable(value: unknown): JsonValue {
  const checked = validateJson(value);
  if (!checked.ok) throw checked.error;
  return checked.value;
}

/**
 * The operation that overwrites a place of a document, blindly: nothing is read, and nobody else's
 * other fields are touched. `current` is what the write may rest on, `initial` the declared default.
 */
export function overwrite(
  current: JsonValue | undefined,
  initial: JsonValue | undefined,
  path: Path,
  value: JsonValue,
): ValueOperation {
  if (path.length === 0) return { op: "set", value };
  if (current !== undefined) return { op: "patch", value: [{ op: "replace", path, value }] };
  // A cell that was never written has no place to replace: it starts as its default (R24).
  return { op: "set", value: placed(initial, path, value) };
}

function placed(base: JsonValue | undefined, path: Path, value: JsonValue): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const inner = placed(base === undefined ? undefined : getAt(base, [step]), rest, value);
  if (typeof step === "number") {
    const list = Array.isArray(base) ? [...base] : [];
    list[step] = inner;
    return list;
  }
  const object = typeof base === "object" && base !== null && !Array.isArray(base) ? base : {};
  return Object.fromEntries([...Object.entries(object), [step, inner]]) as JsonValue;
}

/** A patch whose merging operations start from the declared default, so that first writers merge (R24). */
export function patchOf(ops: readonly PatchOp[], initial: JsonValue | undefined): ValueOperation {
  const complete = ops.map((op): PatchOp => {
    if (!isMerging(op) || op.ifAbsent !== undefined || initial === undefined) return op;
    return { ...op, ifAbsent: initial };
  });
  return { op: "patch", value: complete };
}
