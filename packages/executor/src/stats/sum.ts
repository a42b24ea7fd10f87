/** A tree of counters, as {@link SpaceStats.snapshot} returns it. */
type Tree = { readonly [name: string]: unknown };

/**
 * Adds snapshots up: numbers are summed, names that end in `Max` or begin with `max` take the greatest,
 * `lastDelta` is that of the newest advance, and lists are joined.
 */
export function sumStats<T extends object>(parts: readonly T[]): T | undefined {
  if (parts.length === 0) return undefined;
  return sumTrees(parts.map((part) => part as Tree)) as T;
}

function sumTrees(trees: readonly Tree[]): Tree {
  const names = new Set(trees.flatMap((tree) => Object.keys(tree)));
  return Object.fromEntries([...names].map((name) => [name, sumOf(name, trees)]));
}

function sumOf(name: string, trees: readonly Tree[]): unknown {
  if (name === "lastDelta") return newestOf(trees)[name];
  const values = trees.map((tree) => tree[name]).filter((value) => value !== undefined);
  if (values.every(isNumber)) {
    const greatest = name.endsWith("Max") || name.startsWith("max");
    return values.reduce((a, b) => (greatest ? Math.max(a, b) : a + b), 0);
  }
  if (values.every(Array.isArray)) return values.flat();
  return values.every(isTree) ? sumTrees(values) : values.at(-1);
}

/** The one whose series ends last; the last of those that have none. */
function newestOf(trees: readonly Tree[]): Tree {
  return trees.reduce((a, b) => (endOf(b) >= endOf(a) ? b : a));
}

function endOf({ series }: Tree): number {
  const last: unknown = Array.isArray(series) ? series.at(-1) : undefined;
  return isTree(last) && isNumber(last["at"]) ? last["at"] : Number.NEGATIVE_INFINITY;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
