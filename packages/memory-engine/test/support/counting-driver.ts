import type { SqlDriver, SqlValue } from "../../src/index.js";

/** What a store asked of its driver. */
export interface DriverCounts {
  /** Rows that `all` gave back. */
  rowsRead: number;
  /** Characters of text bound to statements that were run. */
  textWritten: number;
  /** Texts that were prepared, each time they were. */
  readonly prepared: string[];
}

/** A driver that counts, for rules about work instead of time. */
export function countingDriver(driver: SqlDriver): SqlDriver & { readonly counts: DriverCounts } {
  const counts: DriverCounts = { rowsRead: 0, textWritten: 0, prepared: [] };
  return {
    counts,
    exec: (sql) => driver.exec(sql),
    transaction: (fn, mode) => driver.transaction(fn, mode),
    savepoint: (fn) => driver.savepoint(fn),
    close: () => driver.close(),
    dataVersion: () => driver.dataVersion?.() ?? 0,
    prepare: (sql) => {
      counts.prepared.push(sql);
      const stmt = driver.prepare(sql);
      return {
        get: (...params) => stmt.get(...params),
        all: (...params) => {
          const rows = stmt.all(...params);
          counts.rowsRead += rows.length;
          return rows;
        },
        run: (...params) => {
          counts.textWritten += params.reduce((sum: number, value) => sum + lengthOf(value), 0);
          return stmt.run(...params);
        },
      };
    },
  };
}

function lengthOf(value: SqlValue): number {
  return typeof value === "string" ? value.length : 0;
}
