import { expect, test } from "vitest";
import {
  WIRE_VERSION,
  ACL_DOC,
  sessionScopeKey,
  SPACE_SCOPE_KEY,
  userScopeKey,
  type Connection,
  type CloseReason,
  type SpaceId,
  type Watch,
} from "@tidemark/protocol";
import type { ServerPolicy } from "../../src/index.js";
import { RowTexts } from "../../src/server/push/rows.js";
import { createTestServer, type TestClient, type TestServer } from "../../src/testing/index.js";
import { derive, doc, event, keyOf, link, seq, setOp, STREAM } from "./support.js";

const any = (name: string): Watch => ({
  id: name,
  root: { id: doc(name) },
  selector: { kind: "any" },
});

interface Two {
  readonly t: TestServer;
  readonly ana: TestClient;
  readonly ben: TestClient;
  readonly home: SpaceId;
}

async function two(policy: Partial<ServerPolicy> = {}): Promise<Two> {
  const t = createTestServer({ policy });
  const ana = await t.connected("ana");
  const ben = await t.connected("ben");
  const home = await t.space("home", ana, { [ben.identity.did]: "WRITE" });
  return { t, ana, ben, home };
}

const aclOf = (owner: TestClient, extra: Record<string, string> = {}): never =>
  ({ op: "set", id: ACL_DOC, value: { [owner.identity.did]: "OWNER", ...extra } }) as never;

test("[ME-P2] other people's rows are absent from a frame, and the settle signal reaches all (PU-01)", async () => {
  const { t, ana, ben, home } = await two();
  const watches: Watch[] = [
    { id: "s", root: { id: doc("x") } },
    { id: "u", root: { id: doc("x"), scope: "user" } },
    { id: "t", root: { id: doc("x"), scope: "session" } },
  ];
  for (const client of [ana, ben]) await client.call("space.open", { space: home, watches });
  const [anas, bens] = [userScopeKey(ana.identity.did), userScopeKey(ben.identity.did)];
  const tab = sessionScopeKey(ana.identity.did, ana.sessionId);
  derive(t, home, {
    watermark: seq(2),
    changes: [SPACE_SCOPE_KEY, anas, bens, tab].map((scopeKey) => ({
      id: doc("x"),
      scopeKey,
      op: { op: "set", value: scopeKey },
    })),
  });
  await t.run();
  const scopes = (client: TestClient): string[] =>
    client
      .frames(home)
      .at(-1)
      ?.rows.map((row) => row.scopeKey) ?? [];
  expect(scopes(ana)).toEqual([SPACE_SCOPE_KEY, anas, tab]);
  expect(scopes(ben)).toEqual([SPACE_SCOPE_KEY, bens]);
  expect(ben.frames(home).at(-1)?.watermark).toBe(2);
  expect(JSON.stringify(ben.received)).not.toContain(anas);
  await t.stop();
});

test("[ME-P3] bookkeeping is not pushed: no basis, no consequenceOf, no annotations (PU-03)", async () => {
  const { t, ana, home } = await two();
  await ana.call("space.open", { space: home, watches: [any("x")] });
  await ana.append(home, STREAM, { eventId: event("e1"), payload: { secret: "payload" } });
  derive(t, home, {
    consequenceOf: [event("e1")],
    changes: [
      {
        id: doc("x"),
        scopeKey: SPACE_SCOPE_KEY,
        op: { op: "set", value: 1 },
        attribution: { user: ana.identity.did, session: ana.sessionId },
      },
    ],
    marks: [{ stream: STREAM, seq: seq(2), index: 0, eventId: event("e1") }],
    basis: [
      {
        action: "p/n@x" as never,
        scopeKey: SPACE_SCOPE_KEY,
        reads: [{ space: home, id: doc("input"), scopeKey: SPACE_SCOPE_KEY, seq: seq(1) }],
      },
    ],
  });
  await t.run();
  const frame = JSON.stringify(ana.frames(home).at(-1));
  expect(frame).toContain('"consequenced":true');
  for (const word of ["consequenceOf", "attribution", "basis", "input", "secret", "holder"]) {
    expect(frame).not.toContain(word);
  }
  await t.stop();
});

