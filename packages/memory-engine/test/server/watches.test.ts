import { expect, test } from "vitest";
import {
  instanceKey,
  SPACE_SCOPE_KEY,
  userScopeKey,
  type DocId,
  type SpaceId,
  type Watch,
} from "@tidemark/protocol";
import type { DemandNews, Engine } from "../../src/index.js";
import { createTestServer, type TestClient, type TestServer } from "../../src/testing/index.js";
import { doc, keyOf, link, setOp } from "./support.js";

async function opened(
  watches: readonly Watch[],
  ops: readonly never[],
  wrap?: (engine: Engine) => Engine,
): Promise<{ t: TestServer; ana: TestClient; home: SpaceId }> {
  const t = createTestServer(wrap === undefined ? {} : { wrap });
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  if (ops.length > 0) await ana.commit(home, { ops });
  await ana.call("space.open", { space: home, watches });
  return { t, ana, home };
}

const any = (name: string): Watch => ({
  id: name,
  root: { id: doc(name) },
  selector: { kind: "any" },
});

function shareOf(t: TestServer, space: SpaceId): ReadonlySet<string> {
  const [share] = t.server.space(space).demand().values();
  return share?.keys ?? new Set();
}

test("[ME-W1] the tracked set is what the selector reaches, absent instances included", async () => {
  const { t, ana, home } = await opened(
    [any("root")],
    [
      setOp("root", { a: link("a"), list: [link("b"), { deep: link("mine", "user") }] }),
      setOp("a", 1),
    ],
  );
  const mine = instanceKey(doc("mine"), userScopeKey(ana.identity.did));
  expect(shareOf(t, home)).toEqual(new Set([keyOf("root"), keyOf("a"), keyOf("b"), mine]));
  expect(ana.held(home, keyOf("a"))).toMatchObject({ value: 1 });
  expect(ana.held(home, keyOf("b"))).toEqual({ value: undefined, seq: 0, coverClass: "authored" });
  expect(ana.held(home, mine)).toMatchObject({ value: undefined });
  await t.stop();
});

test("[ME-W2] a selector names the demand: what it does not cross is not tracked", async () => {
  const watch: Watch = {
    id: "w",
    root: { id: doc("root") },
    selector: { kind: "object", keys: { a: { kind: "follow", to: { kind: "value" } } } },
  };
  const { t, home } = await opened(
    [watch],
    [setOp("root", { a: link("a"), b: link("b") }), setOp("a", link("c"))],
  );
  expect(shareOf(t, home).has(keyOf("b"))).toBe(false);
  expect(shareOf(t, home).has(keyOf("a"))).toBe(true);
  await t.stop();
});

test("[ME-W2] a watch without a selector is of its root alone, and one of the pieces of their documents", async () => {
  const bare = [
    { id: "w", root: { id: doc("root") } },
    { id: "p", pieces: true as const },
  ];
  const one = { op: "set", id: "piece:one", value: { result: { x: link("x") } } } as never;
  const { t, ana, home } = await opened(bare, [setOp("root", [link("a")]), setOp("a", 1), one]);
  const pieceKey = instanceKey("piece:one" as DocId, SPACE_SCOPE_KEY);
  expect(shareOf(t, home)).toEqual(new Set([keyOf("root"), pieceKey]));
  await ana.commit(home, { ops: [setOp("root", [link("b")]), setOp("b", 2)] });
  expect(shareOf(t, home)).toEqual(new Set([keyOf("root"), pieceKey]));
  // So it is after a reconnect.
  await ana.disconnect();
  await ana.connect();
  const cursor = { historyId: "another", seq: 0 } as never;
  await ana.call("space.open", { space: home, watches: bare, cursor });
  expect(shareOf(t, home)).toEqual(new Set([keyOf("root"), pieceKey]));
  await t.stop();
});

test("[ME-W3] a link that appears brings what it reaches, and one that goes takes it away", async () => {
  const { t, ana, home } = await opened(
    [any("root")],
    [setOp("root", [link("a")]), setOp("a", 1), setOp("b", link("c")), setOp("c", 3)],
  );
  await ana.commit(home, { ops: [setOp("root", [link("b")])] });
  expect(ana.held(home, keyOf("c"))).toMatchObject({ value: 3 });
  expect(ana.held(home, keyOf("a"))).toBeUndefined();
  expect(ana.frames(home).at(-1)?.gone).toEqual([{ id: doc("a"), scopeKey: SPACE_SCOPE_KEY }]);
  expect(shareOf(t, home)).toEqual(new Set([keyOf("root"), keyOf("b"), keyOf("c")]));
  await t.stop();
});

test("[ME-W4] a frame costs what changed: one row of 10,000 reads at most five, walks nothing", async () => {
  const reads: string[] = [];
  const counting = (engine: Engine): Engine =>
    new Proxy(engine, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        if (name !== "read") return member.bind(target);
        return (id: DocId, ...rest: [never]) => {
          reads.push(id);
          return target.read(id, ...rest);
        };
      },
    });
  const t = createTestServer({ wrap: counting });
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  const names = Array.from({ length: 10_000 }, (_, n) => `n${n}`);
  for (let at = 0; at < names.length; at += 1_000) {
    const ops = names.slice(at, at + 1_000).map((name) => setOp(name, { v: 0 }));
    await ana.commit(home, { ops });
  }
  await ana.commit(home, {
    ops: [
      setOp(
        "root",
        names.map((name) => link(name)),
      ),
    ],
  });
  await ana.call("space.open", { space: home, watches: [any("root")] });
  expect(t.server.stats().tracked).toBe(10_001);
  const walks = t.server.stats().push.walks;
  reads.length = 0;
  await ana.commit(home, { ops: [setOp("n77", { v: 1 })] });
  expect(ana.held(home, keyOf("n77"))).toMatchObject({ value: { v: 1 } });
  expect(reads.length).toBeLessThanOrEqual(5);
  expect(t.server.stats().push.walks).toBe(walks);
  await t.stop();
});

