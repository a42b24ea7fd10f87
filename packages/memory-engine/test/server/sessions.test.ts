import { expect, test } from "vitest";
import {
  WIRE_VERSION,
  authMessageToSign,
  ConnectionError,
  TimeoutError,
  type CloseReason,
  type Connection,
} from "@tidemark/protocol";
import { createTestServer } from "../../src/testing/index.js";
import { setOp, STREAM, event } from "./support.js";

test("[ME-N1] a request before authentication is refused and the connection survives", async () => {
  const t = createTestServer();
  const ana = t.client("ana");
  ana.dial();
  const space = t.identity("home").did as never;
  const refused = await ana.call("space.open", { space, watches: [] });
  expect(refused).toMatchObject({ ok: false, error: { name: "AuthorizationError" } });
  expect((await ana.auth((await ana.hello()).challenge, "server.test")).ok).toBe(true);
  await t.stop();
});

test("[ME-N2] a challenge is spent by its first answer, right or wrong", async () => {
  const t = createTestServer();
  const ana = t.client("ana");
  ana.dial();
  const { challenge } = await ana.hello();
  const wrong = await ana.auth(challenge, "another.server");
  expect(wrong).toMatchObject({ ok: false, error: { name: "AuthorizationError" } });
  expect((await ana.auth(challenge, "server.test")).ok).toBe(false);
  await t.stop();
});

test("[ME-N2] a challenge of another connection is refused", async () => {
  const t = createTestServer();
  const ana = t.client("ana");
  const eve = t.client("eve");
  ana.dial();
  eve.dial();
  const { challenge } = await ana.hello();
  await eve.hello();
  expect((await eve.auth(challenge, "server.test")).ok).toBe(false);
  expect((await ana.auth(challenge, "server.test")).ok).toBe(true);
  await t.stop();
});

test("[ME-N3] a challenge lives for 60 seconds", async () => {
  const t = createTestServer();
  const [late, timely] = [t.client("ana"), t.client("ben")];
  late.dial();
  timely.dial();
  const a = await late.hello();
  const b = await timely.hello();
  await t.clock.advance(59_999);
  expect((await timely.auth(b.challenge, b.serverId)).ok).toBe(true);
  await t.clock.advance(1);
  expect((await late.auth(a.challenge, a.serverId)).ok).toBe(false);
  await t.stop();
});

test("[ME-N4] a signature for another server, principal or open is refused", async () => {
  const t = createTestServer();
  const eve = t.client("eve");
  eve.dial();
  const base = { sessionId: eve.sessionId, openNonce: "n1" };
  const principal = t.identity("ana").did;
  const forged = async (serverId: string, openNonce: string, signer: string): Promise<boolean> => {
    const { challenge } = await eve.hello();
    const text = authMessageToSign({ ...base, serverId, challenge, principal, openNonce });
    const signature = t.identity(signer).sign(text);
    return (await eve.call("auth", { ...base, principal, challenge, signature })).ok;
  };
  expect(await forged("server.test", "n1", "eve")).toBe(false);
  expect(await forged("other.server", "n1", "ana")).toBe(false);
  expect(await forged("server.test", "n2", "ana")).toBe(false);
  expect(await forged("server.test", "n1", "ana")).toBe(true);
  await t.stop();
});

test("[ME-N5] the newest open of a session wins and the other one is told", async () => {
  const t = createTestServer();
  const first = await t.connected("ana", "a1", "open-1");
  const second = await t.connected("ana", "a1", "open-2");
  expect(first.received.at(-1)).toEqual({ type: "superseded" });
  expect(first.closes).toHaveLength(1);
  expect((await second.create(t.identity("home"), { [second.identity.did]: "OWNER" })).ok).toBe(
    true,
  );
  expect(t.server.stats()).toMatchObject({ connections: 1, sessions: 1, liveSessions: 1 });
  await t.stop();
});

test("[ME-N5] the same open on another socket is a reconnect, and the old socket is inert", async () => {
  const t = createTestServer();
  const old = await t.connected("ana", "a1", "open-1");
  const again = t.client("ana", "a1", "open-1");
  expect(await again.connect()).toEqual({ ok: true, result: { resumed: true } });
  expect(old.received.some((message) => message.type === "superseded")).toBe(false);
  expect(old.closes).toHaveLength(1);
  await t.stop();
});

