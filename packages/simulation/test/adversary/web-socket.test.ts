import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@tidemark/client";
import { counter } from "@tidemark/patterns";
import {
  type Acl,
  identityFromSeed,
  nodeIdFor,
  seededRandom,
  type SpaceId,
  streamIdFor,
  systemClock,
  systemRandom,
  webSocketTransport,
} from "@tidemark/protocol";
import { PatternRegistry } from "@tidemark/runtime";
import { createToolshed, SOCKET_PATH, type Toolshed } from "@tidemark/toolshed";
import { WebSocket } from "ws";
import { afterAll, beforeAll, expect, test } from "vitest";
import { frameOf, Hostile, rawBytes, upgradeTo } from "./hostile.js";

const person = (seed: number) => identityFromSeed(seededRandom(seed).bytes(32));
const [ana, ben, cy, spaceKey] = [person(1), person(2), person(3), person(4)];
const space = spaceKey.did as unknown as SpaceId;

let dir = "";
let toolshed: Toolshed;
let good: Awaited<ReturnType<typeof goodWill>>;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-hostile-"));
  toolshed = await createToolshed({ dataDir: dir, patterns: [counter] });
  good = await goodWill();
});

afterAll(async () => {
  good.client.drop();
  await toolshed.stop();
  rmSync(dir, { recursive: true, force: true });
});

const clientOf = (identity: typeof ana) =>
  connect({
    transport: webSocketTransport(() => new WebSocket(toolshed.socketUrl) as never),
    identity,
    clock: systemClock,
    random: systemRandom,
    patterns: new PatternRegistry([counter]),
  });

/** A person of good will, and one click of hers. */
async function goodWill() {
  const client = clientOf(ana);
  await new Promise<void>((resolve) => {
    client.status.subscribe(({ state }) => void (state === "online" ? resolve() : undefined));
  });
  const acl = { [ana.did]: "OWNER", [ben.did]: "WRITE", [cy.did]: "READ" } as Acl;
  await client.createSpace(spaceKey, acl);
  const home = client.open(space);
  await home.ready;
  const { piece, created } = home.create(counter, {}, { cause: "hostile" });
  await created;
  return {
    client,
    piece,
    async click(): Promise<void> {
      await piece.fire("increment", { by: 1 }).settled;
    },
  };
}

const port = (): number => Number(new URL(toolshed.url).port);

