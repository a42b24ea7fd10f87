import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lunchPoll, samplePatterns } from "@tidemark/patterns";
import type { Pattern } from "@tidemark/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createToolshed, type Toolshed, type ToolshedOptions } from "../src/index.js";
import { seen, socketsTo, voter } from "./support/voter.js";

let dataDir: string;
const running: Toolshed[] = [];
const clients: { drop(): void }[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "toolshed-in-process-"));
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.drop();
  await Promise.all(running.splice(0).map((one) => one.stop()));
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(options: Partial<ToolshedOptions> = {}): Promise<Toolshed> {
  const demo = lunchPoll as unknown as Pattern;
  const one = await createToolshed({ dataDir, patterns: samplePatterns, demo, ...options });
  running.push(one);
  return one;
}

function at(toolshed: Toolshed, transport = toolshed.loopback) {
  const demo = toolshed.demo ?? { space: "", piece: "" };
  const one = voter(transport, demo);
  clients.push(one.client);
  return one;
}

test("the demo stands when the server does, and its owner has left no session behind", async () => {
  const toolshed = await start();
  const response = await fetch(`${toolshed.url}/api/meta`);
  expect(await response.json()).toMatchObject({
    name: "toolshed",
    demo: toolshed.demo,
    patterns: expect.arrayContaining([expect.objectContaining({ id: "lunch-poll" })]),
  });
  expect(toolshed.memory.stats().liveSessions).toBe(0);
});

test("in-process and socket clients share one poll", async () => {
  const toolshed = await start();
  const ana = at(toolshed);
  const ben = at(
    toolshed,
    socketsTo(() => toolshed.socketUrl),
  );
  await Promise.all([ana.space.ready, ben.space.ready]);
  ana.poll.fire("vote", { option: "Soup" });
  await seen(ben.poll.get("votes"), (votes) => votes[ana.did] === "Soup");
  const stats = (await (await fetch(`${toolshed.url}/api/health/stats`)).json()) as {
    servingLoop: { activeSpaces: number; events: { processed: number } };
  };
  expect(stats.servingLoop.activeSpaces).toBe(1);
  expect(stats.servingLoop.events.processed).toBe(1);
  const health = (await (await fetch(`${toolshed.url}/api/health`)).json()) as object;
  expect(health).toMatchObject({ ok: true, activeSpaces: 1, liveSessions: 2 });
});

test("restarts find the demo that stands: one space, one piece, and the votes in it", async () => {
  const first = await start();
  const ana = at(first);
  await ana.space.ready;
  await ana.poll.fire("vote", { option: "Pizza" }).settled;
  await first.stop();
  const second = await start();
  expect(second.demo).toEqual(first.demo);
  expect(
    readdirSync(join(dataDir, "spaces")).filter((name) => name.endsWith(".sqlite")),
  ).toHaveLength(1);
  const ben = at(second);
  await seen(ben.poll.get("votes"), (votes) => votes[ana.did] === "Pizza");
  await seen(ben.space.pieces, (pieces) => pieces.length === 1);
});

test("two that start at once on one folder agree on one demo", async () => {
  const [one, two] = await Promise.all([start(), start()]);
  expect(one.demo).toEqual(two.demo);
  const ana = at(one);
  const ben = at(two);
  await Promise.all([ana.space.ready, ben.space.ready]);
  ana.poll.fire("vote", { option: "Soup" });
  ben.poll.fire("vote", { option: "Soup" });
  const both = (rows: readonly { readonly votes: number }[]): boolean =>
    rows.some((row) => row.votes === 2);
  await seen(ana.poll.get("tally"), both);
  await seen(ben.poll.get("tally"), both);
});

test("a port that is taken fails the start, and leaves nothing running", async () => {
  const first = await start();
  const port = Number(new URL(first.url).port);
  const other = join(dataDir, "other");
  await expect(start({ port, dataDir: other })).rejects.toMatchObject({ code: "EADDRINUSE" });
  const again = await start({ dataDir: other });
  expect(again.demo).toBeDefined();
});

test("without a demo there is no space", async () => {
  const toolshed = await start({ demo: undefined });
  expect(toolshed.demo).toBeUndefined();
  expect(readdirSync(join(dataDir, "spaces"))).toEqual([]);
});
