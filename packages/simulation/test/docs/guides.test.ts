import { afterEach, expect, test } from "vitest";
import { type LiveServer, startLiveServer } from "./live-server.js";
import { runGuide } from "./support.js";

const shared = globalThis as { guideServer?: LiveServer | undefined };
afterEach(async () => {
  await shared.guideServer?.stop();
  shared.guideServer = undefined;
});

test("the program of the guide to patterns prints what it says", async () => {
  const { printed } = await runGuide("docs/guides/writing-patterns.md");
  expect(printed.length).toBe(4);
});

test("the program of the guide to effects prints what it says", async () => {
  const { printed } = await runGuide("docs/guides/effects.md");
  expect(printed.length).toBe(6);
});

test("the program of the guide to clients prints what it says, against a server on a socket", async () => {
  const server = await startLiveServer();
  shared.guideServer = server;
  process.env["TIDEMARK_SOCKET"] = server.socketUrl;
  const { printed } = await runGuide("docs/guides/clients.md", "guideServer.serve(notes);");
  expect(printed.length).toBe(10);
});

test("the program of the guide to testing prints what it says", async () => {
  const { printed } = await runGuide("docs/guides/testing.md");
  expect(printed.length).toBe(7);
});
