import { expect, test } from "vitest";
import {
  ACL_DOC,
  SPACE_SCOPE_KEY,
  userScopeKey,
  WATERMARK_DOC,
  type DerivedBatch,
  type HolderId,
  type SpaceId,
  type Watch,
} from "@tidemark/protocol";
import { createTestServer, type TestClient, type TestServer } from "../../src/testing/index.js";
import { derive, doc, event, keyOf, seq, setOp, STREAM, wave } from "./support.js";

async function home(): Promise<{ t: TestServer; ana: TestClient; space: SpaceId }> {
  const t = createTestServer();
  const ana = await t.connected("ana");
  return { t, ana, space: await t.space("home", ana) };
}

const any = (name: string): Watch => ({ id: name, root: { id: doc(name) } });
const HOLDER = "server:one" as HolderId;
const RIVAL = "server:two" as HolderId;
const change = (value: number): Partial<DerivedBatch> => ({
  changes: [{ id: doc("x"), scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value } }],
});

test("[ME-A14] a derived commit is its live lease holder's alone, by the store's clock (LS-01, LS-03)", async () => {
  const { t, space } = await home();
  const served = t.server.space(space);
  const commit = (holder: HolderId, value: number) =>
    served.commitDerived(holder, () => wave(change(value)));
  const lease = { ok: false, error: { code: "lease" } };
  expect(commit(HOLDER, 1)).toMatchObject(lease);
  served.engine.lease.acquire(HOLDER, 15_000);
  expect(commit(RIVAL, 1)).toMatchObject(lease);
  expect(commit(HOLDER, 1)).toMatchObject({ ok: true });
  await t.clock.advance(15_000);
  // Expired: it matches nobody, even before anybody else has taken it.
  expect(commit(HOLDER, 2)).toMatchObject(lease);
  served.engine.lease.acquire(RIVAL, 15_000);
  expect(commit(HOLDER, 2)).toMatchObject(lease);
  expect(served.engine.lease.renew(HOLDER, 15_000)).toBe(false);
  expect(commit(RIVAL, 3)).toMatchObject({ ok: true, commit: { seq: 3 } });
  expect(t.server.stats().refused).toMatchObject({ lease: 4 });
  await t.stop();
});

test("[ME-A14] a refused holder's plan does not run at all", async () => {
  const { t, space } = await home();
  let ran = 0;
  const verdict = t.server.space(space).commitDerived(HOLDER, () => {
    ran += 1;
    return wave(change(1));
  });
  expect(verdict.ok).toBe(false);
  expect(ran).toBe(0);
  await t.stop();
});

test("[ME-A26] a split wave is a commit each, one after the other, held and told together", async () => {
  const { t, ana, space } = await home();
  await ana.call("space.open", { space, watches: [any("x"), any("y")] });
  const served = t.server.space(space);
  served.engine.lease.acquire(HOLDER, 15_000);
  const fed: number[] = [];
  served.feed(seq(1), (one) => void fed.push(one.seq));
  const before = t.server.stats();
  const named = { derivedThrough: seq(1), consequenceOf: [event("e1")] };
  const y = { id: doc("y"), scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value: 2 } } as const;
  const verdict = served.commitDerived(
    HOLDER,
    (tx) => {
      expect(tx.seq()).toBe(2);
      return [
        wave({ ...named, ...change(1) }),
        wave({ ...named, changes: [y], watermark: seq(1) }),
      ];
    },
    { hold: true },
  );
  if (!verdict.ok) throw verdict.error;
  expect(verdict.commits.map((one) => [one.seq, one.watermark])).toEqual([
    [2, undefined],
    [3, 1],
  ]);
  for (const commit of verdict.commits) expect(commit).toMatchObject(named);
  expect(verdict.commit?.seq).toBe(3);
  expect(t.server.stats().derived - before.derived).toBe(2);
  await t.run();
  expect([fed, ana.held(space, keyOf("x"))?.value]).toEqual([[], undefined]);
  const frames = ana.frames().length;
  verdict.release();
  await t.run();
  expect(fed).toEqual([2, 3]);
  // One flush tells both.
  expect(ana.frames()).toHaveLength(frames + 1);
  expect([ana.held(space, keyOf("x"))?.value, ana.held(space, keyOf("y"))?.value]).toEqual([1, 2]);
  await t.stop();
});

test("[ME-A26] of a split wave whose later part is refused nothing is written, and the store stands", async () => {
  const { t, space } = await home();
  const served = t.server.space(space);
  served.engine.lease.acquire(HOLDER, 15_000);
  const acl = { id: ACL_DOC, scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value: {} } } as const;
  const refused = served.commitDerived(HOLDER, () => [wave(change(1)), wave({ changes: [acl] })]);
  expect(refused).toMatchObject({ ok: false, error: { code: "unauthorized" } });
  expect(served.engine.head()).toBe(1);
  expect(served.engine.read(doc("x"), SPACE_SCOPE_KEY).value).toBeUndefined();
  expect(served.commitDerived(HOLDER, () => wave(change(3)))).toMatchObject({ commit: { seq: 2 } });
  expect(served.engine.read(doc("x"), SPACE_SCOPE_KEY).value).toBe(3);
  await t.stop();
});