test("[ME-P4] sessions that track derived changes are told first, with counters (PU-04)", async () => {
  const { t, ana, ben, home } = await two();
  await ben.call("space.open", { space: home, watches: [any("bulk")] });
  await ana.call("space.open", { space: home, watches: [any("derived")] });
  const order: string[] = [];
  const log = (client: TestClient, name: string): void => {
    const push = client.received.push.bind(client.received);
    client.received.push = (...messages) => {
      if (messages.some((message) => message.type === "frame")) order.push(name);
      return push(...messages);
    };
  };
  log(ana, "ana");
  log(ben, "ben");
  t.gates.hold("push:before");
  await ben.commit(home, { ops: [setOp("bulk", 1)] });
  derive(t, home, {
    changes: [{ id: doc("derived"), scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value: 2 } }],
  });
  t.gates.release("push:before");
  await t.run();
  expect(order).toEqual(["ana", "ben"]);
  const counters = { prioritizedSessions: 1, followerSessions: 1, mixedFlushes: 1 };
  expect(t.server.stats().push).toMatchObject(counters);
  await ana.commit(home, { ops: [setOp("bulk", 2)] });
  expect(t.server.stats().push).toMatchObject(counters);
  await t.stop();
});

test("[ME-P5] a held row is patched from the seq the session holds; the rest comes whole (R26)", async () => {
  const { t, ana, ben, home } = await two();
  await ana.commit(home, { ops: [setOp("d", { list: [1] })] });
  await ana.call("space.open", { space: home, watches: [any("d")] });
  const append = (value: number): never =>
    ({ op: "patch", id: doc("d"), value: [{ op: "append", path: ["list"], value }] }) as never;
  t.gates.hold("push:before");
  await ana.commit(home, { ops: [append(2)] });
  await ana.commit(home, { ops: [append(3)] });
  t.gates.release("push:before");
  await t.run();
  const row = ana.frames(home).at(-1)?.rows[0];
  expect(row).toMatchObject({ seq: 4, patch: { from: 2, ops: [{ value: 2 }, { value: 3 }] } });
  expect(ana.held(home, keyOf("d"))?.value).toEqual({ list: [1, 2, 3] });
  await ben.call("space.open", { space: home, watches: [any("d")] });
  expect(ben.frames(home).at(-1)?.rows[0]).toMatchObject({ seq: 4, value: { list: [1, 2, 3] } });
  await ana.commit(home, { ops: [append(4)] });
  await ana.commit(home, { ops: [setOp("d", "whole")] });
  expect(ana.frames(home).at(-1)?.rows[0]).toMatchObject({ value: "whole" });
  await ana.commit(home, { ops: [{ op: "delete", id: doc("d") }] });
  expect(ana.frames(home).at(-1)?.rows[0]).toMatchObject({ absent: true, seq: 7 });
  expect(ben.held(home, keyOf("d"))).toMatchObject({ value: undefined, seq: 7 });
  await t.stop();
});

test("[ME-P5] a patch is only for who holds its very base", () => {
  const key = keyOf("d");
  const change = {
    id: doc("d"),
    scopeKey: SPACE_SCOPE_KEY,
    op: { op: "patch", value: [] },
  } as const;
  const rows = new Map([
    [key, { key, change, firstSeq: seq(5), seq: seq(7), cover: "authored" as const, ops: [] }],
  ]);
  const texts = new RowTexts(() => ({ value: "whole", seq: seq(7) }), rows);
  expect(texts.row(key, seq(4))?.text).toContain('"patch":{"from":4');
  expect(texts.row(key, seq(5))?.text).toContain('"value":"whole"');
  expect(texts.row(key, seq(4), true)?.text).toContain('"value":"whole"');
  expect(texts.row(key, undefined)?.text).toContain('"value":"whole"');
  expect(texts.row(key, seq(7))).toBeUndefined();
});

test("[ME-P6] a row's text is made once for all the sessions that get it", async () => {
  const { t, ana, ben, home } = await two();
  for (const client of [ana, ben]) {
    await client.call("space.open", { space: home, watches: [any("d")] });
  }
  let serialised = 0;
  const value = { toJSON: () => ((serialised += 1), "text") };
  derive(t, home, {
    changes: [
      { id: doc("d"), scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value: value as never } },
    ],
  });
  const stored = serialised;
  await t.run();
  expect(serialised - stored).toBe(1);
  expect(ben.held(home, keyOf("d"))?.value).toBe("text");
  await t.stop();
});

