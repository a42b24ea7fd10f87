import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { samplePatterns } from "@tidemark/patterns";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createToolshed, type Toolshed } from "../src/index.js";
import { dial, HELLO } from "./support/raw-socket.js";

const MIB = 1_048_576;
const dataDir = mkdtempSync(join(tmpdir(), "toolshed-socket-"));
let toolshed: Toolshed;

beforeAll(async () => {
  toolshed = await createToolshed({ dataDir, patterns: samplePatterns });
});

afterAll(async () => {
  await toolshed.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test("[TS-R5] a plain request of the socket's path is answered whole, and the socket stands beside it", async () => {
  const response = await fetch(toolshed.socketUrl.replace(/^ws/u, "http"));
  expect([response.status, response.headers.get("upgrade")]).toEqual([426, "websocket"]);
  expect(await response.json()).toMatchObject({ error: "upgrade-required" });
  const { socket } = await dial(toolshed.socketUrl);
  socket.close();
});

test.each([
  ["text that is no JSON", "{"],
  ["a message of no known type", '{"type":"become-admin","req":1}'],
  ["a message that nests without end", `{"type":"hello","version":${"[".repeat(5_000)}`],
  [
    "a message above the protocol's limit",
    JSON.stringify({ type: "hello", x: "x".repeat(5 * MIB) }),
  ],
])("%s gets a typed error, and the connection goes on", async (_what, text) => {
  const { socket, next, signIn } = await dial(toolshed.socketUrl);
  await signIn();
  socket.send(text);
  const answer = await next();
  expect(answer?.type).toBe("error");
  expect(answer?.error?.code).toMatch(/^(protocol|limit)$/u);
  socket.send('{"type":"ping"}');
  expect((await next())?.type).toBe("pong");
  socket.close();
});

test("a message that is not even read ends its connection, and no other", async () => {
  const other = await dial(toolshed.socketUrl);
  const { socket, closed, signIn } = await dial(toolshed.socketUrl);
  await signIn();
  socket.send("x".repeat(17 * MIB));
  expect([1009, 1006]).toContain(await closed);
  other.socket.send(HELLO);
  expect((await other.next())?.type).toBe("challenge");
  other.socket.close();
});

test("a binary message is no part of the protocol", async () => {
  const { socket, closed } = await dial(toolshed.socketUrl);
  socket.send(Buffer.from([1, 2, 3]));
  expect(await closed).toBe(1003);
});

test("the protocol is spoken on its own path alone", async () => {
  await expect(dial(toolshed.socketUrl.replace("/memory", "/elsewhere"))).rejects.toThrow("404");
});

test("a connection that breaks off in the middle of its upgrade harms nobody", async () => {
  const { hostname, port } = new URL(toolshed.url);
  await new Promise<void>((resolve) => {
    const raw = connectTcp(Number(port), hostname, () => {
      raw.write(
        "GET /elsewhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
      );
      raw.resetAndDestroy();
      resolve();
    });
  });
  expect((await fetch(`${toolshed.url}/api/health`)).status).toBe(200);
});
