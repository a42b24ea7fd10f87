import { existsSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { StorageError } from "@tidemark/protocol";
import type {
  CheckpointMode,
  CheckpointResult,
  Durability,
  SqlDriver,
  SqlValue,
  Stmt,
  TransactionMode,
} from "./driver.js";
import { isBusy, sqliteCode, storageError } from "./errors.js";
import { applyPragmas, readPragma, setSynchronous } from "./pragmas.js";

export interface BetterSqlite3Options {
  /** A file, made where it is missing, or `:memory:`. */
  readonly path: string;
  readonly durability?: Durability;
  /** ms that SQLite itself waits for a lock. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** How often BEGIN is tried again once SQLite's own wait has run out. Default 5. */
  readonly busyRetries?: number;
}

const DEFAULT_BUSY_TIMEOUT_MS = 5_000;
const DEFAULT_BUSY_RETRIES = 5;

/**
 * The embedded default: better-sqlite3 behind {@link SqlDriver}, in WAL mode, with its pragmas
 * set and read back.
 *
 * @throws StorageError `not-a-store` for a file that SQLite does not know, `io` for one it cannot open
 */
export function openBetterSqlite3(options: BetterSqlite3Options): SqlDriver {
  const endedUncleanly = hasWalLeft(options.path);
  let db: Database.Database | undefined;
  try {
    db = new Database(options.path, { timeout: options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS });
    applyPragmas(db, options.durability ?? "normal");
  } catch (error) {
    db?.close();
    throw storageError(error, `open ${options.path}`);
  }
  return new BetterSqlite3Driver(db, endedUncleanly, options.busyRetries ?? DEFAULT_BUSY_RETRIES);
}

/** SQLite removes the WAL at the last orderly close, so one that holds frames tells of a crash. */
function hasWalLeft(path: string): boolean {
  if (path === ":memory:" || path === "") return false;
  const wal = `${path}-wal`;
  return existsSync(wal) && statSync(wal).size > 0;
}

class PreparedStatement implements Stmt {
  readonly #stmt: Database.Statement;
  readonly #sql: string;

  constructor(stmt: Database.Statement, sql: string) {
    this.#stmt = stmt;
    this.#sql = sql;
  }

  run(...params: readonly SqlValue[]): { readonly changes: number } {
    try {
      return this.#stmt.run(...params);
    } catch (error) {
      throw storageError(error, this.#sql);
    }
  }

  get(...params: readonly SqlValue[]): unknown {
    try {
      return this.#stmt.get(...params);
    } catch (error) {
      throw storageError(error, this.#sql);
    }
  }

  all(...params: readonly SqlValue[]): unknown[] {
    try {
      return this.#stmt.all(...params);
    } catch (error) {
      throw storageError(error, this.#sql);
    }
  }
}

class BetterSqlite3Driver implements SqlDriver {
  readonly endedUncleanly: boolean;
  readonly #db: Database.Database;
  readonly #busyRetries: number;
  readonly #begin: Readonly<Record<TransactionMode, Database.Statement>>;
  readonly #commit: Database.Statement;
  readonly #rollback: Database.Statement;
  readonly #dataVersion: Database.Statement;
  readonly #savepoint: Database.Statement;
  readonly #release: Database.Statement;
  readonly #rollbackTo: Database.Statement;

  constructor(db: Database.Database, endedUncleanly: boolean, busyRetries: number) {
    this.#db = db;
    this.endedUncleanly = endedUncleanly;
    this.#busyRetries = busyRetries;
    this.#begin = { immediate: db.prepare("BEGIN IMMEDIATE"), deferred: db.prepare("BEGIN") };
    this.#commit = db.prepare("COMMIT");
    this.#rollback = db.prepare("ROLLBACK");
    this.#savepoint = db.prepare("SAVEPOINT part");
    this.#release = db.prepare("RELEASE part");
    this.#rollbackTo = db.prepare("ROLLBACK TO part");
    this.#dataVersion = db.prepare("PRAGMA data_version").pluck();
  }

  prepare(sql: string): Stmt {
    try {
      return new PreparedStatement(this.#db.prepare(sql), sql);
    } catch (error) {
      throw storageError(error, sql);
    }
  }

  exec(sql: string): void {
    try {
      this.#db.exec(sql);
    } catch (error) {
      throw storageError(error, sql);
    }
  }

  transaction<T>(fn: () => T, mode: TransactionMode): T {
    if (this.#db.inTransaction) {
      throw new StorageError("a transaction is already open on this connection: do not nest", {
        kind: "io",
      });
    }
    this.#beginWithRetry(mode);
    try {
      const result = fn();
      if (isPromise(result)) {
        throw new StorageError(
          "the transaction's function returned a promise: nothing may be awaited inside a transaction",
          { kind: "io" },
        );
      }
      this.#commit.run();
      return result;
    } catch (error) {
      this.#rollBack();
      throw sqliteCode(error) === undefined ? error : storageError(error, "COMMIT");
    }
  }

  savepoint<T>(fn: () => T): T {
    this.#savepoint.run();
    try {
      const result = fn();
      this.#release.run();
      return result;
    } catch (error) {
      // After some errors SQLite has rolled back the whole transaction, and no savepoint is left.
      if (this.#db.inTransaction) {
        this.#rollbackTo.run();
        this.#release.run();
      }
      throw error;
    }
  }

  /**
   * Nothing has been read before BEGIN returns, so a busy answer costs nothing but time and the
   * whole commit is validated after the lock is held (field fault DB-02).
   */
  #beginWithRetry(mode: TransactionMode): void {
    for (let attempt = 0; ; attempt += 1) {
      try {
        this.#begin[mode].run();
        return;
      } catch (error) {
        if (!isBusy(sqliteCode(error)) || attempt >= this.#busyRetries) {
          throw storageError(error, `BEGIN ${mode}`);
        }
      }
    }
  }

  /** SQLite itself rolls back on some errors (a full disk); rolling back twice would hide them. */
  #rollBack(): void {
    if (this.#db.inTransaction) this.#rollback.run();
  }

  dataVersion(): number {
    return this.#dataVersion.get() as number;
  }

  setDurability(durability: Durability): void {
    setSynchronous(this.#db, durability);
  }

  checkpoint(mode: CheckpointMode): CheckpointResult {
    const sql = mode === "truncate" ? "wal_checkpoint(TRUNCATE)" : "wal_checkpoint(PASSIVE)";
    const row = readPragma<{ busy: number; log: number; checkpointed: number }>(this.#db, sql);
    return {
      busy: row.busy !== 0,
      walFrames: row.log,
      checkpointedFrames: row.checkpointed,
    };
  }

  checkIntegrity(): readonly string[] {
    try {
      const rows = this.#db.pragma("quick_check") as { quick_check: string }[];
      return rows.map((row) => row.quick_check).filter((text) => text !== "ok");
    } catch (error) {
      throw storageError(error, "PRAGMA quick_check");
    }
  }

  close(): void {
    this.#db.close();
  }
}

function isPromise(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
