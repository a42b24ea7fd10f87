import type { JsonObject, JsonValue } from "./json-value.js";

/** An object under construction. */
export type MutableJsonObject = Record<string, JsonValue>;

/** The own value of `key`, never one inherited from a prototype (VL-01). */
export function getOwn(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Writes `key` as an own property. Assigning `__proto__` would set the prototype, so it is defined. */
export function setOwn(object: MutableJsonObject, key: string, value: JsonValue): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    object[key] = value;
  }
}

/** True for a JSON array; narrows readonly arrays, which `Array.isArray` does not. */
export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** True for a JSON object that is no array. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
