import { expect, test } from "vitest";
import {
  ACL_DOC,
  EFFECTS_DOC,
  sessionScopeKey,
  SPACE_SCOPE_KEY,
  userScopeKey,
  WATERMARK_DOC,
  ATTENTION_DOC,
  type AuthoredCommit,
  type DocId,
  type JsonValue,
  type SpaceId,
} from "@tidemark/protocol";
import { createTestServer, type TestClient, type TestServer } from "../../src/testing/index.js";
import { derive, doc, event, seq, setOp, STREAM } from "./support.js";

async function withHome(
  acl: (t: TestServer) => Readonly<Record<string, string>> = () => ({}),
): Promise<{ t: TestServer; ana: TestClient; home: SpaceId }> {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana, acl(t));
  return { t, ana, home };
}

function writers(...names: string[]): (t: TestServer) => Record<string, string> {
  return (t) => Object.fromEntries(names.map((name) => [t.identity(name).did, "WRITE"]));
}

function valueOf(t: TestServer, space: SpaceId, id: DocId, scopeKey = SPACE_SCOPE_KEY): unknown {
  return t.server.space(space).engine.read(id, scopeKey).value;
}

const patch = (name: string, ops: JsonValue): never =>
  ({ op: "patch", id: doc(name), value: ops }) as never;

test("[ME-A1] a commit's reads are current per document and path (ADM-01, ADM-02)", async () => {
  const { t, ana, home } = await withHome();
  await ana.commit(home, { ops: [setOp("d", { a: 1, b: 2 })] });
  await ana.commit(home, { ops: [patch("d", [{ op: "add", path: ["c"], value: 3 }])] });
  const read = (path: string[]): AuthoredCommit["reads"] => [
    { id: doc("d"), path, seq: seq(2), kind: "value" },
  ];
  const add = [patch("d", [{ op: "add", path: ["d"], value: 4 }])];
  const stale = await ana.commit(home, { reads: read(["c"]), ops: add });
  expect(stale).toMatchObject({
    ok: false,
    error: {
      name: "ConflictError",
      details: { conflicts: [{ id: doc("d"), readSeq: 2, conflictingSeq: 3 }] },
    },
  });
  expect((await ana.commit(home, { reads: read([]), ops: add })).ok).toBe(false);
  expect(await ana.commit(home, { reads: read(["a"]), ops: add })).toMatchObject({
    result: { seq: 4 },
  });
  expect(valueOf(t, home, doc("d"))).toEqual({ a: 1, b: 2, c: 3, d: 4 });
  await t.stop();
});

test("[ME-A1] conflicts are per instance: one id, three scopes, three values (ADM-08)", async () => {
  const { t, ana, home } = await withHome(writers("ben"));
  const ben = await t.connected("ben");
  await ben.commit(home, { ops: [setOp("s", "ben's", "user")] });
  const mine = await ana.commit(home, {
    reads: [{ id: doc("s"), scope: "user", path: [], seq: seq(1), kind: "value" }],
    ops: [setOp("s", "ana's", "user"), setOp("s", "tab", "session"), setOp("s", "all")],
  });
  expect(mine.ok).toBe(true);
  const did = ana.identity.did;
  expect(valueOf(t, home, doc("s"), userScopeKey(did))).toBe("ana's");
  expect(valueOf(t, home, doc("s"), sessionScopeKey(did, ana.sessionId))).toBe("tab");
  expect(valueOf(t, home, doc("s"), userScopeKey(ben.identity.did))).toBe("ben's");
  expect(valueOf(t, home, doc("s"))).toBe("all");
  await t.stop();
});

test("[ME-A1] a read of a seq that the space has not reached is refused", async () => {
  const { t, ana, home } = await withHome();
  const future = await ana.commit(home, {
    reads: [{ id: doc("d"), path: [], seq: seq(99), kind: "value" }],
    ops: [setOp("d", 1)],
  });
  expect(future).toMatchObject({ ok: false, error: { name: "ProtocolError" } });
  await t.stop();
});

test("[ME-A2] a resubmission is answered and not applied again; another body is refused (ADM-07)", async () => {
  const { t, ana, home } = await withHome();
  const commit = { localSeq: 7 as never, ops: [patch("n", [])] };
  const counted = { ...commit, ops: [setOp("n", 1)] };
  const first = await ana.commit(home, counted);
  expect(await ana.commit(home, counted)).toEqual(first);
  expect(await ana.commit(home, { ...counted, ops: [setOp("n", 2)] })).toMatchObject({
    ok: false,
    error: { name: "ProtocolError" },
  });
  const appended = await ana.append(home, STREAM, { eventId: event("e") }, 8 as never);
  expect(await ana.append(home, STREAM, { eventId: event("e") }, 8 as never)).toEqual(appended);
  expect(await ana.append(home, STREAM, { eventId: event("f") }, 7 as never)).toMatchObject({
    ok: false,
  });
  expect(t.server.space(home).engine.head()).toBe(3);
  expect(t.server.stats().replays).toBe(2);
  await t.stop();
});

