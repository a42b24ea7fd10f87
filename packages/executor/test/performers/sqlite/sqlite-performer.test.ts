import { copyFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openBetterSqlite3, openEngine } from "@tidemark/memory-engine";
import { docId, identityFromSeed, spaceId, toLinkValue } from "@tidemark/protocol";
import { seededRandom } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { failureOf, SPACE, waysOf, wordsOf } from "../support/calls.js";
import { ENDLESS, makeDatabase, queryingIn, temporaryFolder } from "../support/databases.js";

const OTHER = spaceId(identityFromSeed(new Uint8Array(32).fill(2)).did);
const ITEMS = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, data BLOB); ";
const FILLED = `${ITEMS} INSERT INTO item VALUES (1, 'one', x'00ff'), (2, 'two', NULL)`;

test("[EX-Y46] a query gives its rows", async () => {
  const folder = temporaryFolder();
  makeDatabase(folder, FILLED);
  const { query, clock } = queryingIn(folder);
  expect(await query({ statement: "SELECT * FROM item ORDER BY id" })).toEqual([
    { id: 1, name: "one", data: { base64: "AP8=" } },
    { id: 2, name: "two", data: null },
  ]);
  expect(await query({ statement: "SELECT 9223372036854775807 AS n" })).toEqual([
    { n: "9223372036854775807" },
  ]);
  expect(await query({ statement: "SELECT id FROM item WHERE id > 5" })).toEqual([]);
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y45] parameters are bound with their types", async () => {
  const folder = temporaryFolder();
  makeDatabase(folder, FILLED);
  const { query } = queryingIn(folder);
  const statement = "SELECT typeof(?) AS a, typeof(?) AS b, typeof(?) AS c, typeof(?) AS d";
  expect(await query({ statement, params: [3_000_000_000, 1.5, "x", null] })).toEqual([
    { a: "integer", b: "real", c: "text", d: "null" },
  ]);
  const named = "SELECT name FROM item WHERE id = :id AND :yes";
  expect(await query({ statement: named, params: { id: 2, yes: true } })).toEqual([
    { name: "two" },
  ]);
  for (const params of [[], [1, 2], { other: 1 }]) {
    expect(await waysOf(query({ statement: "SELECT ?", params }))).toBe("invalid parameters");
  }
  expect(await query({ statement: "SELECT ? AS s", params: ["'; DROP TABLE item --"] })).toEqual([
    { s: "'; DROP TABLE item --" },
  ]);
});

test("[EX-Y40] each space has databases of its own, by name or by document", async () => {
  const folder = temporaryFolder();
  const link = toLinkValue({ id: docId("node:abc") });
  makeDatabase(folder, "CREATE TABLE t AS SELECT 'main' AS a");
  makeDatabase(folder, "CREATE TABLE t AS SELECT 'second' AS a", { database: "second" });
  makeDatabase(folder, "CREATE TABLE t AS SELECT 'document' AS a", { database: link });
  makeDatabase(folder, "CREATE TABLE t AS SELECT 'other' AS a", { space: OTHER });
  const { query } = queryingIn(folder);
  const statement = "SELECT a FROM t";
  expect(await query({ statement })).toEqual([{ a: "main" }]);
  expect(await query({ statement, database: null, reader: "alice" })).toEqual([{ a: "main" }]);
  expect(await query({ statement, database: "second" })).toEqual([{ a: "second" }]);
  expect(await query({ statement, database: link })).toEqual([{ a: "document" }]);
  expect(await query({ statement }, { space: OTHER })).toEqual([{ a: "other" }]);
  const missing = await failureOf(query({ statement, database: "third" }));
  expect(missing.details).toEqual({ kind: "invalid", reason: "database" });
  expect(wordsOf(missing)).not.toContain(folder);
});

test("[EX-Y42] a query changes nothing, however it is dressed", async () => {
  const folder = temporaryFolder();
  const file = makeDatabase(folder, FILLED);
  const before = readFileSync(file);
  const { query } = queryingIn(folder);
  for (const statement of [
    "WITH x AS (SELECT 1) INSERT INTO item(id) SELECT 9 FROM x",
    "WITH x AS (SELECT 1) DELETE FROM item RETURNING id",
    "WITH x AS (SELECT 1) UPDATE item SET name = 'z' RETURNING id",
  ]) {
    expect(await waysOf(query({ statement }))).toBe("refused statement");
  }
  for (const statement of ["SELECT 1; DELETE FROM item", "SELECT 1; SELECT 2"]) {
    expect(await waysOf(query({ statement }))).toBe("refused statement");
  }
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(readdirSync(dirname(file))).toEqual(["main.sqlite"]);
});

