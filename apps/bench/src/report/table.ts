import { formatNumber } from "./numbers.js";
import type { Row } from "./row.js";

const HEADS = ["figure", "ours", "yardstick", "ratio", "target", ""] as const;
/** Columns of numbers stand to the right. */
const RIGHT: ReadonlySet<number> = new Set([1, 2, 3]);

/** The rows as a table of text, notes below. */
export function formatTable(rows: readonly Row[]): string {
  const cells = [[...HEADS], ...rows.map(cellsOf)];
  const widths = HEADS.map((_, column) =>
    Math.max(...cells.map((line) => (line[column] ?? "").length)),
  );
  const lines = cells.map((line) => lineOf(line, widths));
  lines.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  const notes = rows.flatMap(({ figure, note }) =>
    note === undefined ? [] : [`${figure}: ${note}`],
  );
  return [...lines, ...(notes.length === 0 ? [] : ["", ...notes])].join("\n");
}

function cellsOf(row: Row): string[] {
  return [
    row.figure,
    withUnit(row.ours, row.unit),
    withUnit(row.yardstick, row.unit),
    row.ratio === undefined ? "–" : `${formatNumber(row.ratio)}×`,
    row.target,
    row.met === undefined ? "not judged" : row.met ? "met" : "missed",
  ];
}

function withUnit(value: number | undefined, unit: string): string {
  return value === undefined ? "–" : `${formatNumber(value)} ${unit}`.trimEnd();
}

function lineOf(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, column) => {
    const width = widths[column] ?? 0;
    return RIGHT.has(column) ? cell.padStart(width) : cell.padEnd(width);
  });
  return padded.join("  ").trimEnd();
}
