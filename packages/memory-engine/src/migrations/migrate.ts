import { StorageError, type Random, type SpaceId } from "@tidemark/protocol";
import type { SqlDriver } from "../sqlite/driver.js";
import { initial } from "./0001-initial.js";
import { pieceIndex } from "./0002-piece-index.js";
import { receipts } from "./0003-receipts.js";
import { SETUP_SQL } from "./setup.js";

/** One forward step of the schema. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
  /** The step leaves the piece index empty: the engine fills it in the same transaction. */
  readonly rebuildsPieceIndex?: true;
}

/**
 * Storage format, one line each:
 * 1: the first.  2: piece index.  3: receipts in rows of their own.
 */
export const MIGRATIONS: readonly Migration[] = [initial, pieceIndex, receipts];

/** The storage format this code writes. */
export const STORE_VERSION: number = MIGRATIONS.length;

const FORMAT = "tidemark-store";

/** What opening found out. */
export interface OpenedStore {
  readonly historyId: string;
  readonly migratedFrom: number | undefined;
}

/**
 * Brings a store to {@link STORE_VERSION}: forward only, in one transaction. A file that is no
 * Tidemark store, one of another space, and one that is newer than the code are refused before
 * anything is written.
 *
 * @throws StorageError `not-a-store`, `newer`
 */
export function migrate(
  driver: SqlDriver,
  options: {
    readonly space: SpaceId;
    readonly random: Random;
    readonly rebuildPieceIndex: () => void;
  },
): OpenedStore {
  const seen = inspect(driver, options.space);
  if (seen?.version === STORE_VERSION)
    return { historyId: seen.historyId, migratedFrom: undefined };
  return driver.transaction(() => {
    // Another process may have migrated between the look and the lock.
    const current = inspect(driver, options.space);
    if (current === undefined) return setUp(driver, options);
    const steps = MIGRATIONS.filter((step) => step.version > current.version);
    for (const step of steps) {
      driver.exec(step.sql);
      if (step.rebuildsPieceIndex === true) options.rebuildPieceIndex();
    }
    writeMeta(driver, "version", String(STORE_VERSION));
    const migratedFrom = steps.length > 0 ? current.version : undefined;
    return { historyId: current.historyId, migratedFrom };
  }, "immediate");
}

function setUp(
  driver: SqlDriver,
  options: { readonly space: SpaceId; readonly random: Random },
): OpenedStore {
  const historyId = mintHistoryId(options.random);
  driver.exec(SETUP_SQL);
  writeMeta(driver, "format", FORMAT);
  writeMeta(driver, "version", String(STORE_VERSION));
  writeMeta(driver, "space", options.space);
  writeMeta(driver, "history", historyId);
  writeMeta(driver, "horizon", "0");
  return { historyId, migratedFrom: undefined };
}

/** 96 bits, hex. */
export function mintHistoryId(random: Random): string {
  return Array.from(random.bytes(12), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

interface Seen {
  readonly version: number;
  readonly historyId: string;
}

/** What the file is, without writing; undefined for an empty one. */
function inspect(driver: SqlDriver, space: SpaceId): Seen | undefined {
  const tables = driver.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as {
    readonly name: string;
  }[];
  if (tables.length === 0) return undefined;
  if (
    !tables.some((table) => table.name === "store_meta") ||
    readMeta(driver, "format") !== FORMAT
  ) {
    throw new StorageError(`the file holds other tables and is no store of space ${space}`, {
      kind: "not-a-store",
    });
  }
  const version = Number(readMeta(driver, "version"));
  if (!Number.isInteger(version) || version < 1) {
    throw new StorageError(`the store of space ${space} names no storage format`, {
      kind: "corrupt",
    });
  }
  if (version > STORE_VERSION) {
    throw new StorageError(
      `the store of space ${space} has format ${version}, newer than this code's ${STORE_VERSION}: it is left untouched; run a newer release`,
      { kind: "newer" },
    );
  }
  const owner = readMeta(driver, "space");
  if (owner !== space) {
    throw new StorageError(`the file is the store of space ${String(owner)}, not of ${space}`, {
      kind: "not-a-store",
    });
  }
  return { version, historyId: readMeta(driver, "history") ?? "" };
}

export function readMeta(driver: SqlDriver, key: string): string | undefined {
  const row = driver.prepare("SELECT value FROM store_meta WHERE key = ?").get(key);
  return (row as { readonly value: string } | undefined)?.value;
}

export function writeMeta(driver: SqlDriver, key: string, value: string): void {
  driver
    .prepare(
      "INSERT INTO store_meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    )
    .run(key, value);
}
