import { jsonEqual } from "../json/equal.js";
import type { JsonValue, Path } from "../json/json-value.js";
import type { PatchOp, ValueOperation } from "./operations.js";
import { isPathPrefix, overwrittenPaths } from "./paths.js";

/** What an operation overwrites: all that is at or below a path or, of the list there, the elements equal to one. */
export interface Overwrite {
  readonly path: Path;
  readonly element?: JsonValue;
}

/** What an operation overwrites (seed 001 §3d). */
export function overwritesOf(op: ValueOperation): readonly Overwrite[] {
  const whole = overwrittenPaths(op).map((path): Overwrite => ({ path }));
  if (op.op !== "patch") return whole;
  const elements = op.value.flatMap((step): readonly Overwrite[] =>
    step.op === "remove" && step.value !== undefined
      ? [{ path: step.path, element: step.value }]
      : [],
  );
  return elements.length === 0 ? whole : [...whole, ...elements];
}

/** Whether nothing would be left of an earlier step, had these come after it (seed 001 §3d). */
export function isOverwritten(step: PatchOp, by: readonly Overwrite[]): boolean {
  return by.some(({ path, element }) =>
    element === undefined ? isPathPrefix(path, step.path) : adds(step, path, element),
  );
}

/** Whether an earlier write of the whole document is one that these rewrote whole. */
export function isRewrittenWhole(by: readonly Overwrite[]): boolean {
  return by.some(({ path, element }) => element === undefined && path.length === 0);
}

/** Whether all that the step does is to add this element to the list at this path. */
function adds(step: PatchOp, path: Path, element: JsonValue): boolean {
  if (step.op !== "append" && step.op !== "addUnique") return false;
  if (step.path.length !== path.length || !isPathPrefix(path, step.path)) return false;
  return jsonEqual(step.value, element);
}
