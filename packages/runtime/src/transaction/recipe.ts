import {
  diff,
  isJsonArray,
  setOwn,
  type JsonValue,
  type MutableJsonObject,
  type PatchOp,
  type ValueOperation,
} from "@tidemark/protocol";
import { Immer } from "immer";
import type { NodeRef } from "../cell/node-ref.js";
import { hasProtoKey, overwriteAt } from "./operations.js";

/** An instance of our own: freezing stays off whatever the application does with immer's global. */
const immer = new Immer({ autoFreeze: false });

/**
 * What a recipe does to the value at a path, as overwriting patches (R38): the recipe has read the
 * value, so the patches rest on it and never merge.
 */
export function recipeOperation(
  end: NodeRef,
  current: JsonValue | undefined,
  before: JsonValue | undefined,
  recipe: (draft: never) => unknown,
  checked: (value: unknown) => JsonValue,
): ValueOperation | undefined {
  const after = checked(afterRecipe(before, recipe));
  if (current === undefined || before === undefined) {
    if (end.path.length === 0) return { op: "set", value: after };
    // The whole value was read: what is missing around it is as it was read too.
    return overwriteAt(end, current, after, () => undefined);
  }
  const ops = diff(before, after).map((op): PatchOp => ({
    ...op,
    path: [...end.path, ...op.path],
  }));
  if (ops.length === 0) return undefined;
  const whole = ops.find((op) => op.path.length === 0);
  return whole === undefined ? { op: "patch", value: ops } : { op: "set", value: after };
}

function afterRecipe(before: JsonValue | undefined, recipe: (draft: never) => unknown): unknown {
  if (typeof before !== "object" || before === null)
    return returnedOr(before, recipe(before as never));
  if (!hasProtoKey(before)) return immer.produce(before, recipe as (draft: unknown) => unknown);
  const draft = copyOf(before);
  return returnedOr(draft, recipe(draft as never));
}

/** A recipe that returns nothing has changed its draft. */
function returnedOr(draft: unknown, returned: unknown): unknown {
  return returned === undefined ? draft : returned;
}

function copyOf(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (isJsonArray(value)) return value.map(copyOf);
  const copy: MutableJsonObject = {};
  for (const [key, child] of Object.entries(value)) setOwn(copy, key, copyOf(child));
  return copy;
}