test("[ME-A2] a replay is answered before authority, and after a reconnect of the same open", async () => {
  const { t, ana, home } = await withHome(writers("ben"));
  const ben = await t.connected("ben", "b1", "open-1");
  const request = { localSeq: 1 as never, ops: [setOp("n", 1)] };
  const first = await ben.commit(home, request);
  await ana.commit(home, {
    ops: [{ op: "set", id: ACL_DOC, value: { [ana.identity.did]: "OWNER" } }],
  });
  expect((await ben.commit(home, { ops: [setOp("n", 2)] })).ok).toBe(false);
  const again = await t.connected("ben", "b1", "open-1");
  expect(await again.commit(home, request)).toEqual(first);
  const fresh = await t.connected("ben", "b1", "open-2");
  expect((await fresh.commit(home, request)).ok).toBe(false);
  await t.stop();
});

test("[ME-A3] an append is stamped from the session, whatever the client says (ADM-10, ADM-11)", async () => {
  const { t, ana, home } = await withHome();
  const user = ana.identity.did;
  await ana.append(home, STREAM, { eventId: event("e1"), clientSeq: 4, payload: { x: 1 } });
  const stored = (id: string) => t.server.space(home).engine.entries.byEvent(STREAM, event(id));
  expect(stored("e1")).toMatchObject([
    { seq: 2, index: 0, firedAt: { user, session: "ana1", clientSeq: 4 }, payload: { x: 1 } },
  ]);
  const forged = [
    { user: t.identity("ben").did, session: ana.sessionId },
    { user, session: "ana2" as never },
    { user, session: ana.sessionId, clientSeq: 9 },
    { session: ana.sessionId },
  ];
  for (const firedAt of forged) {
    const refused = await ana.append(home, STREAM, { eventId: event("e2"), firedAt });
    expect(refused).toMatchObject({ ok: false, error: { name: "ProtocolError" } });
  }
  expect(stored("e2")).toEqual([]);
  const truth = { user, session: ana.sessionId };
  expect((await ana.append(home, STREAM, { eventId: event("e2"), firedAt: truth })).ok).toBe(true);
  await t.stop();
});

test("[ME-A4] an event id is taken until the frontier passes its entry (ADM-12)", async () => {
  const { t, ana, home } = await withHome();
  await ana.append(home, STREAM, { eventId: event("e1") });
  expect(await ana.append(home, STREAM, { eventId: event("e1") })).toMatchObject({
    ok: false,
    error: { name: "DuplicateEventError", details: { eventId: "e1", seq: 2 } },
  });
  derive(t, home, {
    marks: [{ stream: STREAM, seq: seq(2), index: 0, eventId: event("e1") }],
    frontiers: [{ stream: STREAM, seq: seq(2) }],
  });
  expect(await ana.append(home, STREAM, { eventId: event("e1") })).toMatchObject({
    result: { seq: 4 },
  });
  await t.stop();
});

test("[ME-A4] the same id twice in one transaction is admitted once", async () => {
  const { t, ana, home } = await withHome();
  const body = (): object => ({
    space: home,
    append: {
      localSeq: ana.localSeq(),
      stream: STREAM,
      entry: { eventId: event("e1"), payload: null },
    },
  });
  const [a, b] = [ana.post("append", body() as never), ana.post("append", body() as never)];
  await t.run();
  expect(ana.answerTo(a)).toMatchObject({ ok: true });
  expect(ana.answerTo(b)).toMatchObject({ ok: false, error: { name: "DuplicateEventError" } });
  await t.stop();
});

test("[ME-A5] no client writes processing state or identity into an entry (ADM-14, ADM-20)", async () => {
  const { t, ana, home } = await withHome();
  const forged: Record<string, unknown>[] = [
    { seq: 9 },
    { consequenced: true },
    { error: "x" },
    { status: "dropped" },
    { attention: {} },
    { resolution: {} },
    { duplicate: true },
    { appendedAt: 1 },
    { rendererTrusted: false },
  ];
  for (const fields of forged) {
    const entry = { eventId: event("e1"), ...fields } as never;
    expect(await ana.append(home, STREAM, entry)).toMatchObject({
      ok: false,
      error: { name: "ProtocolError" },
    });
  }
  for (const fields of [
    { class: "derived" },
    { holder: "server:test" },
    { derivedThrough: 5 },
    { consequenceOf: ["e1"] },
    { ops: [{ op: "set", id: doc("a"), value: 1, scopeKey: "user:x" }] },
  ]) {
    expect(await ana.commit(home, fields as never)).toMatchObject({
      ok: false,
      error: { name: "ProtocolError" },
    });
  }
  expect(t.server.space(home).engine.head()).toBe(1);
  await t.stop();
});

