import {
  isTidemarkError,
  StorageError,
  type StorageErrorKind,
  type TidemarkError,
} from "@tidemark/protocol";

/** SQLite's result code to what the receiver can do about it; the longest prefix wins. */
const KIND_BY_CODE: readonly (readonly [prefix: string, kind: StorageErrorKind])[] = [
  ["SQLITE_FULL", "full"],
  ["SQLITE_READONLY", "readonly"],
  ["SQLITE_CORRUPT", "corrupt"],
  ["SQLITE_NOTADB", "not-a-store"],
];

const SQL_TEXT_MAX = 400;

/** The result code of an error that SQLite raised, or undefined for any other error. */
export function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" && error.code.startsWith("SQLITE_")
    ? error.code
    : undefined;
}

/**
 * What SQLite raised, as a typed error that names the statement (style.md, SQLite). Errors that
 * are ours already pass through: they say more than SQLite could.
 */
export function storageError(error: unknown, sql: string): TidemarkError {
  if (isTidemarkError(error)) return error;
  const code = sqliteCode(error);
  const kind = KIND_BY_CODE.find(([prefix]) => code?.startsWith(prefix) === true)?.[1] ?? "io";
  const text = sql.length > SQL_TEXT_MAX ? `${sql.slice(0, SQL_TEXT_MAX)}…` : sql;
  const reason = error instanceof Error ? error.message : String(error);
  const details = { kind, sql: text, code: code ?? "", busy: isBusy(code) };
  return new StorageError(`SQLite refused a statement: ${reason} (in: ${text})`, details, {
    cause: error,
  });
}

/** True where another connection holds the lock: the same call may succeed later. */
export function isBusy(code: string | undefined): boolean {
  return code !== undefined && (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED"));
}