test("[ME-N6] what an old socket still delivers changes nothing of its successor", async () => {
  const t = createTestServer();
  const sockets: FakeSocket[] = [];
  const socket = (): FakeSocket => {
    const made = new FakeSocket();
    sockets.push(made);
    t.server.accept(made);
    return made;
  };
  const ana = t.identity("ana");
  const open = async (on: FakeSocket): Promise<void> => {
    on.say({ type: "hello", version: WIRE_VERSION });
    const { challenge, serverId } = JSON.parse(on.sent.at(-1) as string);
    const fields = { principal: ana.did, sessionId: "a1" as never, openNonce: "n1" };
    const signature = ana.sign(authMessageToSign({ ...fields, serverId, challenge }));
    on.say({ type: "auth", req: 1, ...fields, challenge, signature });
    await t.run();
  };
  const old = socket();
  await open(old);
  const next = socket();
  await open(next);
  const said = old.sent.length;
  // A real socket may still deliver what it had read, and report its close late.
  old.say({ type: "logout", req: 2 });
  old.close();
  old.ended?.({ code: 1006, reason: "lost" });
  await t.run();
  expect(old.sent).toHaveLength(said);
  expect(next.closed).toBe(false);
  expect(t.server.stats()).toMatchObject({ sessions: 1, liveSessions: 1, connections: 1 });
  await t.stop();
});

test("[ME-N7] logout ends the session on its connection and in every space", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const [home, away] = [await t.space("home", ana), await t.space("away", ana)];
  const watches = [{ id: "w", root: { id: "node:a" as never } }];
  await ana.call("space.open", { space: home, watches });
  await ana.call("space.open", { space: away, watches });
  expect(t.server.space(home).demand().size).toBe(1);
  expect((await ana.call("logout", {})).ok).toBe(true);
  expect(ana.closes).toHaveLength(1);
  for (const space of [home, away]) {
    expect(t.server.space(space).demand().size).toBe(0);
    expect(t.server.space(space).liveSessions()).toBe(0);
  }
  expect(t.server.stats()).toMatchObject({ sessions: 0, channels: 0, tracked: 0 });
  await t.stop();
});

test("[ME-N8] a session that was absent for 30 days has ended", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  await ana.disconnect();
  expect(t.server.stats().sessions).toBe(1);
  await t.clock.advance(31 * 86_400_000);
  await t.connected("ben");
  expect(t.server.stats().sessions).toBe(1);
  const back = t.client("ana");
  expect(await back.connect()).toEqual({ ok: true, result: { resumed: false } });
  await t.stop();
});

test("[ME-N9] a connection never changes hands", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  ana.raw(JSON.stringify({ type: "hello", version: WIRE_VERSION }));
  await t.run();
  expect(ana.received.at(-1)).toMatchObject({ type: "error", error: { name: "ProtocolError" } });
  await t.stop();
});

test("[ME-N10] messages of a session keep their order behind a held append", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const ben = await t.connected("ben");
  const home = await t.space("home", ana, { [ben.identity.did]: "WRITE" });
  t.gates.hold("append:before-admit", { event: "e1" });
  const entry = { eventId: event("e1"), payload: null };
  const held = ana.post("append", {
    space: home,
    append: { localSeq: ana.localSeq(), stream: STREAM, entry },
  });
  const behind = ana.post("commit", {
    space: home,
    commit: { localSeq: ana.localSeq(), reads: [], ops: [setOp("a", 1)] },
  });
  await t.run();
  expect(ana.answerTo(held)).toBeUndefined();
  expect(ana.answerTo(behind)).toBeUndefined();
  expect(await ben.commit(home, { ops: [setOp("b", 1)] })).toMatchObject({ result: { seq: 2 } });
  t.gates.release("append:before-admit");
  await t.run();
  expect(ana.answerTo(held)).toMatchObject({ result: { seq: 3 } });
  expect(ana.answerTo(behind)).toMatchObject({ result: { seq: 4 } });
  await t.stop();
});

test("[ME-N10] an append that its gate fails is refused with that error and holds nobody", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  t.gates.fail("append:before-admit", new TimeoutError("held too long", {}));
  expect(await ana.append(home, STREAM, { eventId: event("e1") })).toMatchObject({
    ok: false,
    error: { name: "TimeoutError" },
  });
  expect((await ana.append(home, STREAM, { eventId: event("e1") })).ok).toBe(true);
  await t.stop();
});

test("[ME-N10] an append that is let go after the server stopped opens no store", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  t.gates.hold("append:before-admit");
  ana.post("append", {
    space: home,
    append: {
      localSeq: ana.localSeq(),
      stream: STREAM,
      entry: { eventId: event("e1"), payload: 1 },
    },
  });
  await t.run();
  await t.stop();
  t.gates.open();
  await t.run();
  expect(t.server.stats().openSpaces).toBe(0);
  expect(() => t.server.space(home)).toThrow(ConnectionError);
});

