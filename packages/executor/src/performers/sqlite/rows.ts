import type { JsonObject, JsonValue } from "@tidemark/protocol";
import { failure } from "../failure.js";
import { storable } from "../http/media.js";

/** A value as a query gives it. */
export type SqliteValue = null | string | number | bigint | Uint8Array;

/**
 * Rows as JSON: a list of objects by column. An integer that no JSON number holds exactly is its decimal text, a blob
 * is `{ "base64": text }`.
 *
 * @throws EffectError "invalid": two columns of one name, or a float that JSON has no number for.
 */
export function jsonRows(
  columns: readonly string[],
  rows: readonly (readonly SqliteValue[])[],
): JsonValue {
  const twice = columns.find((column, at) => columns.indexOf(column) !== at);
  if (twice !== undefined) {
    const shown = twice.slice(0, 64);
    throw failure("invalid", "columns", `sqliteQuery: two columns are named ${shown}: use AS`);
  }
  return storable(rows.map((row) => jsonRow(columns, row)));
}

function jsonRow(columns: readonly string[], row: readonly SqliteValue[]): JsonObject {
  return Object.fromEntries(columns.map((column, at) => [column, jsonOf(row[at] ?? null)]));
}

function jsonOf(value: SqliteValue): JsonValue {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  return value;
}
