/** Plain JSON. Links are JSON too, in the stored form of `toLinkValue`. */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;

/** A JSON array. */
export type JsonArray = readonly JsonValue[];

/** A JSON object. Any own key is data, `__proto__` and `constructor` included. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/**
 * A way into a value: a string names an object's key, a number an array's index. The two never stand
 * for one another, so `["a", 0]` does not reach the key `"0"` of an object.
 */
export type Path = readonly (string | number)[];
