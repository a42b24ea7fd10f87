/** A tree of counters, as {@link SpaceStats.snapshot} returns it. */
type Tree = { readonly [name: string]: unknown };

/**
 * Adds snapshots up: numbers are summed, names that end in `Max` or begin with `max` take the greatest,
 * `lastDelta` the last, and lists are joined.
 */
export function sumStats<T extends object>(parts: readonly T[]): T | undefined {
  return parts.reduce<T | undefined>(
    (total, part) => (total === undefined ? part : (merge(total as Tree, part as Tree) as T)),
    undefined,
  );
}

function merge(a: Tree, b: Tree): Tree {
  const merged: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) merged[name] = combine(name, a[name], value);
  return merged;
}

function combine(name: string, a: unknown, b: unknown): unknown {
  if (typeof a === "number" && typeof b === "number") {
    if (name.endsWith("Max") || name.startsWith("max")) return Math.max(a, b);
    return name === "lastDelta" ? b : a + b;
  }
  if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b];
  if (isTree(a) && isTree(b)) return merge(a, b);
  return b ?? a;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
