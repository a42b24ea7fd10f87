import { expect, test } from "vitest";
import { failureOf, waysOf } from "../support/calls.js";
import { fetchingFrom, get } from "../support/fetching.js";
import { startServer } from "../support/local-server.js";

const welcoming = () => startServer((_request, response) => response.end("inner"));

test("[EX-Y2] an inner address is refused without a connection, by name and by number", async () => {
  const server = await welcoming();
  const closed = { egress: { networks: [] } };
  const { fetch, lookedUp } = fetchingFrom([server], closed);
  for (const host of ["127.0.0.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"]) {
    expect(await waysOf(fetch(get(`http://${host}:${server.port}/`)))).toBe("refused address");
  }
  expect(lookedUp).toEqual([]);
  expect(await waysOf(fetch(get(`http://inner.example:${server.port}/`)))).toBe("refused address");
  expect(server.seen).toEqual([]);
});

test("[EX-Y3] a name is looked up once, and what was checked is what is connected to", async () => {
  const server = await welcoming();
  const answers = [["127.0.0.1"], ["127.0.0.2"]];
  const { fetch } = fetchingFrom([server], { resolver: async () => answers.shift() ?? [] });
  expect(await fetch(get(`http://rebound.example:${server.port}/`))).toBe("inner");
  expect(answers).toEqual([["127.0.0.2"]]);
  expect(server.seen[0]?.headers.host).toBe(`rebound.example:${server.port}`);
});

test("[EX-Y3] a name with one inner address among good ones is refused whole", async () => {
  const server = await welcoming();
  const resolver = async () => ["127.0.0.1", "10.0.0.1"];
  const { fetch } = fetchingFrom([server], { resolver });
  expect(await waysOf(fetch(get(`http://mixed.example:${server.port}/`)))).toBe("refused address");
  expect(server.seen).toEqual([]);
});

test("[EX-Y3] whether an inner name exists cannot be told", async () => {
  const server = await welcoming();
  const failing = (code: string) => async () => {
    throw Object.assign(new Error("getaddrinfo wiki.corp 10.0.0.53"), { code });
  };
  const request = get(`http://wiki.corp:${server.port}/`);
  const told: unknown[] = [];
  for (const resolver of [async () => ["10.0.0.1"], async () => [], failing("ENOTFOUND")]) {
    const error = await failureOf(fetchingFrom([server], { resolver }).fetch(request));
    told.push([error.message, error.details]);
  }
  expect(told[1]).toEqual(told[0]);
  expect(told[2]).toEqual(told[0]);
  const { fetch } = fetchingFrom([server], { resolver: failing("EAI_AGAIN") });
  expect(await waysOf(fetch(request))).toBe("network dns");
});

test("[EX-Y1] a port that is not open is refused before the name is looked up", async () => {
  const { fetch, lookedUp } = fetchingFrom([]);
  expect(await waysOf(fetch(get("http://a.example:22/")))).toBe("refused port");
  expect(await waysOf(fetch(get("gopher://a.example/")))).toBe("refused scheme");
  expect(await waysOf(fetch(get("http://u:p@a.example:22/")))).toBe("refused credentials");
  expect(lookedUp).toEqual([]);
});

test("[EX-Y5] each step of a redirect is looked up and judged anew", async () => {
  const server = await startServer(({ path }, response) => {
    if (path === "/start") response.writeHead(302, { location: "/next" }).end("ignored");
    else response.end("there");
  });
  const { fetch, lookedUp } = fetchingFrom([server]);
  expect(await fetch(get(`http://a.example:${server.port}/start`))).toBe("there");
  expect(lookedUp).toEqual(["a.example", "a.example"]);
});

test.each([
  ["an inner address", "http://127.0.0.2:PORT/", "refused address"],
  ["an inner name", "http://inner.example:PORT/", "refused address"],
  ["a cloud's metadata", "http://169.254.169.254:PORT/latest", "refused address"],
  ["an embedded address", "http://[::ffff:127.0.0.1]:PORT/", "refused address"],
  ["another scheme", "file:///etc/passwd", "refused scheme"],
  ["a closed port", "http://a.example:6379/", "refused port"],
  ["credentials", "http://u:p@a.example:PORT/", "refused credentials"],
  ["what is no URL", "http://[", "provider redirect"],
])("[EX-Y5] a redirect to %s is refused", async (_what, location, way) => {
  const server = await startServer(({ path }, response) => {
    if (path !== "/start") return void response.end("reached");
    const port = String(server.port);
    response.writeHead(307, { location: location.replace("PORT", port) }).end();
  });
  const { fetch } = fetchingFrom([server], {
    resolver: async (host) => [host.startsWith("inner") ? "10.0.0.1" : "127.0.0.1"],
  });
  const error = await failureOf(fetch(get(`http://a.example:${server.port}/start`)));
  expect(`${error.details.kind} ${error.details.reason}`).toBe(way);
  expect(error.message).not.toMatch(/10\.0|127\.|169\.|inner|passwd|6379/u);
  expect(server.seen).toHaveLength(1);
});

test("[EX-Y5] redirects in a circle end at the bound", async () => {
  const server = await startServer((_request, response) => {
    response.writeHead(301, { location: "/" }).end();
  });
  const { fetch } = fetchingFrom([server], { limits: { redirects: 3 } });
  expect(await waysOf(fetch(get(server.url)))).toBe("refused redirects");
  expect(server.seen).toHaveLength(4);
});

test("[EX-Y5] a redirect without a location is a status like another", async () => {
  const server = await startServer((_request, response) => response.writeHead(302).end());
  const error = await failureOf(fetchingFrom([server]).fetch(get(server.url)));
  expect(error.details).toEqual({ kind: "provider", reason: "status", status: 302 });
});

test("[EX-Y6] another origin gets the body of a 307, and no header that says who asks", async () => {
  const target = await startServer((_request, response) => response.end("done"));
  const server = await startServer((_request, response) => {
    response.writeHead(307, { location: `http://b.example:${target.port}/x` }).end();
  });
  const { fetch } = fetchingFrom([server, target], { egress: { requestHeaders: ["x-key"] } });
  const headers = { "x-key": "secret", accept: "text/plain" };
  const request = get(server.url, { method: "POST", body: "mail", headers });
  expect(await fetch(request)).toBe("done");
  expect(server.seen[0]?.headers["x-key"]).toBe("secret");
  expect(target.seen[0]).toMatchObject({ method: "POST", body: "mail" });
  expect(target.seen[0]?.headers).toMatchObject({ accept: "text/plain" });
  expect(JSON.stringify(target.seen)).not.toContain("secret");
});

test("[EX-Y6] a POST that is redirected by 303 arrives as a GET without its body", async () => {
  const server = await startServer(({ path }, response) => {
    if (path === "/form") response.writeHead(303, { location: "/thanks" }).end();
    else response.end("thanks");
  });
  const { fetch } = fetchingFrom([server]);
  expect(await fetch(get(`${server.url}/form`, { method: "POST", body: "x" }))).toBe("thanks");
  expect(server.seen[1]).toMatchObject({ method: "GET", path: "/thanks", body: "" });
  expect(server.seen[1]?.headers["content-type"]).toBeUndefined();
});
