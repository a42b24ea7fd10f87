import { unreachable } from "../base/assert.js";
import type { Path } from "../json/json-value.js";
import type { MergingOp, PatchOp, ValueOperation } from "./operations.js";

const ROOT: Path = Object.freeze([]);
const WHOLE: readonly Path[] = Object.freeze([ROOT]);
const NONE: readonly Path[] = Object.freeze([]);

/** True for append, addUnique, increment and splice: they overwrite nothing (seed 001 §3d). */
export function isMerging(op: PatchOp): op is MergingOp {
  return op.op !== "replace" && op.op !== "add" && op.op !== "remove";
}

/**
 * The paths that an operation overwrites: the root for set and delete, their own path for replace, add and
 * remove, none for the merging ones, nor for a removal by value, which leaves what else is in its list
 * (seed 001 §3d).
 */
export function overwrittenPaths(op: ValueOperation | PatchOp): readonly Path[] {
  switch (op.op) {
    case "set":
    case "delete":
      return WHOLE;
    case "patch":
      return overwrittenBySteps(op.value);
    case "replace":
    case "add":
      return [op.path];
    case "remove":
      return op.value === undefined ? [op.path] : NONE;
    case "append":
    case "addUnique":
    case "increment":
    case "splice":
      return NONE;
    default:
      return unreachable(op);
  }
}

/** Most patches only merge, and every handler's run asks for each of its own. */
function overwrittenBySteps(steps: readonly PatchOp[]): readonly Path[] {
  if (steps.every(isMerging)) return NONE;
  return steps.flatMap((step) => overwrittenPaths(step));
}

/**
 * The paths at or below which an operation may change the value. Decides conflicts of reads. A key
 * touches itself and never its siblings (ADM-01); an element put into or taken out of an array
 * touches the whole array, since the ones after it move.
 */
export function touchedPaths(op: ValueOperation | PatchOp): readonly Path[] {
  switch (op.op) {
    case "set":
    case "delete":
      return WHOLE;
    case "patch":
      return op.value.map((step) => touchedPath(step));
    default:
      return [touchedPath(op)];
  }
}

function touchedPath(op: PatchOp): Path {
  const last = op.path[op.path.length - 1];
  // A replace one past the end makes the array longer, and only the value tells which it is.
  const moves = op.op === "add" || (op.op === "remove" && op.value === undefined);
  return moves && typeof last === "number" ? op.path.slice(0, -1) : op.path;
}

/** True when one path is the other or leads to it. `"0"` and `0` count as the same step here. */
export function pathsOverlap(a: Path, b: Path): boolean {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (!sameStep(a[i], b[i])) return false;
  }
  return true;
}

/** True when `prefix` is `path` or leads to it. */
export function isPathPrefix(prefix: Path, path: Path): boolean {
  return prefix.length <= path.length && pathsOverlap(prefix, path);
}

/**
 * True when the order of the two operations does not matter: they touch disjoint paths, or merge
 * alike at one path (two appends, up to the order of their elements; two addUniques; two
 * increments). Splices at one path do not commute: their indexes mean different places.
 */
export function operationsCommute(a: ValueOperation, b: ValueOperation): boolean {
  if (a.op !== "patch") return b.op === "patch" && b.value.length === 0;
  if (b.op !== "patch") return a.value.length === 0;
  return a.value.every((x) => b.value.every((y) => opsCommute(x, y)));
}

function opsCommute(a: PatchOp, b: PatchOp): boolean {
  if (!pathsOverlap(touchedPath(a), touchedPath(b))) return true;
  if (a.op !== b.op || a.path.length !== b.path.length) return false;
  return a.op === "append" || a.op === "addUnique" || a.op === "increment";
}

function sameStep(a: string | number | undefined, b: string | number | undefined): boolean {
  return a === b || (typeof a !== typeof b && String(a) === String(b));
}
