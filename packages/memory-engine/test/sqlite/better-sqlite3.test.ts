import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBetterSqlite3, openEngine, type Engine } from "../../src/index.js";
import { codeOf, set, SPACE, valueOf } from "../../src/testing/harness.js";
import { temporaryFolder } from "../support/harness.js";

/** A bound for the WAL file: SQLite's own checkpoints keep it to about half of this. */
const WAL_BOUND_BYTES = 16 * 1024 * 1024;

let folder: ReturnType<typeof temporaryFolder>;
let path = "";

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
});
afterEach(() => folder.remove());

function open(busyTimeoutMs = 5_000): Engine {
  return openEngine({
    driver: openBetterSqlite3({ path, busyTimeoutMs, busyRetries: 0 }),
    space: SPACE,
    storeClock: new VirtualClock(),
    random: seededRandom(1),
  });
}

test("[ME-D7] WAL, foreign keys, the busy wait and the durability are set and read back", () => {
  const driver = openBetterSqlite3({ path, busyTimeoutMs: 1_234 });
  const pragma = (name: string): unknown =>
    Object.values(driver.prepare(`PRAGMA ${name}`).get() as object)[0];
  expect(["journal_mode", "foreign_keys", "busy_timeout", "synchronous"].map(pragma)).toEqual([
    "wal",
    1,
    1_234,
    1,
  ]);
  driver.setDurability?.("full");
  expect(pragma("synchronous")).toBe(2);
  driver.close();
  const full = openBetterSqlite3({ path, durability: "full" });
  expect(full.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
  full.close();
});

test("[ME-D8] the WAL stays bounded under 10,000 small commits and a reader that keeps coming", () => {
  const [writer, reader] = [open(), open()];
  let largest = 0;
  for (let n = 0; n < 10_000; n += 1) {
    set(writer, `doc${n % 50}`, { n });
    if (n % 100 === 0) {
      expect(valueOf(reader, "doc0")).toEqual({ n: n - (n % 50) });
      largest = Math.max(largest, statSync(`${path}-wal`).size);
    }
  }
  expect(largest).toBeLessThan(WAL_BOUND_BYTES);
  const done = writer.checkpoint("truncate");
  expect([done.busy, statSync(`${path}-wal`).size]).toEqual([false, 0]);
  writer.close();
  reader.close();
});

test("[ME-D8] a checkpoint that a reader holds up says so, and completes afterwards", () => {
  const [writer, reader] = [open(1), open()];
  set(writer, "a", 1);
  reader.view(() => {
    expect(valueOf(reader, "a")).toBe(1);
    set(writer, "a", 2);
    expect(writer.checkpoint("truncate").busy).toBe(true);
    const passive = writer.checkpoint();
    expect(passive.checkpointedFrames).toBeLessThan(passive.walFrames);
  });
  expect(writer.checkpoint("truncate").busy).toBe(false);
  writer.close();
  reader.close();
});

test("[ME-D9] a full disk is a typed error that leaves the last commit readable and the store in use", () => {
  const driver = openBetterSqlite3({ path });
  const engine = openEngine({
    driver,
    space: SPACE,
    storeClock: new VirtualClock(),
    random: seededRandom(1),
  });
  set(engine, "a", "kept");
  const { page_count } = driver.prepare("PRAGMA page_count").get() as { page_count: number };
  driver.exec(`PRAGMA max_page_count = ${page_count + 4}`);
  expect(codeOf(() => set(engine, "big", "x".repeat(1_000_000)))).toBe("storage/full");
  expect([engine.head(), valueOf(engine, "a"), valueOf(engine, "big")]).toEqual([
    1,
    "kept",
    undefined,
  ]);
  expect(set(engine, "a", "next").seq).toBe(2);
  engine.close();
});

test("[ME-D9] in a batch a full disk refuses every commit of it", () => {
  const driver = openBetterSqlite3({ path });
  const engine = openEngine({
    driver,
    space: SPACE,
    storeClock: new VirtualClock(),
    random: seededRandom(1),
  });
  set(engine, "a", 1);
  const { page_count } = driver.prepare("PRAGMA page_count").get() as { page_count: number };
  driver.exec(`PRAGMA max_page_count = ${page_count + 4}`);
  const batch = (): unknown =>
    engine.batch(() => {
      set(engine, "a", 2);
      expect(codeOf(() => set(engine, "big", "x".repeat(1_000_000)))).toBe("storage/full");
      return "acknowledged";
    });
  expect(codeOf(batch)).toBe("storage/full");
  expect([engine.head(), valueOf(engine, "a")]).toEqual([1, 1]);
  engine.close();
});

test("[ME-D9] a store that may not be written is a typed error, and can still be read", () => {
  const driver = openBetterSqlite3({ path });
  const engine = openEngine({
    driver,
    space: SPACE,
    storeClock: new VirtualClock(),
    random: seededRandom(1),
  });
  set(engine, "a", 1);
  driver.exec("PRAGMA query_only = ON");
  expect(codeOf(() => set(engine, "a", 2))).toBe("storage/readonly");
  expect([engine.head(), valueOf(engine, "a")]).toEqual([1, 1]);
  engine.close();
});

test("[ME-D10] the data version changes when another connection has committed, and only then", () => {
  const [one, two] = [open(), open()];
  const before = one.dataVersion();
  set(one, "a", 1);
  expect(one.dataVersion()).toBe(before);
  set(two, "a", 2);
  expect(one.dataVersion()).not.toBe(before);
  one.close();
  two.close();
});

test("[ME-D11] a writer that cannot get the lock in time gets a typed error and has changed nothing", () => {
  const [one, two] = [open(), open(1)];
  one.transact((tx) => {
    expect(codeOf(() => set(two, "a", 1))).toBe("storage/io");
    tx.write({ id: "a" as never, scopeKey: "space" as never, op: { op: "set", value: 2 } });
    return tx.commit({ class: "authored" });
  });
  expect([set(two, "a", 3).seq, valueOf(one, "a")]).toEqual([2, 3]);
  one.close();
  two.close();
});

test("[ME-D12] a folder, a missing folder and a text file are typed errors, and nothing is left behind", () => {
  expect(codeOf(() => openBetterSqlite3({ path: join(folder.path, "no", "store.db") }))).not.toBe(
    "none",
  );
  writeFileSync(path, "this is no database, but some text that is long enough to be read as one");
  expect(codeOf(() => open())).toBe("storage/not-a-store");
  expect(existsSync(`${path}-wal`)).toBe(false);
});
