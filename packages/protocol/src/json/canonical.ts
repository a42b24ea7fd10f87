import type { JsonObject, JsonValue } from "./json-value.js";

/**
 * The one text of a value: keys sorted by UTF-16 code unit, no white space, −0 as 0 (R11), text as
 * given with no normalization (R12). Two values are equal exactly when their canonical texts are.
 *
 * @throws TypeError for what is no JSON (undefined, NaN, a function): such a value must have been
 * refused at the edge by `validateJson`, and a text for it would let two values share one hash.
 */
export function canonicalJson(value: JsonValue): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical JSON text`);
      return String(value); // "0" for −0
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      return Array.isArray(value)
        ? canonicalArray(value as readonly JsonValue[])
        : canonicalObject(value as JsonObject);
    default:
      throw new TypeError(`A ${typeof value} has no canonical JSON text`);
  }
}

function canonicalArray(items: readonly JsonValue[]): string {
  if (items.length === 0) return "[]";
  let text = "";
  for (const item of items) text += `${text === "" ? "[" : ","}${canonicalJson(item)}`;
  return `${text}]`;
}

function canonicalObject(object: JsonObject): string {
  const keys = Object.keys(object).sort();
  if (keys.length === 0) return "{}";
  let text = "";
  for (const key of keys) {
    // Own keys only, so an absent value is a caller's undefined: canonicalJson refuses it.
    const value = canonicalJson(object[key] as JsonValue);
    text += `${text === "" ? "{" : ","}${JSON.stringify(key)}:${value}`;
  }
  return `${text}}`;
}
