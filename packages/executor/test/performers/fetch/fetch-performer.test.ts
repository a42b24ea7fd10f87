import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { waysOf } from "../support/calls.js";
import { SECURE_EXAMPLE } from "../support/certificate.js";
import { fetchingFrom, get } from "../support/fetching.js";
import { startServer } from "../support/local-server.js";

test("[EX-Y11] the result of a fetch is the body of its answer", async () => {
  const server = await startServer(({ path }, response) => {
    response.setHeader("content-type", path === "/json" ? "application/json" : "text/plain");
    response.end(path === "/json" ? '{"n":1}' : "plain");
  });
  const { fetch } = fetchingFrom([server]);
  expect(await fetch(get(`${server.url}/json?a=1#hash`))).toBe("plain");
  expect(await fetch(get(`${server.url}/json`))).toEqual({ n: 1 });
  expect(server.seen.map(({ path }) => path)).toEqual(["/json?a=1", "/json"]);
});

test("[EX-Y11] an answer without a body is null", async () => {
  const server = await startServer(({ method }, response) => {
    if (method === "DELETE") response.statusCode = 204;
    response.end();
  });
  const { fetch } = fetchingFrom([server]);
  expect(await fetch(get(server.url, { method: "HEAD" }))).toBe(null);
  expect(await fetch(get(server.url, { method: "DELETE" }))).toBe(null);
  expect(await fetch(get(server.url))).toBe("");
});

test("[EX-Y11] a body comes packed or plain", async () => {
  const server = await startServer(({ path, headers }, response) => {
    expect(headers["accept-encoding"]).toBe("gzip, br");
    const coding = path.slice(1);
    if (coding !== "") response.setHeader("content-encoding", coding);
    if (coding.endsWith("gzip")) response.end(gzipSync("packed"));
    else response.end(coding === "br" ? brotliCompressSync("packed") : "packed");
  });
  const { fetch } = fetchingFrom([server]);
  for (const coding of ["", "gzip", "x-gzip", "br", "identity"]) {
    expect([coding, await fetch(get(`${server.url}/${coding}`))]).toEqual([coding, "packed"]);
  }
});

test("[EX-Y7] a request carries its method, body and the headers that are open", async () => {
  const server = await startServer((_request, response) => response.end("ok"));
  const { fetch } = fetchingFrom([server], { egress: { requestHeaders: ["X-Key"] } });
  const headers = { Accept: "text/html", "x-key": "k" };
  await fetch(get(server.url, { method: "post", body: { a: "é" }, headers }));
  await fetch(get(server.url, { method: "PUT", body: "text" }));
  await fetch(get(server.url, { method: null, body: null, headers: null, schema: null }));
  const [first, second, third] = server.seen;
  expect(first).toMatchObject({
    method: "POST",
    body: '{"a":"é"}',
    headers: { accept: "text/html", "x-key": "k", "content-type": "application/json" },
  });
  expect(first?.headers["content-length"]).toBe("10");
  expect(second?.headers["content-type"]).toBe("text/plain;charset=UTF-8");
  expect(third).toMatchObject({ method: "GET", body: "" });
});

test("[EX-Y7] no other header is sent, and none that is the connection's", async () => {
  const server = await startServer((_request, response) => response.end("ok"));
  const { fetch } = fetchingFrom([server]);
  for (const name of ["Authorization", "cookie", "Host", "x-any", "proxy-authorization", "te"]) {
    expect(await waysOf(fetch(get(server.url, { headers: { [name]: "x" } })))).toBe(
      "refused header",
    );
  }
  expect(await waysOf(fetch(get(server.url, { headers: { accept: "a\r\nx-b: c" } })))).toBe(
    "invalid request",
  );
  expect(server.seen).toEqual([]);
  await fetch(get(server.url));
  expect(Object.keys(server.seen[0]?.headers ?? {}).sort()).toEqual([
    "accept",
    "accept-encoding",
    "connection",
    "host",
    "user-agent",
  ]);
});

