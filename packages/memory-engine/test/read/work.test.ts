import { join } from "node:path";
import { seededRandom } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import { openBetterSqlite3, openEngine, type Engine } from "../../src/index.js";
import { SNAPSHOT_EVERY_OPS } from "../../src/read/snapshot-policy.js";
import { patch, set, SPACE, valueOf } from "../../src/testing/harness.js";
import { countingDriver, type DriverCounts } from "../support/counting-driver.js";
import { temporaryFolder } from "../support/harness.js";

const TEXT_LENGTH = 100_000;

function openCounted(path: string): { readonly engine: Engine; readonly counts: DriverCounts } {
  const driver = countingDriver(openBetterSqlite3({ path }));
  const engine = openEngine({
    driver,
    space: SPACE,
    storeClock: new VirtualClock(),
    random: seededRandom(1),
  });
  return { engine, counts: driver.counts };
}

function type(engine: Engine, keystrokes: number): void {
  for (let n = 0; n < keystrokes; n += 1) {
    patch(engine, "text", { op: "splice", path: [], index: n, remove: 0, insert: "y" });
  }
}

test("[ME-R6] a cold read of a much patched text replays no more patches than a snapshot is apart", () => {
  const folder = temporaryFolder();
  const path = join(folder.path, "store.db");
  const writer = openCounted(path);
  set(writer.engine, "text", "x".repeat(TEXT_LENGTH));
  const keystrokes = 3 * SNAPSHOT_EVERY_OPS + 7;
  type(writer.engine, keystrokes);
  writer.engine.close();
  const reader = openCounted(path);
  const before = reader.counts.rowsRead;
  expect((valueOf(reader.engine, "text") as string).length).toBe(TEXT_LENGTH + keystrokes);
  expect(reader.counts.rowsRead - before).toBeLessThanOrEqual(SNAPSHOT_EVERY_OPS + 1);
  reader.engine.close();
  folder.remove();
});

test("[ME-R7] a keystroke in a large text writes the keystroke, and a read after it reads no rows", () => {
  const { engine, counts } = openCounted(":memory:");
  set(engine, "text", "x".repeat(TEXT_LENGTH));
  type(engine, 1);
  const before = { ...counts };
  type(engine, 200);
  expect((counts.textWritten - before.textWritten) / 200).toBeLessThan(200);
  expect((valueOf(engine, "text") as string).length).toBe(TEXT_LENGTH + 201);
  expect(counts.rowsRead).toBe(before.rowsRead);
  engine.close();
});

test("[ME-C15] commits and reads prepare nothing once their statements are prepared", () => {
  const { engine, counts } = openCounted(":memory:");
  const work = (id: string): void => {
    set(engine, id, 1);
    patch(engine, id, { op: "increment", path: [], value: 1 });
    valueOf(engine, id);
  };
  work("a");
  const before = counts.prepared.length;
  for (let n = 0; n < 50; n += 1) work(`doc${n}`);
  expect(counts.prepared.slice(before)).toEqual([]);
  expect(new Set(counts.prepared).size).toBeGreaterThan(0);
  engine.close();
});
