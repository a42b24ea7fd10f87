import type { Database } from "better-sqlite3";
import { StorageError } from "@tidemark/protocol";
import type { Durability } from "./driver.js";
import { storageError } from "./errors.js";

/**
 * Pages in the WAL at which SQLite checkpoints by itself: 12 MiB of 4 KiB pages. A checkpoint holds its process while it
 * copies them, the other spaces' work included: fewer pages hold it shorter and oftener. At this size it is one trivial
 * event in some 260, out of the hundredth that p99 looks at; with 2,000 it is in it, with 4,000 a neighbour waits for it.
 */
const WAL_AUTOCHECKPOINT_PAGES = 3_000;

/** Bytes the WAL file is cut back to after a checkpoint that completed (field fault DB-04). */
const JOURNAL_SIZE_LIMIT_BYTES = 16 * 1024 * 1024;

const SYNCHRONOUS: Readonly<Record<Durability, number>> = { normal: 1, full: 2 };

/** protocol.md §8: WAL, foreign keys, explicit synchronous, a bounded WAL. Read back, not hoped for. */
export function applyPragmas(db: Database, durability: Durability): void {
  const mode = readPragma<{ journal_mode: string }>(db, "journal_mode = WAL").journal_mode;
  if (!db.memory && mode !== "wal") {
    throw new StorageError(`the store cannot use WAL mode: SQLite answered ${mode}`, {
      kind: "io",
    });
  }
  db.pragma("foreign_keys = ON");
  db.pragma(`wal_autocheckpoint = ${WAL_AUTOCHECKPOINT_PAGES}`);
  db.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT_BYTES}`);
  setSynchronous(db, durability);
}

export function setSynchronous(db: Database, durability: Durability): void {
  const wanted = SYNCHRONOUS[durability];
  db.pragma(`synchronous = ${wanted}`);
  const held = readPragma<{ synchronous: number }>(db, "synchronous").synchronous;
  if (held !== wanted) {
    throw new StorageError(`synchronous is ${held} where ${wanted} (${durability}) was set`, {
      kind: "io",
    });
  }
}

/** The first row a pragma answers. */
export function readPragma<R>(db: Database, pragma: string): R {
  try {
    return (db.pragma(pragma) as R[])[0] as R;
  } catch (error) {
    throw storageError(error, `PRAGMA ${pragma}`);
  }
}
