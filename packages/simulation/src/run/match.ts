import { jsonEqual, type JsonValue } from "@tidemark/protocol";

type Comparator = Readonly<Record<string, number>>;

const COMPARISONS: Readonly<Record<string, (actual: number, bound: number) => boolean>> = {
  ">=": (actual, bound) => actual >= bound,
  ">": (actual, bound) => actual > bound,
  "<=": (actual, bound) => actual <= bound,
  "<": (actual, bound) => actual < bound,
  "!=": (actual, bound) => actual !== bound,
};

/** How lists and objects are compared. */
export type Depth = "whole" | "partial";

/**
 * Whether a value is what a file expects: literally, by comparator where a number stands, by pattern where a string
 * stands, by name where an event's id is meant. Partially, an object needs only the fields that are named.
 */
export function matches(
  actual: unknown,
  expected: unknown,
  eventId: (name: string) => string | undefined,
  depth: Depth = "whole",
): boolean {
  if (typeof expected === "string" && expected.startsWith("$")) {
    const id = eventId(expected);
    return id === undefined ? actual === expected : actual === id;
  }
  if (isComparator(expected)) return typeof actual === "number" && holds(actual, expected);
  if (isPattern(expected)) {
    return typeof actual === "string" && new RegExp(expected["~"], "u").test(actual);
  }
  if (isAbsent(expected)) return actual === undefined;
  if (Array.isArray(expected)) return matchesList(actual, expected, eventId, depth);
  if (expected !== null && typeof expected === "object") {
    return matchesObject(actual, expected as Record<string, unknown>, eventId, depth);
  }
  return jsonEqual((actual ?? null) as JsonValue, (expected ?? null) as JsonValue);
}

function matchesList(
  actual: unknown,
  expected: readonly unknown[],
  eventId: (name: string) => string | undefined,
  depth: Depth,
): boolean {
  return (
    Array.isArray(actual) &&
    actual.length === expected.length &&
    expected.every((each, i) => matches(actual[i], each, eventId, depth))
  );
}

function matchesObject(
  actual: unknown,
  expected: Readonly<Record<string, unknown>>,
  eventId: (name: string) => string | undefined,
  depth: Depth,
): boolean {
  if (actual === null || typeof actual !== "object" || Array.isArray(actual)) return false;
  const fields = actual as Readonly<Record<string, unknown>>;
  const known =
    depth === "partial" || Object.keys(fields).every((key) => Object.hasOwn(expected, key));
  return (
    known &&
    Object.entries(expected).every(([key, each]) =>
      matches(Object.hasOwn(fields, key) ? fields[key] : undefined, each, eventId, depth),
    )
  );
}

function isComparator(expected: unknown): expected is Comparator {
  if (expected === null || typeof expected !== "object" || Array.isArray(expected)) return false;
  const keys = Object.keys(expected);
  return keys.length > 0 && keys.every((key) => Object.hasOwn(COMPARISONS, key));
}

function holds(actual: number, comparator: Comparator): boolean {
  return Object.entries(comparator).every(([name, bound]) => COMPARISONS[name]?.(actual, bound));
}

function isPattern(expected: unknown): expected is { readonly "~": string } {
  return hasOnly(expected, "~");
}

function isAbsent(expected: unknown): boolean {
  return hasOnly(expected, "absent") && (expected as { absent: unknown }).absent === true;
}

function hasOnly(value: unknown, key: string): boolean {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  return keys.length === 1 && keys[0] === key;
}
