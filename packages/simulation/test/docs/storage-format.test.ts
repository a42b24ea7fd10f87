import {
  DEFAULT_COMPACTION_POLICY,
  DEFAULT_PRUNE_POLICY,
  openBetterSqlite3,
  openEngine,
  type SqlDriver,
  STORE_VERSION,
} from "@tidemark/memory-engine";
import { identityFromSeed, seededRandom, spaceId } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { afterAll, expect, test } from "vitest";
import { blocksOf, codeIn, readText, tableUnder } from "./support.js";

const DOC = "docs/storage-format.md";
const driver = openBetterSqlite3({ path: ":memory:" });
const engine = openEngine({
  driver,
  space: spaceId(identityFromSeed(new Uint8Array(32)).did),
  storeClock: new VirtualClock(),
  random: seededRandom(1),
});
afterAll(() => engine.close());

function names(from: SqlDriver, sql: string): string[] {
  return from
    .prepare(sql)
    .all()
    .map((row) => (row as { readonly name: string }).name);
}

test("the document lists the tables and columns of a fresh store, and no others", () => {
  const stored = names(
    driver,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  const told = [...readText(DOC).matchAll(/^### `(\w+)`$/gmu)].map(([, name = ""]) => name);
  expect(told.sort()).toEqual(stored.sort());
  for (const table of stored) {
    const columns = tableUnder(DOC, `### \`${table}\``).map(([column = ""]) => codeIn(column)[0]);
    expect([table, columns]).toEqual([table, names(driver, `PRAGMA table_info("${table}")`)]);
  }
});

test("every query of the document runs on a fresh store", () => {
  const statements = blocksOf(DOC, "sql").join("\n").split(";\n");
  expect(statements.length).toBeGreaterThan(5);
  for (const sql of statements) if (sql.trim() !== "") driver.prepare(sql).all();
});

test("formats and defaults in the document are those of the code", () => {
  expect(tableUnder(DOC, "## Migrations").map(([version]) => version)).toEqual(
    Array.from({ length: STORE_VERSION }, (_, at) => String(at + 1)),
  );
  expect(readText(DOC)).toContain(`Format ${STORE_VERSION}.`);
  const minutes = 10 * 60_000;
  expect(DEFAULT_COMPACTION_POLICY).toMatchObject({
    compactAfterMs: minutes,
    compactAfterEntries: 64,
    compactMaxEntries: 10_000,
  });
  expect(DEFAULT_PRUNE_POLICY).toMatchObject({
    pruneAfterMs: minutes,
    pruneAfterCommits: 1_000,
    pruneMaxCommits: 20_000,
    keepReplaysPerOpen: 1_024,
  });
});
