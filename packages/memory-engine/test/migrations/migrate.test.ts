import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { contentHash, seededRandom, type SpaceId } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBetterSqlite3, openEngine, STORE_VERSION, type Engine } from "../../src/index.js";
import { MIGRATIONS, writeMeta } from "../../src/migrations/migrate.js";
import { SETUP_SQL } from "../../src/migrations/setup.js";
import type { SqlDriver } from "../../src/sqlite/driver.js";
import { codeOf, doc, OTHER_SPACE, set, SPACE, valueOf } from "../../src/testing/harness.js";
import { temporaryFolder } from "../support/harness.js";

/** Hash of the schema of each storage format. A changed schema needs a new format. */
const SCHEMA_HASHES: Readonly<Record<number, string>> = {
  2: "LWwkXO7yITSFjtHWyAgWteL-Os-7MCYnSG8N5O7mg6w",
  3: "KXz4OCC0pUQf4psZ1Orytm2bY-rLD9-DXZ9eRXx7HxQ",
};

let folder: ReturnType<typeof temporaryFolder>;
let path = "";

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
});
afterEach(() => folder.remove());

function open(space: SpaceId = SPACE, seed = 1): Engine {
  return openEngine({
    driver: openBetterSqlite3({ path }),
    space,
    storeClock: new VirtualClock(),
    random: seededRandom(seed),
  });
}

function schemaOf(driver: SqlDriver): unknown[] {
  return driver
    .prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all();
}

/** A store as the code of an older format left it: its first steps, and the rows of `fill`. */
function makeOlder(version: number, fill: (driver: SqlDriver) => void): void {
  const driver = openBetterSqlite3({ path });
  for (const step of MIGRATIONS.slice(0, version)) driver.exec(step.sql);
  const meta = { format: "tidemark-store", version, space: SPACE, history: "abc", horizon: 0 };
  for (const [key, value] of Object.entries(meta)) writeMeta(driver, key, String(value));
  fill(driver);
  driver.close();
}

test("[ME-M1] an empty file becomes a store with a history id of its own, which stays", () => {
  const engine = open();
  const { historyId } = engine;
  expect([historyId.length, engine.head()]).toEqual([24, 0]);
  engine.close();
  const again = open(SPACE, 2);
  expect(again.historyId).toBe(historyId);
  again.close();
});

test("[ME-M2] the setup of an empty store and the numbered steps reach the same schema", () => {
  const schemas = [[SETUP_SQL], MIGRATIONS.map((step) => step.sql)].map((texts) => {
    const driver = openBetterSqlite3({ path: ":memory:" });
    for (const text of texts) driver.exec(text);
    const schema = schemaOf(driver);
    const branches = driver.prepare("SELECT * FROM branch").all();
    driver.close();
    return { schema, branches };
  });
  expect(schemas[0]).toEqual(schemas[1]);
  expect(MIGRATIONS.map((step) => step.version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
});

test("[ME-M3] an older store is migrated on open and keeps what it holds", () => {
  const piece = { result: { count: { "/": { "link@1": { id: "node:c" } } } } };
  makeOlder(1, (driver) => {
    driver.exec(`
      INSERT INTO document VALUES (1, 'piece:p', 'space');
      INSERT INTO "commit" VALUES (1, 0, 0, 5, NULL, NULL, NULL, NULL, NULL);
      INSERT INTO head VALUES (0, 1, ${2 ** 20});`);
    driver
      .prepare("INSERT INTO revision VALUES (?, 0, 1, 0, 0, NULL, ?)")
      .run(2 ** 20, JSON.stringify(piece));
  });
  const engine = open();
  expect([valueOf(engine, "piece:p"), engine.pieceOf(doc("node:c"))]).toEqual([piece, "piece:p"]);
  expect([engine.historyId, set(engine, "a", 1).seq]).toEqual(["abc", 2]);
  engine.close();
  open().close();
});

test("[ME-M3] a step that fails leaves the store at its old format", () => {
  makeOlder(1, (driver) => driver.exec("CREATE TABLE piece_node (in_the_way TEXT)"));
  expect(codeOf(() => open())).toBe("storage/io");
  const driver = openBetterSqlite3({ path });
  const row = driver.prepare("SELECT value FROM store_meta WHERE key = 'version'").get();
  expect(row).toEqual({ value: "1" });
  driver.close();
});

test("[ME-M4] a store newer than the code is refused and left untouched", () => {
  makeOlder(STORE_VERSION, (driver) => writeMeta(driver, "version", String(STORE_VERSION + 1)));
  const before = readFileSync(path);
  expect(codeOf(() => open())).toBe("storage/newer");
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("[ME-M5] a file that is no store is refused and left untouched", () => {
  const driver = openBetterSqlite3({ path });
  driver.exec("CREATE TABLE recipes (name TEXT)");
  driver.close();
  const before = readFileSync(path);
  expect(codeOf(() => open())).toBe("storage/not-a-store");
  expect(readFileSync(path).equals(before)).toBe(true);
  writeFileSync(path, "x".repeat(8_192));
  expect(codeOf(() => open())).toBe("storage/not-a-store");
  expect(readFileSync(path, "utf8")).toBe("x".repeat(8_192));
});

test("[ME-M6] the store of another space is refused", () => {
  open().close();
  expect(codeOf(() => open(OTHER_SPACE))).toBe("storage/not-a-store");
});

test("[ME-M7] after an unclean end a damaged store is refused as corrupt, and a sound one opens", () => {
  const engine = open();
  for (let n = 0; n < 500; n += 1) set(engine, `doc${n}`, "x".repeat(200));
  engine.checkpoint("truncate");
  set(engine, "last", 1);
  const copy = join(folder.path, "copy.db");
  // Copied while open, as a crash leaves it: the WAL holds the last commit.
  copyFileSync(path, copy);
  copyFileSync(`${path}-wal`, `${copy}-wal`);
  engine.close();
  path = copy;
  const bytes = readFileSync(copy);
  const wal = readFileSync(`${copy}-wal`);
  const sound = open();
  expect(valueOf(sound, "last")).toBe(1);
  sound.close();
  bytes.fill(0xff, 20 * 4_096, 24 * 4_096);
  writeFileSync(copy, bytes);
  writeFileSync(`${copy}-wal`, wal);
  expect(codeOf(() => open())).toBe("storage/corrupt");
});

test("[ME-M8] the schema of a storage format never changes", () => {
  const driver = openBetterSqlite3({ path: ":memory:" });
  driver.exec(SETUP_SQL);
  const hash = contentHash(schemaOf(driver) as never);
  driver.close();
  expect(hash).toBe(SCHEMA_HASHES[STORE_VERSION]);
});

test("[ME-M9] a store that went back gets a new history id, which stays", () => {
  const engine = open();
  const before = engine.historyId;
  const after = engine.restartHistory();
  expect(after).not.toBe(before);
  expect(engine.historyId).toBe(after);
  engine.close();
  const again = open();
  expect(again.historyId).toBe(after);
  again.close();
});
