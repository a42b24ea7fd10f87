import { type MutableJsonObject, setOwn } from "../json/own.js";
import type { JsonArray, JsonObject, JsonValue } from "../json/json-value.js";

/**
 * The containers that this patch has made itself. Nobody else holds them, so later operations of
 * the same patch change them in place; undefined when the patch has one operation alone.
 */
export type Owned = Set<object> | undefined;

/** More arguments than this are not spread into one call: the stack bounds them. */
const MAX_SPREAD = 1024;

/** The object with `key` set: the input stays as it is unless owned. */
export function withKey(
  object: JsonObject,
  key: string,
  value: JsonValue,
  owned: Owned,
): JsonObject {
  if (Object.hasOwn(object, key) && object[key] === value) return object;
  const copy = ownObject(object, owned);
  setOwn(copy, key, value);
  return copy;
}

/** The object without `key`. */
export function withoutKey(object: JsonObject, key: string, owned: Owned): JsonObject {
  if (!Object.hasOwn(object, key)) return object;
  if (owned?.has(object) === true) {
    delete (object as MutableJsonObject)[key];
    return object;
  }
  // Rebuilt, not copied and deleted from: a delete makes every later read of the object slow.
  const copy: MutableJsonObject = {};
  for (const other in object) {
    if (other !== key) setOwn(copy, other, object[other] as JsonValue);
  }
  return keep(copy, owned);
}

/** The array with the element at `index` set; `index` is at most its length. */
export function withElement(
  array: JsonArray,
  index: number,
  value: JsonValue,
  owned: Owned,
): JsonArray {
  if (index < array.length && array[index] === value) return array;
  if (owned?.has(array) === true) {
    (array as JsonValue[])[index] = value;
    return array;
  }
  if (index === array.length) return keep(array.concat([value]), owned);
  const copy = array.slice();
  copy[index] = value;
  return keep(copy, owned);
}

/** The array with `value` at its end. */
export function withAppended(array: JsonArray, value: JsonValue, owned: Owned): JsonArray {
  if (owned?.has(array) === true) {
    (array as JsonValue[]).push(value);
    return array;
  }
  // concat copies once; a slice and a push would copy twice. The wrapper keeps `value` one element.
  return keep(array.concat([value]), owned);
}

/** The array with `remove` elements from `index` on replaced by `insert`. */
export function withSpliced(
  array: JsonArray,
  index: number,
  remove: number,
  insert: JsonArray,
  owned: Owned,
): JsonArray {
  if (remove === 0 && insert.length === 0) return array;
  if (owned?.has(array) === true && insert.length <= MAX_SPREAD) {
    (array as JsonValue[]).splice(index, remove, ...insert);
    return array;
  }
  return keep(array.slice(0, index).concat(insert, array.slice(index + remove)), owned);
}

function ownObject(object: JsonObject, owned: Owned): MutableJsonObject {
  if (owned?.has(object) === true) return object;
  // Spread defines own properties, so an own `__proto__` is copied as data.
  return keep({ ...object }, owned);
}

function keep<T extends object>(container: T, owned: Owned): T {
  owned?.add(container);
  return container;
}
