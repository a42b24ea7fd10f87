import { join } from "node:path";
import { systemClock, seededRandom, type Seq } from "@tidemark/protocol";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openBetterSqlite3, openEngine, type Engine, type SqlDriver } from "../../src/index.js";
import { HOLDER, RIVAL, SPACE, valueOf } from "../../src/testing/harness.js";
import { bundleChild, StoreProcess } from "../support/children.js";
import { temporaryFolder } from "../support/harness.js";

const TTL_MS = 400;

let script = "";
let folder: ReturnType<typeof temporaryFolder>;
let path = "";
const running: StoreProcess[] = [];

beforeAll(async () => {
  script = await bundleChild("processes");
}, 60_000);

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((child) => child.end()));
  folder.remove();
});

afterAll(() => expect(running).toEqual([]));

async function start(): Promise<StoreProcess> {
  const child = new StoreProcess(script, path);
  running.push(child);
  expect(await child.line()).toBe("ready");
  return child;
}

function openStore(driver: SqlDriver = openBetterSqlite3({ path })): Engine {
  return openEngine({
    driver,
    space: SPACE,
    storeClock: systemClock,
    random: seededRandom(1),
  });
}

test("[ME-Q1] two processes commit 1,000 times each: nothing is lost and nobody sees a busy error", async () => {
  const [one, two] = [await start(), await start()];
  const answers = await Promise.all([one.ask("add 1000"), two.ask("add 1000")]);
  expect(answers.map((line) => line.split(" conflicts ")[0])).toEqual(["added 1000", "added 1000"]);
  const engine = openStore();
  expect(valueOf(engine, "count")).toBe(2_000);
  expect(engine.head()).toBe(2_000);
  const values = engine.commitsSince(0 as Seq, 2_000).map((commit) => commit.changes[0]?.op);
  expect(values).toEqual(Array.from({ length: 2_000 }, (_, n) => ({ op: "set", value: n + 1 })));
  engine.close();
}, 60_000);

test("[ME-Q2] a process suspended past its lease neither commits nor renews once it wakes", async () => {
  const [first, second] = [await start(), await start()];
  expect(await first.ask(`acquire ${HOLDER} ${TTL_MS}`)).toBe("acquired true");
  expect(await first.ask(`derive ${HOLDER}`)).toBe("derived 1");
  expect(await second.ask(`acquire ${RIVAL} ${TTL_MS}`)).toBe("acquired false");
  first.signal("SIGSTOP");
  first.tell(`derive ${HOLDER}`);
  first.tell(`renew ${HOLDER} ${TTL_MS}`);
  expect(await second.ask(`takeover ${RIVAL} 60000`)).toBe("took over");
  expect(await second.ask(`derive ${RIVAL}`)).toBe("derived 2");
  first.signal("SIGCONT");
  expect([await first.line(), await first.line()]).toEqual(["derived refused", "renewed false"]);
  const engine = openStore();
  expect([valueOf(engine, "derived"), engine.head()]).toEqual([RIVAL, 2]);
  engine.close();
}, 60_000);

test("[ME-Q3] an acknowledged commit survives kill -9, and the store is checked and goes on", async () => {
  const child = await start();
  child.tell("stream");
  let acknowledged = "";
  for (let n = 0; n < 200; n += 1) acknowledged = await child.line();
  child.signal("SIGKILL");
  await child.end();
  const driver = openBetterSqlite3({ path });
  expect(driver.endedUncleanly).toBe(true);
  const engine = openStore(driver);
  const head = Number(acknowledged.split(" ")[1]);
  expect(head).toBe(200);
  expect(engine.head()).toBeGreaterThanOrEqual(head);
  expect(valueOf(engine, "count")).toBe(engine.head());
  engine.close();
}, 60_000);
