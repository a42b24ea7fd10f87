import {
  isJsonArray,
  setOwn,
  type JsonObject,
  type JsonValue,
  type MutableJsonObject,
} from "@tidemark/protocol";

/** A list taken apart: the identities in order, and each one's element. */
export interface Elements {
  readonly order: readonly string[];
  readonly items: JsonObject;
}

/**
 * Takes a list apart by identity. The second element of one identity becomes `key~1`, so that every
 * element has a child of its own. What is no list has no elements.
 */
export function elementsOf(
  list: unknown,
  keyOf: ((item: never, index: number) => string | number) | undefined,
): Elements {
  const order: string[] = [];
  const items: MutableJsonObject = {};
  const seen = new Map<string, number>();
  const source = isJsonArray(list as JsonValue) ? (list as readonly JsonValue[]) : [];
  source.forEach((item, index) => {
    const identity = String(keyOf === undefined ? index : keyOf(item as never, index));
    const count = seen.get(identity) ?? 0;
    seen.set(identity, count + 1);
    const key = count === 0 ? identity : `${identity}~${count}`;
    order.push(key);
    setOwn(items, key, item);
  });
  return { order, items };
}