test("[ME-A6] a stream admits no authored set, patch or delete, and events go to streams alone (ADM-13)", async () => {
  const { t, ana, home } = await withHome();
  await ana.append(home, STREAM, { eventId: event("e1") });
  const writes = [
    { op: "set", id: STREAM, value: [] },
    { op: "patch", id: STREAM, value: [{ op: "append", path: [], value: {} }] },
    { op: "delete", id: STREAM },
  ];
  for (const op of writes) {
    expect(await ana.commit(home, { ops: [op as never] })).toMatchObject({
      ok: false,
      error: { name: "ProtocolError" },
    });
  }
  expect(await ana.append(home, doc("d"), { eventId: event("e2") })).toMatchObject({
    ok: false,
    error: { name: "ProtocolError" },
  });
  await t.stop();
});

test("[ME-A7] reserved documents admit what the protocol names and nothing else (R35)", async () => {
  const { t, ana, home } = await withHome();
  const refused = [
    { op: "set", id: WATERMARK_DOC, value: { seq: 99 } },
    { op: "set", id: ATTENTION_DOC, value: {} },
    { op: "set", id: "sys:other", value: 1 },
    { op: "set", id: EFFECTS_DOC, scope: "session", value: { entries: [] } },
    {
      op: "patch",
      id: EFFECTS_DOC,
      scope: "session",
      value: [{ op: "replace", path: ["entries"], value: [] }],
    },
    {
      op: "patch",
      id: EFFECTS_DOC,
      scope: "user",
      value: [{ op: "replace", path: ["acks", "n"], value: true }],
    },
  ];
  for (const op of refused) {
    expect(await ana.commit(home, { ops: [op as never] })).toMatchObject({
      ok: false,
      error: { name: "ProtocolError" },
    });
  }
  const scopeKey = sessionScopeKey(ana.identity.did, ana.sessionId);
  derive(t, home, {
    changes: [{ id: EFFECTS_DOC, scopeKey, op: { op: "set", value: { entries: [], acks: {} } } }],
  });
  const ack = {
    op: "patch",
    id: EFFECTS_DOC,
    scope: "session",
    value: [{ op: "replace", path: ["acks", "n1"], value: true }],
  };
  expect((await ana.commit(home, { ops: [ack as never] })).ok).toBe(true);
  expect(valueOf(t, home, EFFECTS_DOC, scopeKey)).toEqual({ entries: [], acks: { n1: true } });
  await t.stop();
});

test("[ME-A8] the access list decides at every door", async () => {
  const { t, ana, home } = await withHome((on) => ({
    [on.identity("reader").did]: "READ",
    [on.identity("writer").did]: "WRITE",
    streams: { [STREAM]: { [on.identity("sender").did]: "APPEND" } } as never,
  }));
  const [reader, writer, sender, stranger] = await Promise.all(
    ["reader", "writer", "sender", "stranger"].map((name) => t.connected(name)),
  );
  const doors = async (client: TestClient | undefined): Promise<boolean[]> => {
    if (client === undefined) return [];
    const aclChange = { op: "set", id: ACL_DOC, value: { [client.identity.did]: "OWNER" } };
    const id = event(`e-${client.sessionId}`);
    return [
      (await client.call("space.open", { space: home, watches: [] })).ok,
      (await client.commit(home, { ops: [setOp("a", 1)] })).ok,
      (await client.append(home, STREAM, { eventId: id })).ok,
      (await client.append(home, "stream:other" as DocId, { eventId: id })).ok,
      (await client.commit(home, { ops: [aclChange as never] })).ok,
    ];
  };
  expect(await doors(stranger)).toEqual([false, false, false, false, false]);
  expect(await doors(sender)).toEqual([false, false, true, false, false]);
  expect(await doors(reader)).toEqual([true, false, false, false, false]);
  expect(await doors(writer)).toEqual([true, true, true, true, false]);
  const denied = await stranger?.commit(home, { ops: [setOp("a", 1)] });
  expect(denied).toMatchObject({
    error: { name: "AuthorizationError", details: { permanentEvidence: true, aclRevision: 1 } },
  });
  expect(await ana.commit(home, { ops: [setOp("a", 2)] })).toMatchObject({ ok: true });
  await t.stop();
});

