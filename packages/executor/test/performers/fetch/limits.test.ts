import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { failureOf, waysOf } from "../support/calls.js";
import { fetchingFrom, get } from "../support/fetching.js";
import { startRawServer, startServer } from "../support/local-server.js";

test("[EX-Y8] a look-up that does not end is given up", async () => {
  const { fetch, clock } = fetchingFrom([], {
    resolver: () => new Promise<never>(() => undefined),
    egress: { ports: [80] },
  });
  const failing = waysOf(fetch(get("http://a.example/")));
  await clock.advance(5_000);
  expect(await failing).toBe("timeout late");
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y8] a connection that does not come to stand is given up", async () => {
  const server = await startRawServer(() => undefined);
  const { fetch, clock } = fetchingFrom([server]);
  const failing = waysOf(fetch(get(`https://127.0.0.1:${server.port}/`)));
  await server.arrived(1); // The client's hello of TLS, which nobody answers.
  await clock.advance(5_000);
  expect(await failing).toBe("timeout late");
  await server.quiet();
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y8] a head that does not come, or never ends, is given up", async () => {
  for (const start of ["", "HTTP/1.1 200 OK\r\nx: y\r\n", "HTTP/1.1 100 Continue\r\n\r\n"]) {
    const server = await startRawServer((socket) => void (start === "" || socket.write(start)));
    const { fetch, clock } = fetchingFrom([server]);
    const failing = waysOf(fetch(get(server.url)));
    await server.arrived(1);
    await clock.advance(15_000);
    expect(await failing).toBe("timeout late");
    await server.quiet();
  }
});

test("[EX-Y8] a body that never ends is given up when the whole has taken too long", async () => {
  const server = await startServer((_request, response) => void response.write("a bit"));
  const { fetch, clock } = fetchingFrom([server]);
  const failing = failureOf(fetch(get(server.url)));
  await clock.cancelled(2); // Connected, and the head is there.
  await clock.advance(29_999);
  await clock.advance(1);
  expect((await failing).message).toBe("fetchData: the request took longer than 30000 ms");
  await server.quiet();
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y8] redirects do not start the time of the whole anew", async () => {
  const server = await startServer(({ path }, response) => {
    if (path === "/") response.writeHead(302, { location: "/slow" }).end();
  });
  const limits = { wholeMs: 10_000, headMs: 60_000 };
  const { fetch, clock } = fetchingFrom([server], { limits });
  const failing = waysOf(fetch(get(server.url)));
  await server.arrived(2);
  await clock.advance(10_000);
  expect(await failing).toBe("timeout late");
});

test("[EX-Y9] a body is bounded, announced or not", async () => {
  const server = await startServer(({ path }, response) => {
    if (path === "/announced") response.setHeader("content-length", "1001");
    const sent = { "/announced": 1, "/streamed": 1_001, "/fits": 1_000 }[path] ?? 0;
    response.write("x".repeat(sent));
    if (path === "/fits") response.end();
  });
  const { fetch, clock } = fetchingFrom([server], { limits: { bodyBytes: 1_000 } });
  expect(await waysOf(fetch(get(`${server.url}/announced`)))).toBe("too-large body");
  expect(await waysOf(fetch(get(`${server.url}/streamed`)))).toBe("too-large body");
  expect(await fetch(get(`${server.url}/fits`))).toHaveLength(1_000);
  await server.quiet();
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y9] a body that unpacks past the bound is cut off there", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1_048_576));
  const server = await startServer((_request, response) => {
    response.setHeader("content-encoding", "gzip");
    response.end(bomb);
  });
  const { fetch } = fetchingFrom([server]);
  expect(bomb.byteLength).toBeLessThan(1_048_576);
  expect(await waysOf(fetch(get(server.url)))).toBe("too-large body");
  await server.quiet();
});

test("[EX-Y9] the head of an answer is bounded", async () => {
  const server = await startRawServer((socket, head) => {
    const length = head.startsWith("GET /short") ? 1_000 : 3_000;
    const long = "y".repeat(length);
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-long: ${long}\r\n\r\nok`);
  });
  const { fetch } = fetchingFrom([server], { limits: { headBytes: 2_000 } });
  expect(await fetch(get(`${server.url}/short`))).toBe("ok");
  expect(await waysOf(fetch(get(`${server.url}/long`)))).toBe("too-large head");
  await server.quiet();
});

test("[EX-Y10] an abort ends the request wherever it is, and closes its connection", async () => {
  const server = await startServer(({ path }, response) => {
    if (path === "/body") response.write("a bit");
  });
  for (const path of ["/head", "/body"]) {
    const ending = new AbortController();
    const { fetch, clock } = fetchingFrom([server]);
    const failing = waysOf(fetch(get(`${server.url}${path}`), { signal: ending.signal }));
    await server.arrived(path === "/head" ? 1 : 2);
    if (path === "/body") await clock.cancelled(2);
    ending.abort("private words");
    expect(await failing).toBe("network aborted");
    await server.quiet();
    expect(clock.pendingTimers()).toBe(0);
  }
});

test("[EX-Y10] a request that is aborted before it begins looks nothing up", async () => {
  const { fetch, lookedUp } = fetchingFrom([], { egress: { ports: [80] } });
  const signal = AbortSignal.abort();
  expect(await waysOf(fetch(get("http://a.example/"), { signal }))).toBe("network aborted");
  expect(lookedUp).toEqual([]);
});
