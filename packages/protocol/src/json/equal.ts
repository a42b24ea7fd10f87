import type { JsonObject, JsonValue } from "./json-value.js";

/**
 * Structural equality of two JSON values, blind to key order; undefined, an absent document, equals
 * itself alone. Allocates nothing: it runs on every cut-off of the scheduler.
 */
export function jsonEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const aIsArray = Array.isArray(a);
  if (aIsArray !== Array.isArray(b)) return false;
  return aIsArray
    ? arraysEqual(a as readonly JsonValue[], b as readonly JsonValue[])
    : objectsEqual(a as JsonObject, b as JsonObject);
}

function arraysEqual(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (!jsonEqual(a[i], b[i])) return false;
  }
  return true;
}

function objectsEqual(a: JsonObject, b: JsonObject): boolean {
  let surplus = 0;
  for (const key in a) {
    if (!Object.hasOwn(b, key) || !jsonEqual(a[key], b[key])) return false;
    surplus++;
  }
  for (const _key in b) surplus--;
  return surplus === 0;
}

/**
 * True when both values have the same outline: the same type and, for containers, the same keys or
 * the same length. A read of kind "shape" is stale only when this is false (ADM-03).
 */
export function jsonSameShape(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") {
    return a !== null && b !== null && typeof a === typeof b;
  }
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length;
  }
  return sameKeys(a as JsonObject, b as JsonObject);
}

function sameKeys(a: JsonObject, b: JsonObject): boolean {
  let surplus = 0;
  for (const key in a) {
    if (!Object.hasOwn(b, key)) return false;
    surplus++;
  }
  for (const _key in b) surplus--;
  return surplus === 0;
}