test("[ME-A15] the plan sees the heads of its own transaction, and one that withdraws writes nothing", async () => {
  const { t, ana, space } = await home();
  await ana.commit(space, { ops: [setOp("x", 5)] });
  const served = t.server.space(space);
  served.engine.lease.acquire(HOLDER, 15_000);
  const withdrawn = served.commitDerived(HOLDER, (tx) =>
    tx.head(doc("x"), SPACE_SCOPE_KEY) > 1 ? undefined : wave(change(1)),
  );
  expect(withdrawn).toMatchObject({ ok: true, commit: undefined });
  expect(served.commitDerived(HOLDER, () => wave({}))).toMatchObject({ commit: undefined });
  expect(served.engine.head()).toBe(2);
  expect(() =>
    served.commitDerived(HOLDER, () => {
      throw new TypeError("a fault of the plan");
    }),
  ).toThrow(TypeError);
  expect(served.engine.head()).toBe(2);
  await t.stop();
});

test("[ME-A16] entries of a wave inherit their actor, get their seq, and may be marked (ADM-17)", async () => {
  const { t, ana, space } = await home();
  const firedAt = { user: ana.identity.did, session: ana.sessionId };
  const entry = { stream: STREAM, eventId: event("e1"), payload: 1, firedAt };
  const accepted = derive(t, space, {
    appends: [entry, { ...entry, eventId: event("e2"), mark: {} }],
  });
  expect(accepted).toMatchObject({
    ok: true,
    commit: { appends: [{ seq: 2, firedAt }, { seq: 2 }], marks: [{ eventId: "e2" }] },
  });
  const refused: object[] = [
    { ...entry, firedAt: undefined },
    { ...entry, firedAt: { ...firedAt, clientSeq: 1 } },
    { ...entry, seq: 9 },
    { ...entry, stream: doc("d") },
  ];
  for (const bad of refused) {
    const verdict = derive(t, space, { appends: [{ ...bad, eventId: event("e3") } as never] });
    expect(verdict).toMatchObject({ ok: false, error: { code: "protocol" } });
  }
  const nobody = { stream: STREAM, seq: seq(77), index: 0, eventId: event("e1") };
  expect(derive(t, space, { marks: [nobody] })).toMatchObject({ ok: false });
  expect(t.server.space(space).engine.head()).toBe(2);
  await t.stop();
});

test("[ME-A17] a derived write names its instance and is never defaulted (ADM-21)", async () => {
  const { t, ana, space } = await home();
  const write = (scopeKey: unknown): Partial<DerivedBatch> => ({
    changes: [{ id: doc("x"), scopeKey: scopeKey as never, op: { op: "set", value: 1 } }],
  });
  for (const bad of [undefined, "user", "session", "user:a/b", ""]) {
    expect(derive(t, space, write(bad))).toMatchObject({ ok: false, error: { code: "protocol" } });
  }
  expect(derive(t, space, write(userScopeKey(ana.identity.did))).ok).toBe(true);
  await t.stop();
});

test("[ME-A18] no derived commit writes the access list, the watermark document or a stream as a document", async () => {
  const { t, space } = await home();
  for (const id of [ACL_DOC, WATERMARK_DOC, STREAM]) {
    const op = { op: "set" as const, value: {} };
    const verdict = derive(t, space, { changes: [{ id, scopeKey: SPACE_SCOPE_KEY, op }] });
    expect(verdict.ok).toBe(false);
  }
  expect(derive(t, space, { derivedThrough: seq(1), watermark: seq(2) }).ok).toBe(false);
  await t.stop();
});

test("[ME-A19] a failed precondition of a wave is named by its index and nothing lands", async () => {
  const { t, ana, space } = await home();
  await ana.commit(space, { ops: [setOp("r", 1)] });
  const verdict = derive(t, space, {
    ...change(1),
    preconditions: [
      { kind: "create-only", id: doc("free") },
      { kind: "create-only", id: doc("r") },
    ],
  });
  expect(verdict).toMatchObject({ ok: false, error: { code: "precondition", index: 1 } });
  expect(t.server.space(space).engine.read(doc("x"), SPACE_SCOPE_KEY).value).toBeUndefined();
  await t.stop();
});

test("[ME-A20] a system commit is the server's own and carries its class", async () => {
  const { t, space } = await home();
  const op = { op: "set" as const, value: 1 };
  const commit = t.server
    .space(space)
    .commitSystem(() => [{ id: doc("x"), scopeKey: SPACE_SCOPE_KEY, op }]);
  expect(commit).toMatchObject({ class: "system", seq: 2 });
  expect(t.server.space(space).commitSystem(() => undefined)).toBeUndefined();
  await t.stop();
});
