import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { JsonValue, SpaceId } from "@tidemark/protocol";
import Database from "better-sqlite3";
import { afterEach } from "vitest";
import { createSqlitePerformer, type SqliteLimits, userDatabaseFile } from "../../../src/index.js";
import { asking, SPACE } from "./calls.js";
import { WatchedClock } from "./watched-clock.js";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-databases-"));
  cleanups.unshift(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Makes a database of a space with what the statements say; it is closed again. */
export function makeDatabase(
  folder: string,
  statements: string,
  { space = SPACE, database }: { readonly space?: SpaceId; readonly database?: JsonValue } = {},
): string {
  const file = userDatabaseFile(folder, space, database);
  mkdirSync(dirname(file), { recursive: true });
  const db = new Database(file);
  db.exec(statements);
  db.close();
  return file;
}

/** A performer over a folder; closed after the test. */
export function queryingIn(folder: string, limits: Partial<SqliteLimits> = {}) {
  const clock = new WatchedClock();
  const performer = createSqlitePerformer({ clock, folder, limits });
  cleanups.unshift(() => performer.close());
  return { clock, performer, query: asking(performer, "sqliteQuery") };
}

/** A statement that gives no row for ever, and never comes back to whoever runs it. */
export const ENDLESS =
  "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
