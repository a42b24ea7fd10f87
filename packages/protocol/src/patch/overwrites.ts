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

/**
 * What stands of an earlier operation that these came after, the same object where that is all of it: a step at or
 * below an overwritten path goes, and a write of the whole document that was rewritten whole (seed 001 §3d). Server
 * and client ask the same, so that an echo goes where its consequence does.
 */
export function standingPart(
  op: ValueOperation,
  by: readonly Overwrite[],
): ValueOperation | undefined {
  if (op.op !== "patch") return isRewrittenWhole(by) ? undefined : op;
  const steps = op.value.filter((step) => !isOverwritten(step, by));
  if (steps.length === op.value.length) return op;
  return steps.length === 0 ? undefined : { op: "patch", value: steps };
}

function isOverwritten(step: PatchOp, by: readonly Overwrite[]): boolean {
  return by.some(({ path, element }) =>
    element === undefined ? isPathPrefix(path, step.path) : adds(step, path, element),
  );
}

function isRewrittenWhole(by: readonly Overwrite[]): boolean {
  return by.some(({ path, element }) => element === undefined && path.length === 0);
}

/** Whether all that the step does is to add this element to the list at this path. */
function adds(step: PatchOp, path: Path, element: JsonValue): boolean {
  if (step.op !== "append" && step.op !== "addUnique") return false;
  if (step.path.length !== path.length || !isPathPrefix(path, step.path)) return false;
  return jsonEqual(step.value, element);
}
