import { err, ok, type Result } from "../base/result.js";
import { isWellFormedText } from "../base/text.js";
import { ValueError, type ValueReason } from "../errors/values.js";
import { type MutableJsonObject, setOwn } from "./own.js";
import type { JsonValue } from "./json-value.js";

/** Bounds of {@link validateJson}. */
export interface JsonLimits {
  /** Deepest nesting of containers; a scalar has depth 0. At most {@link MAX_VALIDATED_DEPTH}. */
  readonly depth: number;
  /** Size of the value in characters of JSON text, escapes not counted. */
  readonly size: number;
  /** Keys of one object. */
  readonly keys: number;
  /** UTF-16 code units of one key. */
  readonly keyLength: number;
}

/** How {@link validateJson} works. Limits left out keep their defaults. */
export interface ValidateOptions extends Partial<JsonLimits> {
  /**
   * True for a value fresh from `JSON.parse` that nobody else holds: it is returned as it is where
   * nothing had to change. Otherwise the result is a copy that shares nothing with the input.
   */
  readonly reuse?: boolean;
}

/** Deepest nesting of containers in any stored value. */
export const MAX_JSON_DEPTH = 64;
/** No option allows more than this, since the walk is recursive. */
export const MAX_VALIDATED_DEPTH = 512;
/** The bounds of a stored value. */
export const DEFAULT_JSON_LIMITS: JsonLimits = Object.freeze({
  depth: MAX_JSON_DEPTH,
  size: 4 * 1024 * 1024,
  keys: 100_000,
  keyLength: 4096,
});

/**
 * Checks that `value` is JSON as this system stores it and returns it in canonical form. −0 becomes
 * 0 (R11). Refused with the path: NaN and infinities (R11), lone surrogates in text and keys (R12),
 * undefined, functions, symbols, bigints, class instances such as Date and Map, holes, cycles, and
 * whatever exceeds a limit (R38). Own keys named `__proto__` or `constructor` stay data (VL-01).
 * Never throws.
 */
export function validateJson(
  value: unknown,
  options: ValidateOptions = {},
): Result<JsonValue, ValueError> {
  const walk = new Walk(options);
  let checked: JsonValue | undefined;
  try {
    checked = walk.visit(value, 0);
  } catch {
    // A getter or a proxy of the input threw: what cannot be read cannot be stored.
    walk.fail("unreadable");
  }
  return checked === undefined ? err(walk.error()) : ok(checked);
}

/** One validation. `visit` answers undefined once something is refused; parents then add their key. */
class Walk {
  readonly #limits: JsonLimits;
  readonly #reuse: boolean;
  readonly #ancestors: object[] = [];
  readonly #path: (string | number)[] = [];
  #size = 0;
  #reason: ValueReason = "unreadable";

  constructor(options: ValidateOptions) {
    const limits = { ...DEFAULT_JSON_LIMITS, ...options };
    this.#limits = { ...limits, depth: Math.min(limits.depth, MAX_VALIDATED_DEPTH) };
    this.#reuse = options.reuse === true;
  }

  fail(reason: ValueReason): undefined {
    this.#reason = reason;
    return undefined;
  }

  error(): ValueError {
    const path = [...this.#path];
    return new ValueError(
      `Value refused at ${JSON.stringify(path)}: ${this.#reason}. ` +
        "Only plain JSON within the size limits can be stored.",
      { path, reason: this.#reason },
    );
  }

  visit(value: unknown, depth: number): JsonValue | undefined {
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return this.#number(value);
      case "boolean":
        return this.#grow(5) ? value : undefined;
      case "object":
        if (value === null) return this.#grow(4) ? null : this.fail("too-large");
        return this.#container(value, depth);
      default:
        return this.fail(typeof value as ValueReason);
    }
  }

  #grow(size: number): boolean {
    this.#size += size;
    if (this.#size <= this.#limits.size) return true;
    this.#reason = "too-large";
    return false;
  }

  #text(text: string): string | undefined {
    if (!this.#grow(text.length + 2)) return undefined;
    return isWellFormedText(text) ? text : this.fail("lone-surrogate");
  }

  #number(value: number): number | undefined {
    if (!Number.isFinite(value)) return this.fail("not-finite");
    if (!this.#grow(2)) return undefined;
    return value === 0 ? 0 : value;
  }

  #container(value: object, depth: number): JsonValue | undefined {
    if (depth >= this.#limits.depth) {
      return this.fail(this.#ancestors.includes(value) ? "cycle" : "too-deep");
    }
    this.#ancestors.push(value);
    const result = Array.isArray(value)
      ? this.#array(value as readonly unknown[], depth)
      : this.#object(value, depth);
    this.#ancestors.pop();
    return result;
  }

  #array(items: readonly unknown[], depth: number): JsonValue | undefined {
    let copy: JsonValue[] | undefined = this.#reuse ? undefined : [];
    for (let i = 0; i < items.length; i++) {
      const item = items[i];
      const checked = this.#grow(1) ? this.visit(item, depth + 1) : undefined;
      if (checked === undefined) {
        this.#path.unshift(i);
        return undefined;
      }
      if (copy === undefined && !Object.is(checked, item)) {
        copy = items.slice(0, i) as JsonValue[];
      }
      copy?.push(checked);
    }
    return this.#grow(2) ? (copy ?? (items as readonly JsonValue[])) : undefined;
  }

  #object(object: object, depth: number): JsonValue | undefined {
    if (!isPlain(object)) return this.fail("not-plain");
    if (!this.#reuse && Object.getOwnPropertySymbols(object).length > 0) {
      return this.fail("symbol");
    }
    const keys = Object.keys(object);
    if (keys.length > this.#limits.keys) return this.fail("too-many-keys");
    const source = object as Readonly<Record<string, unknown>>;
    let copy: MutableJsonObject | undefined = this.#reuse ? undefined : {};
    for (const key of keys) {
      const value = source[key];
      const checked = this.#key(key) ? this.visit(value, depth + 1) : undefined;
      if (checked === undefined) {
        this.#path.unshift(key);
        return undefined;
      }
      if (copy === undefined && !Object.is(checked, value))
        copy = { ...source } as MutableJsonObject;
      if (copy !== undefined) setOwn(copy, key, checked);
    }
    return this.#grow(2) ? (copy ?? (object as JsonValue)) : undefined;
  }

  #key(key: string): boolean {
    if (key.length > this.#limits.keyLength) this.fail("key-too-long");
    else if (!isWellFormedText(key)) this.fail("lone-surrogate");
    else return this.#grow(key.length + 4);
    return false;
  }
}

/** True for objects made by literals, `JSON.parse` or `Object.create(null)`, of any realm. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype === null || prototype === Object.prototype) return true;
  return (
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype as object, "hasOwnProperty")
  );
}
