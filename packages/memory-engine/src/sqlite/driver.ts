/** What SQLite stores and binds here. */
export type SqlValue = number | string | null | Uint8Array;

/** A prepared statement. Parameters are positional. */
export interface Stmt {
  run(...params: readonly SqlValue[]): { readonly changes: number };
  get(...params: readonly SqlValue[]): unknown;
  all(...params: readonly SqlValue[]): unknown[];
}

/** `immediate` takes the write lock at BEGIN (field fault DB-02); `deferred` is for reads. */
export type TransactionMode = "immediate" | "deferred";

/** `normal` survives a killed process, `full` a loss of power (protocol.md §8). */
export type Durability = "normal" | "full";

export type CheckpointMode = "passive" | "truncate";

export interface CheckpointResult {
  /** True where a reader or writer kept the checkpoint from completing. */
  readonly busy: boolean;
  /** Frames in the WAL, and how many of them are in the file by now. −1: no WAL. */
  readonly walFrames: number;
  readonly checkpointedFrames: number;
}

/**
 * The synchronous SQLite seam (architecture.md). Only what every embedding of SQLite can give is
 * required; what is optional has a meaning where it is absent, so that a store which has one
 * writer by construction (a SQLite-backed Durable Object) needs none of it.
 *
 * Every error leaves as a StorageError with the SQL text in its details.
 */
export interface SqlDriver {
  prepare(sql: string): Stmt;
  /** Any number of statements without parameters. */
  exec(sql: string): void;
  /**
   * Runs `fn` in a transaction; a throw rolls back and is rethrown. A returned promise and a
   * nested call throw: there is no await inside a transaction (field fault DB-01).
   */
  transaction<T>(fn: () => T, mode: TransactionMode): T;
  /** Inside a transaction: a throw undoes what `fn` did, leaves the rest, and is rethrown. */
  savepoint<T>(fn: () => T): T;
  close(): void;
  /** Changes when another connection has committed. Absent: no other connection can. */
  dataVersion?(): number;
  /** Sets `synchronous` and reads it back. Absent: the platform's own durability. */
  setDurability?(durability: Durability): void;
  /** Absent: the platform checkpoints by itself. */
  checkpoint?(mode: CheckpointMode): CheckpointResult;
  /** Problems that SQLite's own check finds; empty when sound. */
  checkIntegrity?(): readonly string[];
  /** True where the last user of the file did not close it. */
  readonly endedUncleanly?: boolean;
}
