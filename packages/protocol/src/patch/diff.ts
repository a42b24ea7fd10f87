import { jsonEqual } from "../json/equal.js";
import { isJsonArray, isJsonObject } from "../json/own.js";
import type { JsonArray, JsonObject, JsonValue, Path } from "../json/json-value.js";
import type { PatchOp } from "./operations.js";

/** A list that changes its length by more than this is rewritten where that takes fewer steps. */
const MAX_ELEMENT_STEPS = 16;

/**
 * A patch of overwriting operations alone (R38) with `applyPatch(before, diff(before, after))` equal
 * to `after`; empty when the two are equal. Parts that both values share are not looked into.
 */
export function diff(before: JsonValue, after: JsonValue): readonly PatchOp[] {
  const ops: PatchOp[] = [];
  diffValue(before, after, [], ops);
  return ops;
}

function diffValue(before: JsonValue, after: JsonValue, path: Path, ops: PatchOp[]): void {
  if (before === after) return;
  if (isJsonArray(before) && isJsonArray(after)) {
    diffArray(before, after, path, ops);
  } else if (isJsonObject(before) && isJsonObject(after)) {
    diffObject(before, after, path, ops);
  } else {
    ops.push({ op: "replace", path, value: after });
  }
}

function diffObject(before: JsonObject, after: JsonObject, path: Path, ops: PatchOp[]): void {
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) ops.push({ op: "remove", path: [...path, key] });
  }
  for (const key of Object.keys(after)) {
    const value = after[key] as JsonValue;
    if (!Object.hasOwn(before, key)) ops.push({ op: "add", path: [...path, key], value });
    else if (before[key] !== value) {
      diffValue(before[key] as JsonValue, value, [...path, key], ops);
    }
  }
}

/**
 * Equal ends are kept, the middles compared place by place, and the rest of the longer one taken out
 * from behind or put in from the front: each step's index holds when its turn comes (VL-02).
 */
function diffArray(before: JsonArray, after: JsonArray, path: Path, ops: PatchOp[]): void {
  const start = commonStart(before, after);
  const tail = commonEnd(before, after, start);
  const beforeEnd = before.length - tail;
  const afterEnd = after.length - tail;
  const steps = Math.abs(beforeEnd - afterEnd);
  if (steps > MAX_ELEMENT_STEPS && steps * 2 > after.length) {
    ops.push({ op: "replace", path, value: after });
    return;
  }
  const shared = Math.min(beforeEnd, afterEnd);
  for (let i = start; i < shared; i++) {
    diffValue(before[i] as JsonValue, after[i] as JsonValue, [...path, i], ops);
  }
  for (let i = beforeEnd - 1; i >= shared; i--) ops.push({ op: "remove", path: [...path, i] });
  for (let i = shared; i < afterEnd; i++) {
    ops.push({ op: "add", path: [...path, i], value: after[i] as JsonValue });
  }
}

function commonStart(before: JsonArray, after: JsonArray): number {
  const length = Math.min(before.length, after.length);
  let start = 0;
  while (start < length && jsonEqual(before[start], after[start])) start++;
  return start;
}

function commonEnd(before: JsonArray, after: JsonArray, start: number): number {
  const length = Math.min(before.length, after.length) - start;
  let tail = 0;
  while (
    tail < length &&
    jsonEqual(before[before.length - 1 - tail], after[after.length - 1 - tail])
  )
    tail++;
  return tail;
}