test("[ME-P7] a session resumes from its cursor with what changed since (SY-01)", async () => {
  const { t, ana, ben, home } = await two();
  await ana.commit(home, { ops: [setOp("root", [link("a"), link("b")]), setOp("a", 1)] });
  const open = await ben.call("space.open", { space: home, watches: [any("root")] });
  const historyId = open.ok ? open.result.historyId : "";
  const at = ben.frames(home).at(-1)?.seq ?? seq(0);
  await ben.disconnect();
  await ana.commit(home, { ops: [setOp("a", 2), setOp("c", 3)] });
  await ana.commit(home, { ops: [setOp("root", [link("a"), link("c")])] });
  await ben.connect();
  const again = await ben.call("space.open", {
    space: home,
    watches: [any("root")],
    cursor: { historyId, seq: at },
  });
  expect(again).toMatchObject({ result: { resumed: true } });
  const frame = ben.frames(home).at(-1);
  expect(frame?.reset).toBeUndefined();
  expect(new Set(frame?.rows.map((row) => row.id))).toEqual(
    new Set([doc("a"), doc("c"), doc("root")]),
  );
  expect(frame?.gone).toEqual([{ id: doc("b"), scopeKey: SPACE_SCOPE_KEY }]);
  expect(ben.held(home, keyOf("a"))?.value).toBe(2);
  await ana.commit(home, { ops: [setOp("c", 4)] });
  expect(ben.held(home, keyOf("c"))?.value).toBe(4);
  await t.stop();
});

test("[ME-P7] a resume with nothing new sends no row again", async () => {
  const { t, ana, home } = await two();
  await ana.commit(home, { ops: [setOp("root", [link("a")]), setOp("a", 1)] });
  const open = await ana.call("space.open", { space: home, watches: [any("root")] });
  const historyId = open.ok ? open.result.historyId : "";
  const at = ana.frames(home).at(-1)?.seq ?? seq(0);
  await ana.disconnect();
  await ana.connect();
  await ana.call("space.open", {
    space: home,
    watches: [any("root")],
    cursor: { historyId, seq: at },
  });
  expect(ana.frames(home).at(-1)).toMatchObject({ rows: [], gone: [] });
  const patch = { op: "patch", id: doc("a"), value: [{ op: "increment", path: [], value: 1 }] };
  await ana.commit(home, { ops: [patch as never] });
  expect(ana.held(home, keyOf("a"))?.value).toBe(2);
  await t.stop();
});

test("[ME-P8] a cursor of another history, ahead of the log or too old is told to resync (SY-02)", async () => {
  const { t, ana, home } = await two({ maxResumeCommits: 3 });
  await ana.commit(home, { ops: [setOp("a", 1)] });
  const open = await ana.call("space.open", { space: home, watches: [any("a")] });
  const historyId = open.ok ? open.result.historyId : "";
  for (let n = 0; n < 5; n += 1) await ana.commit(home, { ops: [setOp("b", n)] });
  for (const cursor of [
    { historyId: "another", seq: seq(2) },
    { historyId, seq: seq(999) },
    { historyId, seq: seq(2) },
  ]) {
    const answer = await ana.call("space.open", { space: home, watches: [any("a")], cursor });
    expect(answer).toMatchObject({ result: { resumed: false } });
    expect(ana.frames(home).at(-1)).toMatchObject({
      reset: true,
      rows: [{ id: doc("a"), value: 1 }],
    });
  }
  await t.stop();
});

test("[ME-P9] a sender is told how its own events end, and of nobody else's", async () => {
  const { t, ana, ben, home } = await two();
  for (const client of [ana, ben]) await client.call("space.open", { space: home, watches: [] });
  await ana.append(home, STREAM, { eventId: event("e1") });
  await ben.append(home, STREAM, { eventId: event("e2") });
  derive(t, home, {
    marks: [
      {
        stream: STREAM,
        seq: seq(2),
        index: 0,
        eventId: event("e1"),
        status: "errored",
        error: "no",
      },
    ],
    frontiers: [{ stream: STREAM, seq: seq(2) }],
    watermark: seq(2),
  });
  await t.run();
  expect(ana.frames(home).at(-1)).toMatchObject({
    entries: [{ eventId: "e1", consequenced: true, status: "errored", error: "no" }],
    frontiers: [{ stream: STREAM, seq: 2 }],
  });
  expect(ben.frames(home).at(-1)).toMatchObject({ entries: [], watermark: 2 });
  await ana.disconnect();
  const back = await t.connected("ana");
  const events = ["e1", "e2", "e3"].map((id) => ({ stream: STREAM, eventId: event(id) }));
  await back.call("space.open", { space: home, watches: [], events });
  expect(back.frames(home).at(-1)?.entries).toEqual([
    {
      stream: STREAM,
      eventId: "e1",
      seq: 2,
      index: 0,
      consequenced: true,
      status: "errored",
      error: "no",
    },
    { stream: STREAM, eventId: "e2", unknown: true },
    { stream: STREAM, eventId: "e3", unknown: true },
  ]);
  // Another tab of hers may have sent the same event: it is hers all the same.
  const tab = await t.connected("ana", "ana2");
  await tab.call("space.open", { space: home, watches: [], events });
  expect(tab.frames(home).at(-1)?.entries).toMatchObject([
    { eventId: "e1", consequenced: true },
    { eventId: "e2", unknown: true },
    { eventId: "e3", unknown: true },
  ]);
  await t.stop();
});

