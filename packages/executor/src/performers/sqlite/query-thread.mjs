/*
 * Runs one query on a connection of its own that can only read one file. Answers `{ columns, rows }` or
 * `{ failure, message }`, with one of the words of `query-answer.ts`.
 */
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { parentPort } from "node:worker_threads";
import Database from "better-sqlite3";

/** How long a writer of the database is waited for, ms. */
const BUSY_TIMEOUT_MS = 1_000;
const CACHE_KIB = 8_192;
/** Of the file that a space's own documents are in. */
const ENGINE_TABLE = "store_meta";

/**
 * @typedef {{
 *   folder: string,
 *   file: string,
 *   statement: string,
 *   parameters: readonly unknown[] | Readonly<Record<string, unknown>>,
 *   maxRows: number,
 *   maxBytes: number,
 * }} Query
 */

parentPort?.on("message", (/** @type {Query} */ query) =>
  parentPort?.postMessage(answer(query), []),
);

/** @param {Query} query */
function answer(query) {
  /** @type {Database.Database | undefined} */
  let db;
  try {
    db = new Database(within(query), {
      readonly: true,
      fileMustExist: true,
      timeout: BUSY_TIMEOUT_MS,
    });
  } catch (error) {
    return failed("open", error);
  }
  try {
    confine(db);
    if (isStore(db)) return { failure: "store", message: "" };
    return read(db, query);
  } catch (error) {
    return failed("run", error);
  } finally {
    db.close();
  }
}

/** The file itself: a symbolic link that leads out of the space's folder leads to no database. @param {Query} query */
function within({ folder, file }) {
  const real = realpathSync(file);
  if (real.startsWith(realpathSync(folder) + sep)) return real;
  throw new Error("outside");
}

/** Nothing is written, not even for a while and elsewhere; what the file itself says is not trusted. @param {Database.Database} db */
function confine(db) {
  db.pragma("query_only = ON");
  db.pragma("trusted_schema = OFF");
  db.pragma("cell_size_check = ON");
  db.pragma("temp_store = MEMORY");
  db.pragma(`cache_size = -${CACHE_KIB}`);
}

/** @param {Database.Database} db */
function isStore(db) {
  const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
  return db.prepare(sql).get(ENGINE_TABLE) !== undefined;
}

/** @param {Database.Database} db @param {Query} query */
function read(db, { statement, parameters, maxRows, maxBytes }) {
  /** @type {Database.Statement} */
  let prepared;
  try {
    prepared = db.prepare(statement);
  } catch (error) {
    return failed("prepare", error);
  }
  if (!prepared.reader || !prepared.readonly) return { failure: "writes", message: "" };
  const bound = Array.isArray(parameters)
    ? prepared.bind(...parameters)
    : prepared.bind(parameters);
  const columns = bound.columns().map(({ name }) => name);
  const perRow = columns.reduce((sum, name) => sum + Buffer.byteLength(name) + 4, 2);
  /** @type {unknown[][]} */
  const rows = [];
  let bytes = 0;
  for (const row of /** @type {Iterable<unknown[]>} */ (
    bound.raw(true).safeIntegers(true).iterate()
  )) {
    if (rows.length === maxRows) return { failure: "rows", message: "" };
    bytes += row.reduce((/** @type {number} */ sum, value) => sum + sizeOf(value), perRow);
    if (bytes > maxBytes) return { failure: "bytes", message: "" };
    rows.push(row);
  }
  return { columns, rows };
}

/** About what a value takes as JSON. @param {unknown} value */
function sizeOf(value) {
  if (typeof value === "string") return Buffer.byteLength(value) + 2;
  return value instanceof Uint8Array ? Math.ceil(value.byteLength / 3) * 4 + 13 : 20;
}

/** @param {"open" | "prepare" | "run"} step @param {unknown} error */
function failed(step, error) {
  const { code = "", name = "", message = "" } = /** @type {Record<string, string>} */ (error);
  return { failure: wordFor(step, String(code), name), message: String(message) };
}

/** @param {string} step @param {string} code @param {string} name */
function wordFor(step, code, name) {
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) return "busy";
  if (code.startsWith("SQLITE_NOTADB") || code.startsWith("SQLITE_CORRUPT")) return "unreadable";
  if (code === "SQLITE_TOOBIG" || code === "SQLITE_NOMEM") return "bytes";
  if (step === "open") return "absent";
  if (step === "prepare") return name === "RangeError" ? "statements" : "statement";
  return name === "RangeError" || name === "TypeError" ? "parameters" : "statement";
}