test("[EX-Y43] no other file is reached, and no path is told", async () => {
  const folder = temporaryFolder();
  makeDatabase(folder, FILLED);
  const { query } = queryingIn(folder);
  const ways: Record<string, string> = {
    "SELECT load_extension('/tmp/x.so')": "invalid statement",
    "SELECT readfile('/etc/passwd')": "invalid statement",
    "SELECT writefile('/tmp/x', 'y')": "invalid statement",
    "SELECT * FROM sqlite_dbpage": "invalid statement",
    "SELECT fts3_tokenizer('x', x'00')": "invalid statement",
    "SELECT * FROM other.item": "invalid statement",
    "SELECT * FROM 'file:/etc/passwd'": "invalid statement",
  };
  for (const [statement, way] of Object.entries(ways)) {
    const error = await failureOf(query({ statement }));
    expect([statement, `${error.kind} ${error.details.reason}`]).toEqual([statement, way]);
    expect(wordsOf(error)).not.toContain(folder);
  }
  expect(await query({ statement: "SELECT name FROM sqlite_schema" })).toEqual([{ name: "item" }]);
});

test("[EX-Y43] what a view of the file asks for is not trusted", async () => {
  const folder = temporaryFolder();
  makeDatabase(folder, "CREATE VIEW v AS SELECT file FROM pragma_database_list");
  const { query } = queryingIn(folder);
  const error = await failureOf(query({ statement: "SELECT * FROM v" }));
  expect(error.details).toEqual({ kind: "invalid", reason: "statement" });
  expect(wordsOf(error)).not.toContain(folder);
});

test("[EX-Y43] the store of a space is no database, even where it lies in its place", async () => {
  const folder = temporaryFolder();
  const place = makeDatabase(folder, "");
  const store = join(folder, "store.sqlite");
  const driver = openBetterSqlite3({ path: store });
  const random = seededRandom(1);
  openEngine({ driver, space: SPACE, storeClock: new VirtualClock(), random }).close();
  const { query } = queryingIn(folder);
  const statement = "SELECT * FROM scheduler_basis";
  copyFileSync(store, place);
  expect(await waysOf(query({ statement }))).toBe("refused database");
  symlinkSync(store, join(dirname(place), "linked.sqlite"));
  expect(await waysOf(query({ statement, database: "linked" }))).toBe("invalid database");
});

test("[EX-Y43] a file that is no database, and one that is being written, are errors", async () => {
  const folder = temporaryFolder();
  const file = makeDatabase(folder, FILLED);
  writeFileSync(join(dirname(file), "broken.sqlite"), "x".repeat(4_096));
  const { query } = queryingIn(folder);
  const statement = "SELECT * FROM item";
  expect(await waysOf(query({ statement, database: "broken" }))).toBe("provider database");
  const writer = new Database(file);
  writer.exec("BEGIN EXCLUSIVE");
  expect(await waysOf(query({ statement }))).toBe("provider busy");
  writer.close();
  expect(await query({ statement: "SELECT count(*) AS n FROM item" })).toEqual([{ n: 2 }]);
});

test("[EX-Y42] a database that somebody writes to with a log beside it is read as it stands", async () => {
  const folder = temporaryFolder();
  const file = makeDatabase(folder, FILLED);
  const writer = new Database(file);
  writer.pragma("journal_mode = WAL");
  writer.exec("INSERT INTO item(id) VALUES (3); BEGIN IMMEDIATE; INSERT INTO item(id) VALUES (4)");
  const { query } = queryingIn(folder);
  expect(await query({ statement: "SELECT count(*) AS n FROM item" })).toEqual([{ n: 3 }]);
  writer.close();
});

test("[EX-Y41] SQLite says what is wrong with a statement", async () => {
  const folder = temporaryFolder();
  makeDatabase(folder, FILLED);
  const { query } = queryingIn(folder);
  const error = await failureOf(query({ statement: "SELECT colour FROM item" }));
  expect(error.message).toBe("sqliteQuery: the statement cannot be run: no such column: colour");
  expect(await waysOf(query({ statement: "SELEC 1" }))).toBe("refused statement");
  expect(await waysOf(query({ statement: "SELECT" }))).toBe("invalid statement");
});

test("[EX-Y44] rows and bytes are bounded, and a bound that is passed gives no rows", async () => {
  const folder = temporaryFolder();
  makeDatabase(folder, FILLED);
  const { query } = queryingIn(folder, { rows: 10, bytes: 1_000 });
  const count = (n: number) =>
    `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT ${n}) SELECT x FROM c`;
  expect(await query({ statement: count(10) })).toHaveLength(10);
  expect(await waysOf(query({ statement: count(11) }))).toBe("too-large rows");
  expect(await waysOf(query({ statement: "SELECT hex(zeroblob(600)) AS a" }))).toBe(
    "too-large bytes",
  );
  expect(await waysOf(query({ statement: "SELECT zeroblob(2000000000) AS a" }))).toBe(
    "too-large bytes",
  );
  expect(await waysOf(query({ statement: ENDLESS.replace("count(*)", "x") }))).toBe(
    "too-large rows",
  );
});