test("[ME-A9] an owner changes the access list, and a space keeps an owner", async () => {
  const { t, ana, home } = await withHome();
  const change = (op: object): Promise<{ ok: boolean }> =>
    ana.commit(home, { ops: [{ id: ACL_DOC, ...op } as never] });
  expect((await change({ op: "delete" })).ok).toBe(false);
  expect((await change({ op: "set", value: {} })).ok).toBe(false);
  expect((await change({ op: "set", value: { "*": "OWNER" } })).ok).toBe(false);
  expect((await change({ op: "set", value: { [ana.identity.did]: "KING" } })).ok).toBe(false);
  expect(
    (await change({ op: "patch", value: [{ op: "remove", path: [ana.identity.did] }] })).ok,
  ).toBe(false);
  const ben = t.identity("ben").did;
  expect(
    (await change({ op: "patch", value: [{ op: "add", path: [ben], value: "READ" }] })).ok,
  ).toBe(true);
  expect(valueOf(t, home, ACL_DOC)).toEqual({ [ana.identity.did]: "OWNER", [ben]: "READ" });
  await t.stop();
});

test("[ME-A10] a space begins with a genesis that its own key signed, once (R31)", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const key = t.identity("home");
  const space = key.did as unknown as SpaceId;
  const acl = { [ana.identity.did]: "OWNER" } as const;
  const forged = await ana.call("space.create", {
    space,
    acl,
    signature: t.identity("eve").sign("x"),
  });
  expect(forged).toMatchObject({ ok: false, error: { name: "AuthorizationError" } });
  expect(t.server.exists(space)).toBe(false);
  expect((await ana.create(key, { "*": "OWNER" })).ok).toBe(false);
  expect(await ana.create(key, acl)).toMatchObject({ result: { seq: 1 } });
  await ana.commit(space, { ops: [setOp("a", 1)] });
  expect(await ana.create(key, acl)).toMatchObject({ result: { seq: 1 } });
  expect((await ana.create(key, { [t.identity("ben").did]: "OWNER" })).ok).toBe(false);
  expect(t.server.space(space).engine.head()).toBe(2);
  await t.stop();
});

test("[ME-A10] a space that has not begun is not made by naming it", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const space = t.identity("nowhere").did as unknown as SpaceId;
  expect((await ana.call("space.open", { space, watches: [] })).ok).toBe(false);
  expect((await ana.commit(space, { ops: [setOp("a", 1)] })).ok).toBe(false);
  expect((await ana.append(space, STREAM, { eventId: event("e") })).ok).toBe(false);
  expect(t.server.exists(space)).toBe(false);
  await t.stop();
});

test("[ME-A11] a failed precondition is named by its index and nothing is applied (ADM-22)", async () => {
  const { t, ana, home } = await withHome();
  await ana.commit(home, { ops: [setOp("r", 1)] });
  const preconditions = [
    { kind: "create-only", id: doc("new") },
    { kind: "create-only", id: doc("r") },
  ] as never;
  const refused = await ana.commit(home, { preconditions, ops: [setOp("x", 1), setOp("y", 2)] });
  expect(refused).toMatchObject({ error: { name: "PreconditionError", details: { index: 1 } } });
  expect(await ana.commit(home, { preconditions })).toMatchObject({ ok: false });
  expect(valueOf(t, home, doc("x"))).toBeUndefined();
  await t.stop();
});

test("[ME-A12] requests of one macrotask share a transaction, each with its own verdict (R34)", async () => {
  const { t, ana, home } = await withHome();
  const before = t.server.stats().groups;
  const reqs: number[] = [];
  // Sent before anything runs, they arrive one by one; the gate lets them go together.
  t.gates.hold("append:before-admit");
  const append = (id: string): number =>
    ana.post("append", {
      space: home,
      append: {
        localSeq: ana.localSeq(),
        stream: STREAM,
        entry: { eventId: event(id), payload: 1 },
      },
    });
  reqs.push(append("e0"));
  for (let n = 1; n <= 5; n += 1) reqs.push(append(`e${n % 4}`));
  await t.run();
  t.gates.release("append:before-admit");
  await t.run();
  expect(reqs.map((req) => ana.answerTo(req)?.ok)).toEqual([true, true, true, true, false, false]);
  expect(t.server.stats().groups - before).toBe(1);
  expect(t.server.space(home).engine.head()).toBe(5);
  await t.stop();
});

test("[ME-A13] a patch that does not apply is refused and leaves its neighbours alone", async () => {
  const { t, ana, home } = await withHome();
  await ana.commit(home, { ops: [setOp("d", "text")] });
  const refused = await ana.commit(home, {
    ops: [setOp("e", 1), patch("d", [{ op: "increment", path: [], value: 1 }])],
  });
  expect(refused).toMatchObject({ ok: false, error: { name: "PatchError" } });
  expect(valueOf(t, home, doc("e"))).toBeUndefined();
  await t.stop();
});