test("what is no message gets a typed error, is counted, and the connection goes on", async () => {
  const hostile = await Hostile.signedIn(toolshed.socketUrl, ben, "b0");
  const before = toolshed.memory.stats().refused;
  const hostileTexts = [
    "",
    "null",
    "[]",
    "{",
    "\u0000",
    '{"type":"__proto__"}',
    '{"type":"constructor","req":1}',
    '{"__proto__":{"type":"ping"}}',
    '{"type":"hello","version":99}',
    '{"type":"hello","version":"1"}',
    '{"type":"ping","extra":1}',
    '{"type":"commit","req":-1}',
    '{"type":"commit","req":1e400}',
    `{"type":"ping","pad":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    `{"type":"auth","req":1,"principal":"did:key:z6Mk","sessionId":"s","openNonce":"n","challenge":"c","signature":"${"A".repeat(86)}"}`,
    JSON.stringify({ type: "ping", pad: "x".repeat(5 * 1_048_576) }),
  ];
  for (const text of hostileTexts) {
    const error = await hostile.refusal(text);
    expect(["protocol", "limit", "unauthorized"], text.slice(0, 60)).toContain(error.code);
  }
  const after = toolshed.memory.stats().refused;
  const sum = (counts: Readonly<Record<string, number>>) =>
    Object.values(counts).reduce((total, each) => total + each, 0);
  expect(sum(after) - sum(before)).toBe(hostileTexts.length);
  hostile.say({ type: "ping" });
  await hostile.next((message) => message.type === "pong");
  hostile.socket.close();
  await hostile.closed;
});

test("nobody asks for anything before the challenge is answered", async () => {
  const hostile = await Hostile.dial(toolshed.socketUrl);
  for (const body of everyRequest()) {
    const answer = await hostile.ask(body);
    expect(answer, JSON.stringify(body).slice(0, 80)).toMatchObject({
      type: "error",
      error: { code: "unauthorized" },
    });
  }
  hostile.socket.close();
  await hostile.closed;
});

test("a socket that breaks the rules of WebSocket ends alone", async () => {
  const { piece, click } = good;
  const path = SOCKET_PATH;
  const broken = [
    ["GET / HTTP/9.9\r\n\r\n"],
    ["\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003"],
    [upgradeTo("/elsewhere")],
    [upgradeTo(`${path}/../x`)],
    [upgradeTo(path).replace("dGhlIHNhbXBsZSBub25jZQ==", "short")],
    // A binary message, a reserved opcode, broken UTF-8, a continuation of nothing, an unmasked frame.
    [upgradeTo(path), frameOf(2, Buffer.from("{}"))],
    [upgradeTo(path), frameOf(3, Buffer.from("{}"))],
    [upgradeTo(path), frameOf(1, Buffer.from([0xff, 0xfe, 0xc0]))],
    [upgradeTo(path), frameOf(0, Buffer.from("{}"))],
    [upgradeTo(path), Buffer.from([0x81, 0x02, 0x7b, 0x7d])],
    // A length of 2^63 - 1.
    [
      upgradeTo(path),
      Buffer.from([0x81, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0]),
    ],
    // A close frame with a code that is none.
    [upgradeTo(path), frameOf(8, Buffer.from([0, 1]))],
  ];
  for (const chunks of broken) await rawBytes(port(), chunks);
  const stranger = await Hostile.dial(toolshed.socketUrl);
  stranger.say("x".repeat(1_048_576));
  expect(await stranger.closed).toBe(4008);
  const tooLarge = await Hostile.signedIn(toolshed.socketUrl, ben, "b0");
  tooLarge.say("x".repeat(17 * 1_048_576));
  expect(await tooLarge.closed).toBe(1009);
  const before = piece.get("count").value as number;
  await click();
  expect(piece.get("count").value).toBe(before + 1);
});

test("a writer forges nothing: class, holder, firedAt, scope key, processing state, other people's instances", async () => {
  const { piece, click } = good;
  const hostile = await Hostile.signedIn(toolshed.socketUrl, ben, "b1");
  const stream = streamIdFor(piece.id, "increment");
  const node = nodeIdFor(piece.id, "count");
  const head = () => toolshed.memory.space(space).engine.head();
  const before = head();
  const entry = { eventId: "forged-1", payload: null };
  const append = (more: object, beside: object = {}) => ({
    type: "append",
    space,
    append: { localSeq: 1, stream, entry: { ...entry, ...more }, ...beside },
  });
  const commit = (more: object, op: object = { op: "set", id: node, value: 9 }) => ({
    type: "commit",
    space,
    commit: { localSeq: 1, reads: [], ops: [op], ...more },
  });
  const forged = [
    append({ firedAt: { user: ana.did, session: "a1" } }),
    append({ firedAt: { session: "server" } }),
    append({ firedAt: { user: ben.did, session: "server" } }),
    append({ seq: 1 }),
    append({ consequenced: true }),
    append({ status: "errored", error: "x" }),
    append({ __proto__x: 1 }),
    append({}, { class: "derived" }),
    append({ runtimeInjectedEventKeys: "all" }),
    append({ eventId: "has space" }),
    append({ eventId: "e\u0000" }),
    append({ eventId: "e".repeat(129) }),
    commit({ class: "derived" }),
    commit({ holder: "toolshed" }),
    commit({ derivedThrough: 1 }),
    commit({ consequenceOf: ["e1"] }),
    commit({ actingPrincipal: ana.did, actingSession: "a1", capabilityRef: "demanded-run:x" }),
    commit({}, { op: "set", id: node, value: 9, scopeKey: `user:${ana.did}` }),
    commit({}, { op: "set", id: node, value: 9, scope: `user:${ana.did}` }),
    commit({}, { op: "set", id: node, value: 9, scope: "system" }),
    commit({}, { op: "set", id: "sys:watermark", value: { seq: 99 } }),
    commit({}, { op: "set", id: "sys:acl", value: { [ben.did]: "OWNER" } }),
    commit(
      {},
      { op: "patch", id: "sys:acl", value: [{ op: "add", path: [ben.did], value: "OWNER" }] },
    ),
    commit({}, { op: "delete", id: "sys:acl" }),
    commit({}, { op: "set", id: stream, value: [] }),
    commit({}, { op: "set", id: "node:\u0000", value: 1 }),
    commit({}, { op: "set", id: "node:\ud800", value: 1 }),
    commit({}, { op: "increment", id: node, value: 1 }),
    commit({ branch: "nobody-made-it" }),
    {
      type: "space.open",
      space,
      watches: [{ id: "w", root: { id: node, scope: `user:${ana.did}` } }],
    },
    { type: "space.open", space, watches: [{ id: "w", root: { id: node, scopeKey: "user:x" } }] },
    { type: "space.create", space, acl: { [ben.did]: "OWNER" }, signature: ben.sign("x") },
  ];
  for (const body of forged) {
    const answer = await hostile.ask(body);
    expect(answer, JSON.stringify(body).slice(0, 160)).toMatchObject({ type: "error" });
    if (answer.type === "error") {
      expect(["protocol", "unauthorized", "limit"], JSON.stringify(body)).toContain(
        answer.error.code,
      );
    }
  }
  expect(head()).toBe(before);
  await click();
  hostile.socket.close();
});

test("a reader reads and does nothing else, and a stranger not even that", async () => {
  const { piece, click } = good;
  const stream = streamIdFor(piece.id, "increment");
  const head = () => toolshed.memory.space(space).engine.head();
  for (const [identity, mayRead] of [
    [cy, true],
    [person(99), false],
  ] as const) {
    const hostile = await Hostile.signedIn(toolshed.socketUrl, identity, "x1");
    const before = head();
    for (const body of everyRequest(stream)) {
      const answer = await hostile.ask(body);
      const reads = ["space.open", "watch.set", "space.close"].includes(body["type"] as string);
      const expected = (reads && mayRead) || body["type"] === "space.close" ? "ok" : "error";
      expect(answer.type, JSON.stringify(body).slice(0, 160)).toBe(expected);
    }
    expect(head()).toBe(before);
    if (!mayRead) expect(hostile.received.some(({ type }) => type === "frame")).toBe(false);
    hostile.socket.close();
  }
  await click();
});

test("names that reach for the prototype are data, refused or unknown, and nothing is polluted", async () => {
  const { piece, click } = good;
  const hostile = await Hostile.signedIn(toolshed.socketUrl, ben, "b2");
  const names = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];
  let localSeq = 0;
  const next = () => (localSeq += 1);
  for (const name of names) {
    const value = JSON.parse(`{"${name}":{"x":1}}`) as object;
    const bodies = [
      { type: "space.open", space, watches: [{ id: name, root: { id: name } }] },
      {
        type: "commit",
        space,
        commit: { localSeq: next(), reads: [], ops: [{ op: "set", id: name, value }] },
      },
      {
        type: "commit",
        space,
        commit: {
          localSeq: next(),
          reads: [],
          ops: [
            {
              op: "patch",
              id: name,
              value: [{ op: "replace", path: [name, "polluted"], value: true }],
            },
          ],
        },
      },
      {
        type: "commit",
        space,
        commit: {
          localSeq: next(),
          reads: [],
          ops: [
            { op: "patch", id: "node:none", value: [{ op: "append", path: [name], value: 1 }] },
          ],
        },
      },
      {
        type: "append",
        space,
        append: {
          localSeq: next(),
          stream: streamIdFor(piece.id, "increment"),
          entry: { eventId: name, payload: value },
        },
      },
      { type: name },
    ];
    for (const body of bodies) await hostile.ask(body);
  }
  // A stream of nobody: the event waits out its deferrals, and then the space goes on.
  const entry = { eventId: "e-nobody", payload: null };
  await hostile.ask({
    type: "append",
    space,
    append: { localSeq: next(), stream: "stream:__proto__", entry },
  });
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  const engine = toolshed.memory.space(space).engine;
  expect(Object.keys(engine.read("__proto__" as never, "space" as never).value as object)).toEqual([
    "__proto__",
  ]);
  await click();
  hostile.socket.close();
});

/** One well-formed request of every type. */
function everyRequest(stream = "stream:x"): readonly Readonly<Record<string, unknown>>[] {
  return [
    { type: "space.create", space, acl: { [cy.did]: "OWNER" }, signature: cy.sign("x") },
    { type: "space.open", space, watches: [{ id: "w", pieces: true }] },
    { type: "watch.set", space, watches: [] },
    {
      type: "commit",
      space,
      commit: { localSeq: 1, reads: [], ops: [{ op: "set", id: "node:x", value: 1 }] },
    },
    {
      type: "commit",
      space,
      commit: {
        localSeq: 2,
        reads: [],
        ops: [{ op: "set", id: "node:x", scope: "session", value: 1 }],
      },
    },
    {
      type: "commit",
      space,
      commit: { localSeq: 3, reads: [], ops: [{ op: "delete", id: "sys:acl" }] },
    },
    {
      type: "append",
      space,
      append: { localSeq: 4, stream, entry: { eventId: "x1", payload: null } },
    },
    { type: "space.close", space },
  ];
}