test("[ME-W5] only the roots that reach the changed instance are walked again", async () => {
  const roots = Array.from({ length: 20 }, (_, n) => `r${n}`);
  const { t, ana, home } = await opened(
    roots.map(any),
    roots.map((name) => setOp(name, [link(`${name}-x`)])),
  );
  const walks = t.server.stats().push.walks;
  await ana.commit(home, { ops: [setOp("r3", [link("r3-x"), link("r3-y")])] });
  expect(t.server.stats().push.walks - walks).toBe(1);
  expect(shareOf(t, home).has(keyOf("r3-y"))).toBe(true);
  await t.stop();
});

test("[ME-W6] a session's share is the same object until its tracked set changes", async () => {
  const { t, ana, home } = await opened([any("root")], [setOp("root", [link("a")])]);
  const space = t.server.space(home);
  let told = 0;
  space.onDemand(() => (told += 1));
  const share = (): unknown => space.demand().get(`${ana.identity.did} ana1`);
  const first = share();
  expect(first).toMatchObject({ actor: { user: ana.identity.did, session: "ana1" } });
  await ana.commit(home, { ops: [setOp("a", 1)] });
  expect(share()).toBe(first);
  expect(told).toBe(0);
  await ana.commit(home, { ops: [setOp("root", [link("a"), link("b")])] });
  expect(share()).not.toBe(first);
  expect(told).toBe(1);
  await t.stop();
});

test("[ME-W11] a demand notice tells what caused it: a watch, growth by a value, or somebody who left", async () => {
  const { t, ana, home } = await opened([any("root")], [setOp("root", [link("a")])]);
  const told: DemandNews[] = [];
  const space = t.server.space(home);
  const subscription = space.onDemand((news) => void told.push(news));
  await ana.commit(home, { ops: [setOp("root", [link("a"), link("b")])] });
  await ana.commit(home, { ops: [setOp("root", [link("b")])] });
  const other = await t.connected("ana", "ana2");
  await other.call("space.open", { space: home, watches: [any("root")] });
  await other.call("watch.set", { space: home, watches: [any("b")] });
  await other.call("space.close", { space: home });
  expect(told).toEqual([
    { watches: 0, growths: 1 },
    { watches: 0, growths: 0 },
    { watches: 1, growths: 0 },
    { watches: 1, growths: 0 },
    { watches: 0, growths: 0 },
  ]);
  subscription.close();
  await other.call("space.open", { space: home, watches: [any("root")] });
  expect(told).toHaveLength(5);
  await t.stop();
});

test("[ME-W7] a watch of the pieces takes in every piece, those to come included", async () => {
  const piece = (name: string, value: unknown): never =>
    ({ op: "set", id: `piece:${name}`, value }) as never;
  const { t, ana, home } = await opened(
    [{ id: "p", pieces: true, selector: { kind: "any" } }],
    [piece("one", { result: { x: link("x") } }), setOp("x", 1)],
  );
  expect(ana.held(home, keyOf("x"))).toMatchObject({ value: 1 });
  await ana.commit(home, { ops: [piece("two", { result: { y: link("y") } }), setOp("y", 2)] });
  expect(ana.held(home, keyOf("y"))).toMatchObject({ value: 2 });
  expect(ana.held(home, instanceKey("piece:two" as DocId, SPACE_SCOPE_KEY))).toBeDefined();
  await t.stop();
});

test("[ME-W8] watch.set replaces the watches; what both reach is neither gone nor sent again", async () => {
  const { t, ana, home } = await opened(
    [any("a")],
    [setOp("a", link("shared")), setOp("b", link("shared")), setOp("shared", 1)],
  );
  expect((await ana.call("watch.set", { space: home, watches: [any("b")] })).ok).toBe(true);
  const frame = ana.frames(home).at(-1);
  expect(frame?.rows.map((row) => row.id)).toEqual([doc("b")]);
  expect(frame?.gone).toEqual([{ id: doc("a"), scopeKey: SPACE_SCOPE_KEY }]);
  expect((await ana.call("watch.set", { space: home, watches: [] })).ok).toBe(true);
  expect(ana.replicas.get(home)?.size).toBe(0);
  expect(t.server.stats().tracked).toBe(0);
  await t.stop();
});

test("[ME-W9] watch.set in a space that is not open is refused", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  expect(await ana.call("watch.set", { space: home, watches: [] })).toMatchObject({
    ok: false,
    error: { name: "ProtocolError" },
  });
  await t.stop();
});

test("[ME-W10] a cycle of links is walked once, and what one watch reaches is bounded", async () => {
  const t = createTestServer({
    policy: { walk: { maxInstances: 5, maxHops: 64, maxSteps: 1_000 } },
  });
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  await ana.commit(home, { ops: [setOp("a", link("b")), setOp("b", link("a"))] });
  const many = Array.from({ length: 50 }, (_, n) => link(`m${n}`));
  await ana.commit(home, { ops: [setOp("many", many)] });
  await ana.call("space.open", { space: home, watches: [any("a")] });
  expect(shareOf(t, home).size).toBe(2);
  await ana.call("watch.set", { space: home, watches: [any("many")] });
  expect(shareOf(t, home).size).toBe(5);
  await t.stop();
});
