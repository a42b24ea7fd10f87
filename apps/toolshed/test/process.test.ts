import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Processes } from "./support/processes.js";
import { seen } from "./support/voter.js";

/** What the lease of a killed process holds up for. */
const SHORT_LEASE = { SERVER_EXECUTION_LEASE_TTL_MS: "800" };
/** Nothing in a test waits for this one to run out. */
const LONG_LEASE = { SERVER_EXECUTION_LEASE_TTL_MS: "600000" };

let processes: Processes;

beforeEach(() => {
  processes = new Processes();
});

afterEach(() => processes.end());

test("two people vote over sockets and see each other's votes, and the log holds neither votes nor keys", async () => {
  const toolshed = await processes.start().listening();
  const demo = await toolshed.demo();
  const ana = processes.person(() => toolshed, demo);
  const ben = processes.person(() => toolshed, demo);
  await Promise.all([ana.space.ready, ben.space.ready]);
  const fired = ana.poll.fire("vote", { option: "Soup" });
  await seen(ben.poll.get("votes"), (votes) => votes[ana.did] === "Soup");
  await seen(ben.poll.get("tally"), (rows) => rows.some((row) => row.votes === 1));
  expect(await fired.settled).toEqual({ kind: "consequenced" });
  const failed = ana.poll.fire("vote", { option: "Gravel stew" });
  expect(await failed.settled).toMatchObject({ kind: "errored" });
  expect((await toolshed.stop()).code).toBe(0);
  const key = readFileSync(join(processes.dataDir, "keys", "demo-owner.key"), "utf8").trim();
  expect(toolshed.output.text).not.toMatch(/Soup|"payload"/u);
  expect(toolshed.output.text).not.toContain(key);
});

test("a vote given while the server was dead lands once when it is back, and what was there stays", async () => {
  const first = await processes.start({ env: SHORT_LEASE }).listening();
  const demo = await first.demo();
  let at = first;
  const ana = processes.person(() => at, demo);
  await ana.space.ready;
  await ana.poll.fire("addOption", { option: "Ramen" }).settled;
  // The vote's echo reads the list of options, which a slow wave derives after the event's own end.
  await ana.space.waitForSettled();
  await first.crash();
  const offline = ana.poll.fire("vote", { option: "Ramen" });
  await offline.echoed;
  expect(ana.poll.get("votes").value).toEqual({ [ana.did]: "Ramen" });
  at = await processes.start({ port: first.port, env: SHORT_LEASE }).listening();
  expect(await offline.settled).toEqual({ kind: "consequenced" });
  expect(await at.demo()).toEqual(demo);
  const ben = processes.person(() => at, demo);
  await seen(ben.poll.get("votes"), (votes) => votes[ana.did] === "Ramen");
  const response = await fetch(`${at.url}/api/health/stats`);
  const { servingLoop } = (await response.json()) as {
    servingLoop: { events: { processed: number } };
  };
  expect(servingLoop.events.processed).toBe(1);
});

test("a graceful end releases the leases: the next process serves at once", async () => {
  const first = await processes.start({ env: LONG_LEASE }).listening();
  const demo = await first.demo();
  let at = first;
  const ana = processes.person(() => at, demo);
  await ana.space.ready;
  await ana.poll.fire("vote", { option: "Soup" }).settled;
  expect(await first.stop()).toEqual({ code: 0, signal: null });
  at = await processes.start({ port: first.port, env: LONG_LEASE }).listening();
  expect(await ana.poll.fire("vote", { option: "Pizza" }).settled).toEqual({
    kind: "consequenced",
  });
});

test("[TS-S1] of two on one folder the second stands by, and takes over when the first is killed", async () => {
  const first = await processes.start({ env: SHORT_LEASE }).listening();
  const demo = await first.demo();
  const ana = processes.person(() => first, demo);
  await ana.space.ready;
  await ana.poll.fire("vote", { option: "Soup" }).settled;

  const second = await processes.start({ env: SHORT_LEASE }).listening();
  const ben = processes.person(() => second, demo);
  await ben.space.ready;
  // Appended through the standby, handled by the holder.
  expect(await ben.poll.fire("vote", { option: "Pizza" }).settled).toEqual({
    kind: "consequenced",
  });
  await seen(ana.poll.get("votes"), (votes) => votes[ben.did] === "Pizza");
  expect(await activeSpaces(second.url)).toBe(0);

  await first.crash();
  const after = ben.poll.fire("vote", { option: "Salad" });
  expect(await after.settled).toEqual({ kind: "consequenced" });
  expect(await activeSpaces(second.url)).toBe(1);
  expect(ben.poll.get("votes").value).toEqual({ [ana.did]: "Soup", [ben.did]: "Salad" });
  const line = await second.output.waitFor(/"message":"takeover"/u);
  expect(JSON.parse(line)).toMatchObject({
    level: "info",
    space: demo.space,
    from: expect.stringContaining("toolshed"),
  });
});

async function activeSpaces(url: string): Promise<number> {
  const health = (await (await fetch(`${url}/api/health`)).json()) as { activeSpaces: number };
  return health.activeSpaces;
}