test("[ME-P9] who sends an event again after a lost answer is told of its end", async () => {
  const { t, ana, home } = await two();
  await ana.append(home, STREAM, { eventId: event("e1") });
  await ana.disconnect();
  const back = await t.connected("ana", "ana1", "open-2");
  await back.call("space.open", { space: home, watches: [] });
  expect(await back.append(home, STREAM, { eventId: event("e1") })).toMatchObject({
    error: { name: "DuplicateEventError" },
  });
  derive(t, home, { marks: [{ stream: STREAM, seq: seq(2), index: 0, eventId: event("e1") }] });
  await t.run();
  expect(back.frames(home).at(-1)?.entries).toMatchObject([{ eventId: "e1", consequenced: true }]);
  await t.stop();
});

test("[ME-P9] who asks for an event and appends it before the answer is told of its end", async () => {
  const { t, ana, home } = await two();
  t.gates.fail("push:before", new Error("io"), { times: 1 });
  const events = [{ stream: STREAM, eventId: event("e1") }];
  await ana.call("space.open", { space: home, watches: [], events });
  await ana.append(home, STREAM, { eventId: event("e1") });
  await t.clock.advance(1_000);
  expect(ana.frames(home).at(-1)?.entries).toEqual([]);
  const mark = { stream: STREAM, seq: seq(2), index: 0, eventId: event("e1") };
  derive(t, home, { marks: [{ ...mark, status: "errored", error: "no" }], watermark: seq(2) });
  await t.run();
  expect(ana.frames(home).at(-1)?.entries).toMatchObject([{ eventId: "e1", status: "errored" }]);
  await t.stop();
});

test("[ME-P10] who may no longer read is told so, and nothing from then on reaches it (IS-02)", async () => {
  const { t, ana, ben, home } = await two();
  await ben.call("space.open", { space: home, watches: [any("d")] });
  t.gates.hold("push:before");
  await ana.commit(home, { ops: [setOp("d", "before")] });
  await ana.commit(home, { ops: [aclOf(ana)] });
  await ana.commit(home, { ops: [setOp("d", "after")] });
  const frames = ben.frames(home).length;
  t.gates.release("push:before");
  await t.run();
  expect(ben.received.at(-1)).toMatchObject({ type: "revoked", space: home });
  expect(ben.frames(home)).toHaveLength(frames);
  expect(t.server.space(home).demand().size).toBe(0);
  await ana.commit(home, { ops: [setOp("d", "later")] });
  expect(ben.frames(home)).toHaveLength(frames);
  expect((await ben.call("watch.set", { space: home, watches: [any("d")] })).ok).toBe(false);
  expect(JSON.stringify(ben.received)).not.toContain("after");
  await t.stop();
});

test("[ME-P10] a demotion to READ keeps the watches", async () => {
  const { t, ana, ben, home } = await two();
  await ben.call("space.open", { space: home, watches: [any("d")] });
  await ana.commit(home, { ops: [aclOf(ana, { [ben.identity.did]: "READ" })] });
  await ana.commit(home, { ops: [setOp("d", 1)] });
  expect(ben.held(home, keyOf("d"))?.value).toBe(1);
  expect((await ben.commit(home, { ops: [setOp("d", 2)] })).ok).toBe(false);
  await t.stop();
});

test("[ME-P11] a flush that its gate fails is repeated and loses nothing", async () => {
  const { t, ana, home } = await two();
  await ana.call("space.open", { space: home, watches: [any("d")] });
  t.gates.fail("push:before", new Error("io"), { times: 2 });
  await ana.commit(home, { ops: [setOp("d", 1)] });
  expect(ana.held(home, keyOf("d"))?.value).toBeUndefined();
  await t.clock.advance(1_000);
  expect(ana.held(home, keyOf("d"))?.value).toBe(1);
  expect(t.server.stats().push.failures).toBe(2);
  await t.stop();
});

