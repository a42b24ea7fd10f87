import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@tidemark/protocol/testing";
import { afterEach, expect, test } from "vitest";
import { createToolshed, SOCKET_PATH } from "../src/index.js";
import { acceptSockets } from "../src/socket/accept-sockets.js";
import { DEFAULT_SOCKET_POLICY, type SocketPolicy } from "../src/socket/policy.js";
import { dial, HELLO, upgrade } from "./support/raw-socket.js";

const MIB = 1_048_576;
/** The head of a masked text message of 16 MiB, which never becomes whole. */
const UNFINISHED = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
/** A close frame's code 4008, as a peer that reads latin1 sees it. */
const CUT_OFF = "\u000f\u00a8";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (let last = cleanups.pop(); last !== undefined; last = cleanups.pop()) await last();
});

/** The listening side alone, on a clock of the test's; `signIns` are its connections' in order. */
async function listening(policy: Partial<SocketPolicy> = {}) {
  const clock = new VirtualClock();
  const server = createServer();
  const signIns: (() => void)[] = [];
  const accepted: Socket[] = [];
  server.on("connection", (socket: Socket) => void accepted.push(socket));
  const sockets = acceptSockets({
    server,
    clock,
    policy: { ...DEFAULT_SOCKET_POLICY, ...policy },
    onConnection: (_connection, signedIn) => void signIns.push(signedIn),
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    sockets.close();
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { clock, port, signIns, accepted, url: `ws://127.0.0.1:${port}${SOCKET_PATH}` };
}

async function running(options: { readonly clock?: VirtualClock } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), "toolshed-strangers-"));
  const toolshed = await createToolshed({ dataDir, patterns: [], ...options });
  cleanups.push(async () => {
    await toolshed.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return toolshed;
}

test("[TS-C1] a message that does not end is read to 64 KiB, and its connection ends although the peer stays", async () => {
  const { clock, port, accepted } = await listening();
  const { socket, closed, hears } = await upgrade(port);
  socket.write(UNFINISHED);
  socket.write(Buffer.alloc(15 * MIB));
  await hears(CUT_OFF);
  await clock.advance(DEFAULT_SOCKET_POLICY.goodbyeMs);
  await closed;
  socket.destroy();
  expect(accepted[0]?.bytesRead).toBeLessThan(MIB / 4);
  expect(clock.pendingTimers()).toBe(0);
});

test("[TS-C1] bytes that come one by one are cut off long before, for each arrival costs memory", async () => {
  const { port, accepted } = await listening({ maxStrangerBytes: 4_096 });
  const { socket, hears } = await upgrade(port);
  socket.setNoDelay(true);
  const [server] = accepted;
  let sent = 0;
  const cut = hears(CUT_OFF).then(() => "cut off" as const);
  for (const byte of UNFINISHED) socket.write(Buffer.from([byte]));
  for (;;) {
    const arrived = once(server as Socket, "data").then(() => "arrived" as const);
    socket.write(Buffer.alloc(1));
    sent += 1;
    if ((await Promise.race([arrived, cut])) === "cut off") break;
  }
  socket.destroy();
  expect(sent).toBeLessThan(4_096 / 64 + 2);
});

test("[TS-C1] small messages without end are cut off as well", async () => {
  const { socketUrl } = await running();
  const { socket, closed } = await dial(socketUrl);
  for (let n = 0; n < 2_000; n += 1) socket.send(HELLO);
  expect(await closed).toBe(4008);
});

test("[TS-C2] who has signed in sends what the protocol allows, also right behind the sign-in", async () => {
  const { socketUrl } = await running();
  const { socket, next, signIn } = await dial(socketUrl);
  const large = JSON.stringify({ type: "ping", x: "x".repeat(5 * MIB) });
  expect((await signIn(large))?.type).toBe("ok");
  expect((await next())?.error?.code).toBe("limit");
  socket.send('{"type":"ping"}');
  expect((await next())?.type).toBe("pong");
  socket.close();
});

test("[TS-C3] a stranger too many is answered 503, until another signs in or leaves", async () => {
  const { url, accepted, signIns, clock } = await listening({ maxStrangers: 2 });
  const one = await dial(url);
  const two = await dial(url);
  await expect(dial(url)).rejects.toThrow("503");
  signIns[0]?.();
  // Once more says nothing new.
  signIns[0]?.();
  const three = await dial(url);
  await expect(dial(url)).rejects.toThrow("503");
  const left = once(accepted[1] as Socket, "close");
  two.socket.close();
  await left;
  const four = await dial(url);
  await expect(dial(url)).rejects.toThrow("503");
  // A session that ends gives no stranger's place back.
  const ended = once(accepted[0] as Socket, "close");
  one.socket.close();
  await ended;
  await expect(dial(url)).rejects.toThrow("503");
  for (const { socket } of [three, four]) socket.terminate();
  await Promise.all(accepted.filter((socket) => !socket.closed).map((s) => once(s, "close")));
  expect(clock.pendingTimers()).toBe(0);
});

test.each([
  ["503", 0, SOCKET_PATH],
  ["404", 1, "/elsewhere"],
])(
  "[TS-C3] an upgrade answered %s leaves no socket behind, although the peer stays",
  async (status, maxStrangers, path) => {
    const { port, accepted } = await listening({ maxStrangers });
    const { hears, socket } = await upgrade(port, path);
    expect(await hears(`HTTP/1.1 ${status}`)).toContain("Connection: close");
    const [server] = accepted;
    if (server?.closed === false) await once(server, "close");
    socket.destroy();
  },
);

test("[TS-C4] who has not signed in 15 s after it connected is ended, and gone a second later", async () => {
  const clock = new VirtualClock();
  const toolshed = await running({ clock });
  const polite = await dial(toolshed.socketUrl);
  const member = await dial(toolshed.socketUrl);
  expect((await member.signIn())?.type).toBe("ok");
  const stays = await upgrade(Number(new URL(toolshed.url).port));
  await clock.advance(15_000);
  expect(await polite.closed).toBe(4008);
  await stays.hears(CUT_OFF);
  await clock.advance(1_000);
  await stays.closed;
  stays.socket.destroy();
  await clock.advance(60_000);
  member.socket.send('{"type":"ping"}');
  expect((await member.next())?.type).toBe("pong");
  member.socket.close();
});
