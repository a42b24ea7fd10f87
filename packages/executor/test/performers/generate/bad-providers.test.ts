import type { ServerResponse } from "node:http";
import type { JsonValue } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { failureOf, waysOf, wordsOf } from "../support/calls.js";
import { ASK, completion, generatingFrom, KEY } from "../support/generating.js";
import { startRawServer, startServer } from "../support/local-server.js";

/** What a provider says when it quotes what it got. */
const QUOTES = JSON.stringify({ error: { message: `Incorrect API key: ${KEY}`, code: KEY } });

const json =
  (text: string, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(text);
const says = (message: JsonValue, finish?: JsonValue) => json(completion(message, finish));

const PROVIDERS: readonly (readonly [string, string, (response: ServerResponse) => void])[] = [
  ["knows no such key", "provider unauthorized 401", json(QUOTES, 401)],
  ["forbids", "provider unauthorized 403", json(QUOTES, 403)],
  ["wants to be paid", "provider quota 402", json(QUOTES, 402)],
  ["knows no such model", "provider not-found 404", json(QUOTES, 404)],
  ["takes no such request", "provider bad-request 400", json(QUOTES, 400)],
  ["is asked too often", "provider rate-limited 429", json(QUOTES, 429)],
  ["breaks", "provider unavailable 500", json(QUOTES, 500)],
  ["is overloaded", "provider unavailable 529", json(QUOTES, 529)],
  ["accepts for later", "provider status 202", json(completion({ content: "x" }), 202)],
  ["has nothing", "provider status 204", (response) => void response.writeHead(204).end()],
  [
    "sends a page",
    "invalid answer",
    (response) => void response.setHeader("content-type", "text/html").end(`<p>${KEY}`),
  ],
  [
    "names no type",
    "invalid answer",
    (response) => void response.end(completion({ content: "x" })),
  ],
  [
    "streams nevertheless",
    "invalid answer",
    (response) =>
      void response
        .setHeader("content-type", "text/event-stream")
        .end(`data: ${completion({ content: "x" })}\n\n`),
  ],
  ["sends JSON that breaks off", "invalid answer", json(completion({ content: KEY }).slice(0, 60))],
  ["sends nothing", "invalid answer", json("")],
  [
    "sends text in another charset",
    "invalid answer",
    (response) =>
      void response
        .setHeader("content-type", "application/json")
        .end(Buffer.from(completion({ content: "é" }), "latin1")),
  ],
  ["sends a list", "invalid answer", json("[]")],
  ["sends null", "invalid answer", json("null")],
  ["sends an error under 200", "invalid answer", json(QUOTES)],
  ["sends choices that are none", "invalid answer", json('{"choices":"x"}')],
  ["sends a choice without a message", "invalid answer", json('{"choices":[{"text":"x"}]}')],
  ["sends content in parts", "invalid answer", says({ content: [{ type: "text", text: "x" }] })],
  ["sends no choice", "provider empty", json('{"choices":[]}')],
  ["sends no text", "provider empty", says({ content: null })],
  ["sends a message of nothing", "provider empty", says({})],
  ["lets its model refuse", "provider refusal", says({ content: null, refusal: `No: ${KEY}` })],
  ["filters", "provider content-filter", says({ content: "x" }, "content_filter")],
  ["cuts off", "too-large max-tokens", says({ content: "half an ans" }, "length")],
  ["does not finish", "provider unfinished", says({ content: "half an ans" }, null)],
  [
    "calls a tool",
    "provider tool-calls",
    says({ content: null, tool_calls: [{ id: "t" }] }, "tool_calls"),
  ],
  [
    "calls a function",
    "provider tool-calls",
    says({ content: null, function_call: {} }, "function_call"),
  ],
  ["says text that no document may hold", "invalid json", says({ content: "\ud800" })],
  ["gives the key away", "invalid answer", says({ content: `the key is ${KEY}.` })],
];

test.each(PROVIDERS)(
  "[EX-Y25] a provider that %s makes a typed error without the key (%s)",
  async (_what, way, answer) => {
    const server = await startServer((_request, response) => answer(response));
    const { text, clock } = generatingFrom(server);
    const error = await failureOf(text(ASK));
    const { kind, reason, status } = error.details;
    expect([kind, reason, status].filter((part) => part !== undefined).join(" ")).toBe(way);
    expect(wordsOf(error)).not.toContain(KEY);
    expect(wordsOf(error)).not.toMatch(/127\.0\.0\.1/u);
    await server.quiet();
    expect(clock.pendingTimers()).toBe(0);
  },
);

test("[EX-Y25] a redirect is not followed: the key goes nowhere else", async () => {
  const elsewhere = await startServer((_request, response) => response.end("x"));
  for (const status of [301, 302, 303, 307, 308]) {
    const server = await startServer((_request, response) => {
      response.writeHead(status, { location: `${elsewhere.url}/` }).end();
    });
    const error = await failureOf(generatingFrom(server).text(ASK));
    expect(error.details).toEqual({ kind: "provider", reason: "status", status });
  }
  expect(elsewhere.seen).toEqual([]);
});

test("[EX-Y25] a huge answer is cut off at the bound", async () => {
  const server = await startServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.write("x".repeat(5 * 1_048_576));
  });
  expect(await waysOf(generatingFrom(server).text(ASK))).toBe("too-large body");
  await server.quiet();
});

test("[EX-Y25] a connection that breaks is an error of the network", async () => {
  for (const start of ["", "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"]) {
    const server = await startRawServer((socket) =>
      socket.write(start, () => socket.resetAndDestroy()),
    );
    expect(await waysOf(generatingFrom(server).text(ASK))).toBe("network cut-off");
  }
  const { text } = generatingFrom({ url: "http://127.0.0.1:1" });
  expect(await waysOf(text(ASK))).toBe("network unreachable");
});

test("[EX-Y26] a head that does not come is given up with its connection", async () => {
  const server = await startServer(() => undefined);
  const { text, clock } = generatingFrom(server);
  const failing = waysOf(text(ASK));
  await server.arrived(1);
  await clock.advance(120_000);
  expect(await failing).toBe("timeout late");
  await server.quiet();
});

test("[EX-Y26] an answer that never ends is given up when the whole has taken too long", async () => {
  const server = await startServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.write('{"choices":[{"message":{"content":"and so on');
  });
  const { text, clock } = generatingFrom(server);
  const failing = waysOf(text(ASK));
  await clock.cancelled(2); // Connected, and the head is there.
  await clock.advance(180_000);
  expect(await failing).toBe("timeout late");
  await server.quiet();
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y26] an abort ends the request and its connection", async () => {
  const server = await startServer(() => undefined);
  const ending = new AbortController();
  const { text, clock } = generatingFrom(server);
  const failing = waysOf(text(ASK, { signal: ending.signal }));
  await server.arrived(1);
  ending.abort();
  expect(await failing).toBe("network aborted");
  await server.quiet();
  expect(clock.pendingTimers()).toBe(0);
});
