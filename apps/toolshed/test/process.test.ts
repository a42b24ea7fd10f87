import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ToolshedProcess, type ToolshedProcessOptions } from "../src/testing/index.js";
import { seen, socketsTo, voter } from "./support/voter.js";

let dataDir: string;
const running: ToolshedProcess[] = [];
const clients: { drop(): void }[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "toolshed-test-"));
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.drop();
  await Promise.all(running.splice(0).map((one) => one.crash()));
  rmSync(dataDir, { recursive: true, force: true });
});

function start(options: ToolshedProcessOptions = {}): ToolshedProcess {
  const one = new ToolshedProcess({ dataDir, ...options });
  running.push(one);
  return one;
}

function join2(at: () => ToolshedProcess, demo: { space: string; piece: string }) {
  const one = voter(socketsTo(() => at().socketUrl), demo);
  clients.push(one.client);
  return one;
}

test("two people vote over sockets and see each other's votes", async () => {
  const toolshed = await start().listening();
  const demo = await toolshed.demo();
  const ana = join2(() => toolshed, demo);
  const ben = join2(() => toolshed, demo);
  await Promise.all([ana.space.ready, ben.space.ready]);
  const fired = ana.poll.fire("vote", { option: "Soup" });
  await seen(ben.poll.get("votes"), (votes) => votes[ana.did] === "Soup");
  await seen(ben.poll.get("tally"), (rows) => rows.some((row) => row.option === "Soup" && row.votes === 1));
  expect(await fired.settled).toEqual({ kind: "consequenced" });
});

test("a vote given while the server was dead lands once when it is back", async () => {
  const first = await start().listening();
  const demo = await first.demo();
  let at = first;
  const ana = join2(() => at, demo);
  await ana.space.ready;
  await ana.poll.fire("vote", { option: "Soup" }).settled;
  await first.crash();
  const offline = ana.poll.fire("vote", { option: "Pizza" });
  await offline.echoed;
  expect(ana.poll.get("votes").value).toEqual({ [ana.did]: "Pizza" });
  at = await start({ port: first.port }).listening();
  expect(await offline.settled).toEqual({ kind: "consequenced" });
  expect(await at.demo()).toEqual(demo);
  const ben = join2(() => at, demo);
  await seen(ben.poll.get("votes"), (votes) => votes[ana.did] === "Pizza");
});