test("[ME-P12] frames wait for durability to be told: a held derived commit reaches nobody", async () => {
  const { t, ana, ben, home } = await two();
  await ana.call("space.open", { space: home, watches: [any("d")] });
  const space = t.server.space(home);
  const fed: number[] = [];
  space.feed(seq(0), (commit) => fed.push(commit.seq));
  space.engine.lease.acquire("h" as never, 15_000);
  const changes = [
    { id: doc("d"), scopeKey: SPACE_SCOPE_KEY, op: { op: "set" as const, value: "derived" } },
  ];
  const verdict = space.commitDerived(
    "h" as never,
    () => ({
      derivedThrough: seq(1),
      consequenceOf: [],
      changes,
      appends: [],
      marks: [],
      frontiers: [],
      basis: [],
    }),
    { hold: true },
  );
  await ana.commit(home, { ops: [setOp("e", 1)] });
  await ben.call("space.open", { space: home, watches: [any("d")] });
  expect(ben.frames(home)).toEqual([]);
  expect(fed).toEqual([1]);
  expect(ana.held(home, keyOf("d"))?.value).toBeUndefined();
  if (verdict.ok) verdict.release();
  await t.run();
  expect(fed).toEqual([1, 2, 3]);
  for (const client of [ana, ben]) {
    expect(client.held(home, keyOf("d"))?.value).toBe("derived");
  }
  await t.stop();
});

/** A peer that takes in nothing unless told to. */
class StuckSocket implements Connection {
  readonly sent: string[] = [];
  bufferedBytes = 0;
  closed: string | undefined;
  send(text: string): void {
    this.sent.push(text);
    this.bufferedBytes += text.length;
  }
  close(_code?: number, reason = ""): void {
    this.closed = reason;
  }
  onMessage(fn: (text: string) => void): void {
    this.say = (message) => fn(JSON.stringify(message));
  }
  onClose(_fn: (why: CloseReason) => void): void {}
  say: (message: object) => void = () => undefined;
}

async function stuckReader({ t, home }: Two): Promise<StuckSocket> {
  const { authMessageToSign } = await import("@tidemark/protocol");
  const socket = new StuckSocket();
  t.server.accept(socket);
  const ben = t.identity("ben");
  socket.say({ type: "hello", version: WIRE_VERSION });
  const { challenge, serverId } = JSON.parse(socket.sent[0] as string);
  const fields = { principal: ben.did, sessionId: "stuck" as never, openNonce: "n" };
  const signature = ben.sign(authMessageToSign({ ...fields, serverId, challenge }));
  socket.say({ type: "auth", req: 1, ...fields, challenge, signature });
  socket.say({ type: "space.open", req: 2, space: home, watches: [any("d")] });
  await t.run();
  return socket;
}

test("[ME-P13] who does not read costs a bounded buffer and delays nobody (RS-03)", async () => {
  const setup = await two({ maxBufferedBytes: 4_000, slowCutoffMs: 10_000 });
  const { t, ana, home } = setup;
  await ana.call("space.open", { space: home, watches: [any("d")] });
  const stuck = await stuckReader(setup);
  const filler = "x".repeat(500);
  for (let n = 0; n < 100; n += 1) {
    await ana.commit(home, { ops: [setOp("d", { n, filler })] });
    expect(ana.held(home, keyOf("d"))?.value).toEqual({ n, filler });
  }
  expect(stuck.bufferedBytes).toBeLessThanOrEqual(4_000);
  expect(stuck.closed).toBeUndefined();
  stuck.bufferedBytes = 0;
  await t.clock.advance(200);
  const last = JSON.parse(stuck.sent.at(-1) as string);
  expect(last).toMatchObject({ type: "frame", reset: true, rows: [{ value: { n: 99 } }] });
  await t.stop();
});

test("[ME-P13] who never reads again is cut off", async () => {
  const setup = await two({ maxBufferedBytes: 4_000, slowCutoffMs: 10_000 });
  const { t, ana, home } = setup;
  const stuck = await stuckReader(setup);
  for (let n = 0; n < 20; n += 1) {
    await ana.commit(home, { ops: [setOp("d", { n, filler: "x".repeat(500) })] });
  }
  await t.clock.advance(11_000);
  expect(stuck.closed).toBe("it does not read");
  expect(t.server.stats()).toMatchObject({ connections: 2, channels: 0, push: { cutOff: 1 } });
  expect(t.server.space(home).demand().size).toBe(0);
  await t.stop();
});

test("[ME-P14] the first frame follows its answer, and a session opened twice starts over", async () => {
  const { t, ana, home } = await two();
  await ana.commit(home, { ops: [setOp("d", 1)] });
  for (let round = 0; round < 2; round += 1) {
    await ana.call("space.open", { space: home, watches: [any("d")] });
    const [answer, frame] = ana.received.slice(-2);
    expect(answer).toMatchObject({ type: "ok", result: { historyId: expect.any(String) } });
    expect(frame).toMatchObject({ type: "frame", reset: true, rows: [{ value: 1 }] });
  }
  expect(t.server.space(home).liveSessions()).toBe(1);
  await t.stop();
});
