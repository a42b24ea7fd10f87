import { expect, test } from "vitest";
import {
  AuthorizationError,
  ConflictError,
  TimeoutError,
  type Acl,
  type EventId,
  type LocalSeq,
  type SpaceId,
} from "@tidemark/protocol";
import {
  createTestServer,
  failingStore,
  type TestClient,
  type TestServer,
  type TestServerOptions,
} from "../../src/testing/index.js";
import { event, setOp, STREAM } from "./support.js";

const OUT_OF_TURN = { ok: false, error: { name: "TidemarkError", code: "out-of-turn" } };
const OTHER = "stream:other" as typeof STREAM;

/** Numbers as the sender gives them: event `e3` is always local number 3. */
class Sender {
  readonly client: TestClient;
  readonly #t: TestServer;
  readonly #space: SpaceId;

  constructor(t: TestServer, client: TestClient, space: SpaceId) {
    this.#t = t;
    this.client = client;
    this.#space = space;
  }

  post(n: number, stream = STREAM): number {
    const entry = { eventId: event(`e${n}`), payload: null };
    const append = { localSeq: n as LocalSeq, stream, entry };
    return this.client.post("append", { space: this.#space, append });
  }

  /** Sends all of them before anything runs. */
  async send(...numbers: number[]): Promise<unknown[]> {
    const reqs = numbers.map((n) => this.post(n));
    await this.#t.run();
    return reqs.map((req) => codeOf(this.client.answerTo(req)));
  }
}

function codeOf(answer: unknown): unknown {
  const { ok, error } = answer as { ok: boolean; error?: { code: string } };
  return ok ? "ok" : error?.code;
}

async function setup(options: TestServerOptions = {}): Promise<{
  t: TestServer;
  home: SpaceId;
  ana: TestClient;
  ben: Sender;
  stored: () => EventId[];
}> {
  const t = createTestServer(options);
  const ana = await t.connected("ana");
  const home = await t.space("home", ana, { "*": "WRITE" });
  const ben = new Sender(t, await t.connected("ben"), home);
  const stored = (): EventId[] =>
    t.server
      .space(home)
      .engine.entries.list(STREAM, {})
      .map((entry) => entry.eventId);
  return { t, home, ana, ben, stored };
}

/** The next append is turned away for now. */
function turnAway(t: TestServer, n: number): void {
  t.gates.fail("append:before-admit", new TimeoutError("not now"), { event: `e${n}` });
}

test("[ME-N15] what was sent behind an append that is refused for now is refused too, until that one is in", async () => {
  const { t, ben, stored } = await setup();
  turnAway(t, 1);
  expect(await ben.send(1, 2, 3)).toEqual(["timeout", "out-of-turn", "out-of-turn"]);
  expect(await ben.send(1, 2, 3)).toEqual(["ok", "ok", "ok"]);
  expect(stored()).toEqual(["e1", "e2", "e3"]);
  await t.stop();
});

test("[ME-N15] all of them stand: once the first is in, the second is still before the fourth", async () => {
  const { t, ben, stored } = await setup();
  turnAway(t, 1);
  await ben.send(1, 2, 3);
  expect(await ben.send(1, 4)).toEqual(["ok", "out-of-turn"]);
  expect(await ben.send(3, 2, 4)).toEqual(["out-of-turn", "ok", "out-of-turn"]);
  expect(await ben.send(3, 4)).toEqual(["ok", "ok"]);
  expect(stored()).toEqual(["e1", "e2", "e3", "e4"]);
  await t.stop();
});

test("[ME-N15] the refusal says which event it waits for, and travels under its code", async () => {
  const { t, ben } = await setup();
  turnAway(t, 1);
  await ben.send(1);
  const req = ben.post(2);
  await t.run();
  expect(ben.client.answerTo(req)).toMatchObject(OUT_OF_TURN);
  expect(JSON.stringify(ben.client.answerTo(req))).toMatch(/e2 \(local number 2\) waits for e1/);
  expect(t.server.stats().refused).toMatchObject({ timeout: 1, "out-of-turn": 1 });
  await t.stop();
});

test("[ME-N15] appends of one transaction are judged by the verdicts before them", async () => {
  const failures = [true];
  const wrap = failingStore({ commit: () => settled && failures.shift() === true });
  let settled = false;
  const { t, ben, stored } = await setup({ wrap });
  settled = true;
  t.gates.hold("append:before-admit", { event: "e1" });
  const reqs = [1, 2, 3].map((n) => ben.post(n));
  await t.run();
  const before = t.server.stats().groups;
  t.gates.release("append:before-admit");
  await t.run();
  expect(t.server.stats().groups - before).toBe(1);
  expect(reqs.map((req) => codeOf(ben.client.answerTo(req)))).toEqual([
    "storage",
    "out-of-turn",
    "out-of-turn",
  ]);
  expect(await ben.send(1, 2, 3)).toEqual(["ok", "ok", "ok"]);
  expect(stored()).toEqual(["e1", "e2", "e3"]);
  await t.stop();
});

test("[ME-N15] a transaction that fails as a whole leaves the order as it was told", async () => {
  const failures: boolean[] = [];
  const wrap = failingStore({ transaction: () => failures.shift() === true });
  const { t, ben, stored } = await setup({ wrap });
  turnAway(t, 1);
  await ben.send(1);
  // Within the transaction e1 is in and e2 behind it; then neither is.
  t.gates.hold("append:before-admit", { event: "e1" });
  const reqs = [1, 2].map((n) => ben.post(n));
  await t.run();
  failures.push(true);
  t.gates.release("append:before-admit");
  await t.run();
  expect(reqs.map((req) => codeOf(ben.client.answerTo(req)))).toEqual(["storage", "storage"]);
  expect(await ben.send(3)).toEqual(["out-of-turn"]);
  expect(await ben.send(1, 3)).toEqual(["ok", "out-of-turn"]);
  expect(await ben.send(2, 3)).toEqual(["ok", "ok"]);
  expect(stored()).toEqual(["e1", "e2", "e3"]);
  await t.stop();
});

test("[ME-N15] an append to a space that has not begun stands before those that come once it has", async () => {
  const t = createTestServer();
  const [ana, client] = [await t.connected("ana"), await t.connected("ben")];
  const key = t.identity("home");
  const home = key.did as unknown as SpaceId;
  const ben = new Sender(t, client, home);
  expect(await ben.send(1)).toEqual(["unauthorized"]);
  await ana.create(key, { [ana.identity.did]: "OWNER", "*": "WRITE" } as Acl);
  expect(await ben.send(2)).toEqual(["out-of-turn"]);
  expect(await ben.send(1, 2)).toEqual(["ok", "ok"]);
  await t.stop();
});

test("[ME-N16] a final refusal lets the later ones go: a proven denial, wrong input, a duplicate", async () => {
  const { t, home, ana, ben, stored } = await setup();
  const owner = { [ana.identity.did]: "OWNER" };
  const lists = [owner, { ...owner, "*": "WRITE" }] as const;
  const grant = (acl: Record<string, string>): unknown =>
    ana.commit(home, { ops: [{ op: "set", id: "sys:acl", value: acl } as never] });

  turnAway(t, 1);
  expect(await ben.send(1, 2)).toEqual(["timeout", "out-of-turn"]);
  await grant(lists[0]);
  // Denied for good, and e2 is nobody's later one any more: it has a verdict of its own.
  expect(await ben.send(1, 2)).toEqual(["unauthorized", "unauthorized"]);
  await grant(lists[1]);
  expect(await ben.send(3)).toEqual(["ok"]);

  turnAway(t, 4);
  await ben.send(4, 5);
  t.gates.fail("append:before-admit", new ConflictError("wrong", { conflicts: [] }));
  expect(await ben.send(4, 5)).toEqual(["conflict", "ok"]);

  turnAway(t, 6);
  await ben.send(6, 7);
  await ana.append(home, STREAM, { eventId: event("e6") });
  expect(await ben.send(6, 7)).toEqual(["duplicate-event", "ok"]);
  expect(stored()).toEqual(["e3", "e5", "e6", "e7"]);
  await t.stop();
});

test("[ME-N16] it is the event that stands: sent under a new number it keeps its place", async () => {
  const { t, home, ben, stored } = await setup();
  turnAway(t, 1);
  await ben.send(1, 2);
  const again = (id: string, n: number): Promise<unknown> =>
    ben.client.append(home, STREAM, { eventId: event(id) }, n as LocalSeq);
  expect(codeOf(await again("e2", 10))).toBe("out-of-turn");
  expect(codeOf(await again("e1", 11))).toBe("ok");
  expect(codeOf(await again("e2", 12))).toBe("ok");
  expect(stored()).toEqual(["e1", "e2"]);
  await t.stop();
});

test("[ME-N16] closing the space ends the wait, and a new connection; opening the space again does not", async () => {
  const { t, home, ben, stored } = await setup();
  const open = (): Promise<unknown> => ben.client.call("space.open", { space: home, watches: [] });
  await open();
  turnAway(t, 1);
  await ben.send(1);
  await open();
  expect(await ben.send(2)).toEqual(["out-of-turn"]);
  await ben.client.call("space.close", { space: home });
  expect(await ben.send(3)).toEqual(["ok"]);
  turnAway(t, 4);
  expect(await ben.send(4, 5)).toEqual(["timeout", "out-of-turn"]);
  await ben.client.disconnect();
  await ben.client.connect();
  expect(await ben.send(6)).toEqual(["ok"]);
  expect(stored()).toEqual(["e3", "e6"]);
  await t.stop();
});

test("[ME-N17] nothing else waits: other streams, spaces, sessions, and commits", async () => {
  const { t, home, ana, ben } = await setup();
  const away = await t.space("away", ana, { "*": "WRITE" });
  turnAway(t, 1);
  await ben.send(1);
  const req = ben.post(2, OTHER);
  await t.run();
  expect(codeOf(ben.client.answerTo(req))).toBe("ok");
  expect(await new Sender(t, ben.client, away).send(3)).toEqual(["ok"]);
  expect(
    (await ben.client.commit(home, { ops: [setOp("a", 1)], localSeq: 4 as LocalSeq })).ok,
  ).toBe(true);
  const twin = await t.connected("ben", "b2");
  expect(await new Sender(t, twin, home).send(5)).toEqual(["ok"]);
  expect(await ben.send(6)).toEqual(["out-of-turn"]);
  await t.stop();
});

test("[ME-N18] a sender that goes on without sending again is cut off, and may come back", async () => {
  const { t, ben, stored } = await setup({ policy: { maxStandingAppends: 3 } });
  t.gates.fail("append:before-admit", new AuthorizationError("not now"));
  expect(await ben.send(1, 2, 3)).toEqual(["unauthorized", "out-of-turn", "out-of-turn"]);
  expect(ben.client.closes).toEqual([]);
  // Sent again, still refused: it is the same event that stands.
  expect(await ben.send(3)).toEqual(["out-of-turn"]);
  ben.post(4);
  await t.run();
  expect(ben.client.closes).toMatchObject([{ code: 4008 }]);
  await ben.client.connect();
  expect(await ben.send(1, 2, 3, 4)).toEqual(["ok", "ok", "ok", "ok"]);
  expect(stored()).toEqual(["e1", "e2", "e3", "e4"]);
  await t.stop();
});

test("[ME-N19] a sender that does not wait behind a held event is cut off, and loses and reorders nothing", async () => {
  const { t, ben, stored } = await setup({ policy: { maxQueuedMessages: 2 } });
  t.gates.hold("append:before-admit", { event: "e1" });
  for (const n of [1, 2, 3]) ben.post(n);
  await t.run();
  expect(ben.client.closes).toEqual([]);
  ben.post(4);
  ben.post(5);
  await t.run();
  expect(ben.client.closes).toMatchObject([{ code: 4008 }]);
  t.gates.release("append:before-admit");
  await t.run();
  await ben.client.connect();
  expect(await ben.send(1, 2, 3, 4, 5)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
  expect(stored()).toEqual(["e1", "e2", "e3", "e4", "e5"]);
  await t.stop();
});

test("[ME-N18] what a space held counts no more once it is closed", async () => {
  const { t, home, ben } = await setup({ policy: { maxStandingAppends: 3 } });
  for (const first of [1, 4, 7]) {
    turnAway(t, first);
    await ben.send(first, first + 1, first + 2);
    await ben.client.call("space.close", { space: home });
  }
  expect(ben.client.closes).toEqual([]);
  await t.stop();
});
