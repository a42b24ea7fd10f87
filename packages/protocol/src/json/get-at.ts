import { isJsonArray, isJsonObject } from "./own.js";
import type { JsonValue, Path } from "./json-value.js";

/**
 * The value at `path`, or undefined where the path leads nowhere. Own keys only: `["constructor"]`
 * of an object that has no such key is undefined (VL-01).
 */
export function getAt(value: JsonValue | undefined, path: Path): JsonValue | undefined {
  let current = value;
  for (let i = 0; i < path.length && current !== undefined; i++) {
    current = childOf(current, path[i]);
  }
  return current;
}

/** One step of {@link getAt}. */
export function childOf(
  value: JsonValue,
  segment: string | number | undefined,
): JsonValue | undefined {
  if (typeof segment === "number") return isJsonArray(value) ? value[segment] : undefined;
  if (segment === undefined || !isJsonObject(value)) return undefined;
  return Object.hasOwn(value, segment) ? value[segment] : undefined;
}