test("[ME-N6] an append that is let go after its connection went is admitted, unless another one followed", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana, { "*": "WRITE" });
  const letGo = async (id: string, then: () => Promise<unknown>): Promise<number> => {
    t.gates.hold("append:before-admit", { event: id });
    const ben = await t.connected("ben", `of-${id}`);
    const entry = { eventId: event(id), payload: null };
    ben.post("append", {
      space: home,
      append: { localSeq: ben.localSeq(), stream: STREAM, entry },
    });
    await t.run();
    await ben.disconnect();
    await then();
    t.gates.release("append:before-admit");
    await t.run();
    return t.server.space(home).engine.entries.byEvent(STREAM, event(id)).length;
  };
  const logout = async (): Promise<void> => {
    const back = await t.connected("ben", "of-e3");
    await back.call("logout", {});
  };
  expect(await letGo("e1", () => Promise.resolve())).toBe(1);
  expect(await letGo("e2", () => t.connected("ben", "of-e2"))).toBe(0);
  expect(await letGo("e3", logout)).toBe(0);
  await t.stop();
});

test("[ME-N11] malformed, oversized and deep messages get a typed error and the next one is served", async () => {
  const t = createTestServer({ policy: { maxMessageBytes: 4_096 } });
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  const deep = `{"type":"commit","req":77,"space":"${home}","commit":{"localSeq":1,"reads":[],"ops":[{"op":"set","id":"node:a","value":${"[".repeat(200)}${"]".repeat(200)}}]}}`;
  const hostile = [
    "not json",
    "[]",
    '{"type":"nonsense","req":1}',
    `{"type":"ping","pad":"${"x".repeat(5_000)}"}`,
    deep,
    `{"type":"logout","req":78,"class":"derived"}`,
  ];
  for (const text of hostile) {
    ana.raw(text);
    await t.run();
    expect(ana.received.at(-1)).toMatchObject({ type: "error" });
  }
  expect(ana.answerTo(77)).toMatchObject({ ok: false });
  expect((await ana.commit(home, { ops: [setOp("a", 1)] })).ok).toBe(true);
  const { refused } = t.server.stats();
  expect((refused["protocol"] ?? 0) + (refused["limit"] ?? 0)).toBe(hostile.length);
  await t.stop();
});

test("[ME-N11] a connection that says nothing well formed is closed in the end", async () => {
  const t = createTestServer({ policy: { maxMalformedInRow: 3 } });
  const ana = await t.connected("ana");
  for (let i = 0; i < 5; i += 1) ana.raw("rubbish");
  await t.run();
  expect(ana.closes).toHaveLength(1);
  expect(t.server.stats().connections).toBe(0);
  await t.stop();
});

test("[ME-N12] sessions, watches, senders and timers return to what they were", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  const before = t.server.stats();
  const timers = t.clock.pendingTimers();
  for (let round = 0; round < 50; round += 1) {
    const ben = await t.connected("ben", "b1", `open-${round}`);
    await ana.commit(home, { ops: [setOp("a", round)] });
    await ana.call("space.open", { space: home, watches: [{ id: "w", pieces: true }] });
    await ana.append(home, STREAM, { eventId: event(`e${round}`) });
    await ben.disconnect();
    await ana.call("space.close", { space: home });
  }
  const after = t.server.stats();
  expect(after).toMatchObject({ connections: 1, channels: 0, tracked: 0, waitingSenders: 0 });
  expect(after.timers).toBe(before.timers);
  expect(t.clock.pendingTimers()).toBe(timers);
  await t.stop();
  expect(t.clock.pendingTimers()).toBe(0);
});

test("[ME-N21] who handed a connection over is told of its session, once, before the answer", async () => {
  const t = createTestServer();
  const socket = new FakeSocket();
  const told: number[] = [];
  t.server.accept(socket, () => void told.push(socket.sent.length));
  const identity = t.identity("ana");
  const attempt = (signer: string): void => {
    socket.say({ type: "hello", version: WIRE_VERSION });
    const { challenge } = JSON.parse(socket.sent.at(-1) ?? "") as { challenge: string };
    const open = {
      principal: identity.did,
      sessionId: "ana1" as never,
      openNonce: "n1",
      challenge,
    };
    const text = authMessageToSign({ ...open, serverId: "server.test" });
    socket.say({ type: "auth", req: 1, ...open, signature: t.identity(signer).sign(text) });
  };
  attempt("eve");
  expect([told, socket.sent.length]).toEqual([[], 2]);
  attempt("ana");
  expect([told, socket.sent.length]).toEqual([[3], 4]);
  socket.say({ type: "ping" });
  socket.say({ type: "hello", version: WIRE_VERSION });
  expect(told).toEqual([3]);
  await t.stop();
});

/** A socket whose events a test makes itself. */
class FakeSocket implements Connection {
  readonly sent: string[] = [];
  readonly bufferedBytes = 0;
  closed = false;
  ended: ((why: CloseReason) => void) | undefined;
  #message: ((text: string) => void) | undefined;

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.closed = true;
  }

  onMessage(fn: (text: string) => void): void {
    this.#message = fn;
  }

  onClose(fn: (why: CloseReason) => void): void {
    this.ended = fn;
  }

  say(message: object): void {
    this.#message?.(JSON.stringify(message));
  }
}
