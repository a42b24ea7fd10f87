import { fork } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { identityFromSeed, spaceId } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { waysOf } from "../support/calls.js";
import { ENDLESS, makeDatabase, queryingIn, temporaryFolder } from "../support/databases.js";

const OTHER = spaceId(identityFromSeed(new Uint8Array(32).fill(2)).did);
const QUICK = { statement: "SELECT 1 AS n" };
const NEVER = { statement: ENDLESS };
const HUNGRY = {
  statement:
    "SELECT length(group_concat(hex(zeroblob(50000000)))) AS n FROM (VALUES (1), (2), (3), (4), (5))",
};

function bothSpaces(): string {
  const folder = temporaryFolder();
  makeDatabase(folder, "CREATE TABLE t(a)");
  makeDatabase(folder, "CREATE TABLE t(a)", { space: OTHER });
  return folder;
}

test("[EX-Y44] a query that never ends is ended, and the next one has a process", async () => {
  const { query, clock } = queryingIn(bothSpaces(), { processes: 1, perSpace: 1 });
  const failing = waysOf(query(NEVER));
  const next = query(QUICK);
  await clock.started(1);
  await clock.advance(5_000);
  expect(await failing).toBe("timeout late");
  expect(await next).toEqual([{ n: 1 }]);
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y44] a query that needs too much memory is ended, and only it", async () => {
  const { query, clock } = queryingIn(bothSpaces(), { memoryBytes: 256 * 1_048_576 });
  const failing = waysOf(query(HUNGRY));
  expect(await query(QUICK)).toEqual([{ n: 1 }]);
  expect(await failing).toBe("too-large memory");
  expect(await query(QUICK)).toEqual([{ n: 1 }]);
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y44] the process of a query that needed too much memory is nobody else's", async () => {
  const limits = { memoryBytes: 256 * 1_048_576, processes: 1, perSpace: 1 };
  const { query, clock } = queryingIn(bothSpaces(), limits);
  const failing = waysOf(query(HUNGRY));
  const next = query(QUICK, { space: OTHER });
  expect(await failing).toBe("too-large memory");
  expect(await next).toEqual([{ n: 1 }]);
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y47] one space does not take the processes of all", async () => {
  const { query, clock } = queryingIn(bothSpaces(), { processes: 2, perSpace: 1 });
  const busy = [waysOf(query(NEVER)), waysOf(query(NEVER))];
  expect(await query(QUICK, { space: OTHER })).toEqual([{ n: 1 }]);
  await clock.advance(5_000);
  expect(await busy[0]).toBe("timeout late");
  await clock.started(3);
  await clock.advance(5_000);
  expect(await busy[1]).toBe("timeout late");
});

test("[EX-Y47] queries that wait are bounded, and come in their order", async () => {
  const limits = { processes: 1, perSpace: 1, waiting: 2 };
  const { query, clock } = queryingIn(bothSpaces(), limits);
  const first = waysOf(query(NEVER));
  await clock.started(1);
  const done: string[] = [];
  const waits = ["a", "b"].map((name) => query(QUICK).then(() => done.push(name)));
  await clock.advance(0);
  expect(await waysOf(query(QUICK))).toBe("limit waiting");
  const other = query(QUICK, { space: OTHER });
  await clock.advance(5_000);
  expect(await first).toBe("timeout late");
  await Promise.all(waits);
  expect(await other).toEqual([{ n: 1 }]);
  expect(done).toEqual(["a", "b"]);
});

test("[EX-Y48] an abort ends a query that runs and one that waits", async () => {
  const { query, clock } = queryingIn(bothSpaces(), { processes: 1, perSpace: 1 });
  const running = new AbortController();
  const waiting = new AbortController();
  const failing = [
    waysOf(query(NEVER, { signal: running.signal })),
    waysOf(query(QUICK, { signal: waiting.signal })),
  ];
  await clock.started(1);
  waiting.abort();
  expect(await failing[1]).toBe("network aborted");
  running.abort();
  expect(await failing[0]).toBe("network aborted");
  expect(await waysOf(query(QUICK, { signal: AbortSignal.abort() }))).toBe("network aborted");
  expect(await query(QUICK)).toEqual([{ n: 1 }]);
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y48] closing ends everything, and nothing begins after it", async () => {
  const { query, clock, performer } = queryingIn(bothSpaces(), { perSpace: 1 });
  const failing = [waysOf(query(NEVER)), waysOf(query(QUICK))];
  const other = query(QUICK, { space: OTHER });
  await clock.started(1);
  await other;
  await performer.close();
  expect(await Promise.all(failing)).toEqual(["network aborted", "network aborted"]);
  expect(await waysOf(query(QUICK))).toBe("network aborted");
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y48] a query does not outlive the process that asked, in the middle of a statement either", async () => {
  const file = makeDatabase(temporaryFolder(), "CREATE TABLE t(a)");
  const path = "../../../src/performers/sqlite/query-process.mjs";
  const child = fork(fileURLToPath(new URL(path, import.meta.url)), [String(2 ** 30)], {
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const ask = (statement: string) =>
    child.send({
      folder: dirname(file),
      file,
      statement,
      parameters: [],
      maxRows: 1,
      maxBytes: 1_000,
    });
  ask("SELECT 1 AS n");
  expect((await once(child, "message"))[0]).toEqual({ columns: ["n"], rows: [[1n]] });
  ask(ENDLESS);
  const exited = once(child, "exit");
  child.disconnect(); // As the system does where its parent dies.
  expect(await exited).toEqual([null, "SIGKILL"]);
});
