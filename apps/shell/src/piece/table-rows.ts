/** A list of like objects, as rows and columns. */
export interface TableRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

const MAX_COLUMNS = 5;

/** The rows of a list whose items are objects with the same few keys and plain values; else `undefined`. */
export function tableRows(items: readonly unknown[]): TableRows | undefined {
  const [first] = items;
  if (!isPlainObject(first)) return undefined;
  const columns = Object.keys(first);
  if (columns.length === 0 || columns.length > MAX_COLUMNS) return undefined;
  const rows: (readonly unknown[])[] = [];
  for (const item of items) {
    if (!isPlainObject(item) || !sameKeys(item, columns)) return undefined;
    rows.push(columns.map((column) => item[column]));
  }
  return { columns, rows };
}

function sameKeys(item: Readonly<Record<string, unknown>>, columns: readonly string[]): boolean {
  return (
    Object.keys(item).length === columns.length && columns.every((key) => Object.hasOwn(item, key))
  );
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((part) => typeof part !== "object" || part === null);
}
