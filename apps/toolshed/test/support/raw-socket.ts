import { connect as connectTcp, type Socket } from "node:net";
import {
  authMessageToSign,
  generateIdentity,
  systemRandom,
  WIRE_VERSION,
} from "@tidemark/protocol";
import { WebSocket } from "ws";
import { SOCKET_PATH } from "../../src/index.js";

interface Said {
  readonly type: string;
  readonly req?: number;
  readonly serverId?: string;
  readonly challenge?: string;
  readonly error?: { readonly code: string };
}

export const HELLO = JSON.stringify({ type: "hello", version: WIRE_VERSION });

/** A WebSocket that says what it likes, and what it is told. */
export async function dial(url: string) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const inbox: Said[] = [];
  const waiting: (() => void)[] = [];
  socket.on("message", (data: Buffer) => {
    inbox.push(JSON.parse(data.toString()) as Said);
    waiting.shift()?.();
  });
  const closed = new Promise<number>((resolve) => void socket.once("close", resolve));
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => undefined);
  const next = async (): Promise<Said | undefined> => {
    if (inbox.length === 0) await new Promise<void>((resolve) => void waiting.push(resolve));
    return inbox.shift();
  };
  return {
    socket,
    closed,
    next,
    /** Answers a challenge, as a person nobody knows; `more` goes out behind it at once. */
    async signIn(...more: readonly string[]): Promise<Said | undefined> {
      socket.send(HELLO);
      const { serverId = "", challenge = "" } = (await next()) ?? {};
      const identity = generateIdentity(systemRandom);
      const open = {
        principal: identity.did,
        sessionId: "s1" as never,
        openNonce: "n1",
        challenge,
      };
      const signature = identity.sign(authMessageToSign({ ...open, serverId }));
      for (const text of [JSON.stringify({ type: "auth", req: 1, ...open, signature }), ...more]) {
        socket.send(text);
      }
      return next();
    },
  };
}

/** A TCP connection that asks for an upgrade and never closes its side. */
export async function upgrade(port: number, path: string = SOCKET_PATH) {
  const socket: Socket = connectTcp({ port, host: "127.0.0.1", allowHalfOpen: true });
  let heard = "";
  // A peer that never closes its side sees the end alone, or a reset.
  const closed = new Promise<void>((resolve) => {
    socket.once("end", resolve);
    socket.once("close", () => resolve());
  });
  socket.on("error", () => undefined);
  const hearing: (() => void)[] = [];
  socket.on("data", (data) => {
    heard += data.toString("latin1");
    for (const wake of hearing.splice(0)) wake();
  });
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
  );
  const hears = async (text: string): Promise<string> => {
    while (!heard.includes(text)) await new Promise<void>((resolve) => void hearing.push(resolve));
    return heard;
  };
  await hears("\r\n\r\n");
  return { socket, closed, hears };
}