test("[EX-Y16] a request that changes something carries its memo key, and no other does", async () => {
  const server = await startServer(({ path }, response) => {
    if (path === "/away") response.writeHead(307, { location: `${server.url}/` });
    response.end();
  });
  const { fetch } = fetchingFrom([server]);
  const key = "memo:abc" as const;
  await fetch(get(server.url, { method: "POST" }), { key } as object);
  await fetch(get(server.url, { method: "POST" }), { key } as object);
  await fetch(get(server.url), { key } as object);
  await fetch(get(`http://a.example:${server.port}/away`, { method: "PUT" }), { key } as object);
  expect(server.seen.map(({ headers }) => headers["idempotency-key"])).toEqual([
    key,
    key,
    undefined,
    key,
    undefined, // Another origin's, after the redirect.
  ]);
});

test("[EX-Y12] an answer that is not of the asked schema is an error", async () => {
  const server = await startServer(({ path }, response) => {
    response.setHeader("content-type", "application/json");
    response.end(path === "/good" ? '{"n":1}' : '{"n":"1"}');
  });
  const { fetch } = fetchingFrom([server]);
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  expect(await fetch(get(`${server.url}/good`, { schema }))).toEqual({ n: 1 });
  expect(await waysOf(fetch(get(`${server.url}/bad`, { schema })))).toBe("invalid mismatch");
  expect(await waysOf(fetch(get(server.url, { schema: { type: "none" } })))).toBe("invalid schema");
  expect(server.seen).toHaveLength(2);
});

test("[EX-Y13] a status that is no success is an error with that status, its body unread", async () => {
  const server = await startServer(({ path }, response) => {
    response.statusCode = Number(path.slice(1));
    response.write("secret ".repeat(10));
  });
  const { fetch } = fetchingFrom([server]);
  for (const status of [300, 400, 401, 404, 429, 500, 503]) {
    await expect(fetch(get(`${server.url}/${status}`))).rejects.toMatchObject({
      code: "effect",
      details: { kind: "provider", reason: "status", status },
      message: `fetchData: the host answered ${status}`,
    });
  }
  await server.quiet();
});

test("[EX-Y3] TLS is asked for the name, whatever address was pinned", async () => {
  const server = await startServer((_request, response) => response.end("safe"), SECURE_EXAMPLE);
  const trusting = fetchingFrom([server], { ca: SECURE_EXAMPLE.cert });
  expect(await trusting.fetch(get(`https://secure.example:${server.port}/`))).toBe("safe");
  expect(trusting.lookedUp).toEqual(["secure.example"]);
  expect(await waysOf(trusting.fetch(get(`https://other.example:${server.port}/`)))).toBe(
    "network tls",
  );
  const { fetch } = fetchingFrom([server]);
  expect(await waysOf(fetch(get(`https://secure.example:${server.port}/`)))).toBe("network tls");
});

test.each([
  ["no object", "https://a.example/"],
  ["no URL", {}],
  ["a relative URL", get("/x")],
  ["no text as its URL", { url: 1 }],
  ["a long URL", get(`https://a.example/${"x".repeat(9_000)}`)],
  ["an unknown method", get("https://a.example/", { method: "TRACE" })],
  ["a body that a GET has not", get("https://a.example/", { body: "x" })],
  ["headers that are no text", get("https://a.example/", { headers: { accept: 1 } })],
  ["an unknown field", get("https://a.example/", { redirect: "error" })],
])("[EX-Y15] a request with %s is invalid, and nothing is looked up", async (_what, request) => {
  const { fetch, lookedUp, clock } = fetchingFrom([]);
  expect(await waysOf(fetch(request))).toBe("invalid request");
  expect(lookedUp).toEqual([]);
  expect(clock.pendingTimers()).toBe(0);
});

test("[EX-Y15] a request body over a megabyte is too large", async () => {
  const { fetch } = fetchingFrom([]);
  const body = "x".repeat(1_048_577);
  expect(await waysOf(fetch(get("https://a.example/", { method: "POST", body })))).toBe(
    "too-large request",
  );
});
