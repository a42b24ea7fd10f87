import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { failureOf, wordsOf } from "../support/calls.js";
import { fetchingFrom, get } from "../support/fetching.js";
import { startRawServer } from "../support/local-server.js";

const OK = "HTTP/1.1 200 OK\r\n";
const packed = (coding: string, body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`${OK}content-encoding: ${coding}\r\ncontent-length: ${body.length}\r\n\r\n`),
    body,
  ]);

const says = (text: string | Buffer) => (socket: Socket) => void socket.end(text);
const resets = (text: string) => (socket: Socket) =>
  void socket.write(text, () => socket.resetAndDestroy());

const SERVERS: readonly (readonly [string, string, (socket: Socket) => void])[] = [
  ["closes without a word", "network cut-off", says("")],
  ["resets the connection", "network cut-off", resets("")],
  ["resets in the head", "network cut-off", resets("HTTP/1.1 200 OK\r\nsecret: x")],
  ["resets in the body", "network cut-off", resets(`${OK}content-length: 99\r\n\r\nsecret`)],
  [
    "sends less than it announced",
    "network cut-off",
    says(`${OK}content-length: 99\r\n\r\nsecret`),
  ],
  [
    "ends within its chunks",
    "network cut-off",
    says(`${OK}transfer-encoding: chunked\r\n\r\n9\r\nsec`),
  ],
  ["speaks no HTTP", "invalid http", says("220 secret.example ESMTP\r\n")],
  ["sends a status that is none", "invalid http", says("HTTP/1.1 secret OK\r\n\r\n")],
  ["sends a header that is none", "invalid http", says(`${OK}sec ret\r\n\r\n`)],
  [
    "announces two lengths",
    "invalid http",
    says(`${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`),
  ],
  ["announces a length below 0", "invalid http", says(`${OK}content-length: -1\r\n\r\nsecret`)],
  [
    "sends chunks that are none",
    "network cut-off",
    says(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\nsecret`),
  ],
  [
    "changes the protocol",
    "invalid upgrade",
    says("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: secret\r\n\r\n"),
  ],
  [
    "uses an encoding nobody offered",
    "invalid encoding",
    says(packed("compress", Buffer.from("secret"))),
  ],
  ["packs twice", "invalid encoding", says(packed("gzip, gzip", gzipSync(gzipSync("secret"))))],
  ["sends gzip that is none", "invalid encoding", says(packed("gzip", Buffer.from("secret")))],
  [
    "sends half of a gzip",
    "invalid encoding",
    says(packed("gzip", gzipSync("secret".repeat(50)).subarray(0, 20))),
  ],
  ["sends brotli that is none", "invalid encoding", says(packed("br", Buffer.alloc(64, 0xff)))],
  [
    "sends half of a brotli",
    "invalid encoding",
    says(packed("br", brotliCompressSync("secret-".repeat(5)).subarray(0, 10))),
  ],
  [
    "sends JSON that breaks off",
    "invalid json",
    says(`${OK}content-type: application/json\r\n\r\n{"secret":`),
  ],
  ["sends a picture", "invalid media-type", says(`${OK}content-type: image/png\r\n\r\nsecret`)],
];

test.each(SERVERS)(
  "[EX-Y14] a server that %s makes an error that says nothing inner (%s)",
  async (_what, way, speak) => {
    const server = await startRawServer(speak);
    const { fetch, clock } = fetchingFrom([server]);
    const error = await failureOf(fetch(get(`http://a.example:${server.port}/path?key=private`)));
    expect(`${error.details.kind} ${error.details.reason}`).toBe(way);
    const words = wordsOf(error);
    expect(words).not.toMatch(/127\.0\.0\.1|secret|private/u);
    expect(words).not.toContain(`:${server.port}`);
    await server.quiet();
    expect(clock.pendingTimers()).toBe(0);
  },
);

test("[EX-Y14] a host that nobody listens on makes an error that names no address", async () => {
  const { fetch } = fetchingFrom([], { egress: { ports: [1] } });
  const error = await failureOf(fetch(get("http://a.example:1/")));
  expect(error.details).toEqual({ kind: "network", reason: "unreachable" });
  expect(wordsOf(error)).not.toContain("127.0.0.1");
});
