import { describe, expect, test } from "vitest";
import {
  ACL_DOC,
  grantOf,
  revocationOf,
  SPACE_SCOPE_KEY,
  type AccessChange,
  type Actor,
  type HolderId,
  type Principal,
  type SpaceId,
  type StreamEntry,
} from "@tidemark/protocol";
import type { AccessRequest, AccessVerdict, ServedSpace } from "../../src/index.js";
import {
  createTestServer,
  TEST_HOLDER,
  type TestClient,
  type TestServer,
} from "../../src/testing/index.js";
import { doc, event, seq, setOp, STREAM, wave } from "./support.js";

interface Home {
  readonly t: TestServer;
  readonly space: SpaceId;
  readonly served: ServedSpace;
  /** Owns the space. */
  readonly ana: TestClient;
  /** May write. */
  readonly cy: TestClient;
  readonly ben: Principal;
}

async function home(): Promise<Home> {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const cy = await t.connected("cy");
  const space = await t.space("home", ana, { [cy.identity.did]: "WRITE", "*": "READ" });
  const served = t.server.space(space);
  served.engine.lease.acquire(TEST_HOLDER, 15_000);
  return { t, space, served, ana, cy, ben: t.identity("ben").did };
}

/** What a run for an event of the client's would ask; the event waits in the store. */
async function asked(
  { space, served }: Home,
  client: TestClient,
  changes: readonly AccessChange[],
  id = "e1",
): Promise<AccessRequest> {
  const answer = await client.append(space, STREAM, { eventId: event(id), payload: null });
  if (!answer.ok) throw new Error(answer.error.message);
  const [entry] = served.engine.entries.byEvent(STREAM, event(id)).slice(-1);
  return requestFor(entry as StreamEntry, changes, actorOf(client));
}

function requestFor(
  { stream, eventId, seq: at, index }: StreamEntry,
  changes: readonly AccessChange[],
  actor: Actor,
): AccessRequest {
  return { changes, actor, entry: { stream, eventId, seq: at, index } };
}

const actorOf = ({ identity, sessionId }: TestClient): Actor => ({
  user: identity.did,
  session: sessionId,
});

const listOf = ({ served }: Home) => served.engine.read(ACL_DOC, SPACE_SCOPE_KEY).value;
const denied = { ok: false, error: { code: "unauthorized" } };

describe("whose authority decides", () => {
  test("[ME-A21] an owner's request passes the check, which writes nothing, and its commit opens the door", async () => {
    const w = await home();
    const request = await asked(w, w.ana, [grantOf(w.ben, "WRITE")]);
    const head = w.served.engine.head();
    expect(w.served.checkAccess(request)).toEqual({ ok: true, commit: undefined });
    expect(w.served.engine.head()).toBe(head);
    expect(w.served.commitAccess(TEST_HOLDER, request)).toMatchObject({ ok: true });
    const ben = await w.t.connected("ben");
    expect((await ben.commit(w.space, { ops: [setOp("a", 1)] })).ok).toBe(true);
    await w.t.stop();
  });

  test("[ME-A21] a writer's request is refused as that writer's commit of the list would be", async () => {
    const w = await home();
    const request = await asked(w, w.cy, [grantOf(w.ben, "READ")]);
    const before = listOf(w);
    const refusal = {
      ok: false,
      error: { code: "unauthorized", details: { permanentEvidence: true, aclRevision: 1 } },
    };
    expect(w.served.checkAccess(request)).toMatchObject(refusal);
    expect(w.served.commitAccess(TEST_HOLDER, request)).toMatchObject(refusal);
    expect(listOf(w)).toEqual(before);
    expect(w.t.server.stats().refused).toMatchObject({ unauthorized: 2 });
    await w.t.stop();
  });

  test("[ME-A21] a request that changes nothing is still the owner's to make", async () => {
    const w = await home();
    const standing = [grantOf(w.cy.identity.did, "WRITE")];
    expect(w.served.checkAccess(await asked(w, w.cy, standing))).toMatchObject(denied);
    await w.t.stop();
  });

  test.each([
    ["the last owner's name", (w: Home) => [revocationOf(w.ana.identity.did)]],
    ["a demotion of the last owner", (w: Home) => [grantOf(w.ana.identity.did, "WRITE")]],
    [
      "nobody but everybody",
      (w: Home) => [grantOf("*", "OWNER"), revocationOf(w.ana.identity.did)],
    ],
  ])("[ME-A21] a space keeps an owner: %s", async (_what, changes) => {
    const w = await home();
    expect(w.served.checkAccess(await asked(w, w.ana, changes(w)))).toMatchObject(denied);
    await w.t.stop();
  });

  test("[ME-A21] an owner may hand over and leave in one request", async () => {
    const w = await home();
    const changes = [grantOf(w.ben, "OWNER"), revocationOf(w.ana.identity.did)];
    const request = await asked(w, w.ana, changes);
    expect(w.served.commitAccess(TEST_HOLDER, request)).toMatchObject({ ok: true });
    expect(listOf(w)).toEqual({ [w.ben]: "OWNER", [w.cy.identity.did]: "WRITE", "*": "READ" });
    // Ana owns nothing any more; her own request has landed all the same.
    expect(w.served.checkAccess(request)).toEqual({ ok: true, commit: undefined });
    await w.t.stop();
  });
});

describe("the grant", () => {
  test("[ME-A23] a request passes for an entry that waits, and that this very user and session fired", async () => {
    const w = await home();
    const request = await asked(w, w.ana, [grantOf(w.ben, "READ")]);
    const { entry, changes } = request;
    const session = "ana2" as TestClient["sessionId"];
    const wrong: AccessRequest[] = [
      { ...request, actor: {} },
      { ...request, actor: { user: w.ana.identity.did, session } },
      { ...request, actor: { user: w.ana.identity.did, session: "server" } },
      { ...request, actor: actorOf(w.cy) },
      { changes, actor: request.actor, entry: { ...entry, eventId: event("e2") } },
      { changes, actor: request.actor, entry: { ...entry, index: 1 } },
      { changes, actor: request.actor, entry: { ...entry, stream: doc("s") } },
    ];
    for (const one of wrong) {
      expect(w.served.checkAccess(one)).toMatchObject(denied);
      expect(w.served.commitAccess(TEST_HOLDER, one)).toMatchObject(denied);
    }
    expect(w.served.checkAccess(request)).toMatchObject({ ok: true });
    await w.t.stop();
  });

  test("[ME-A23] an entry that has its consequence grants nothing more", async () => {
    const w = await home();
    const request = await asked(w, w.ana, [grantOf(w.ben, "READ")]);
    w.served.commitDerived(TEST_HOLDER, () => wave({ marks: [request.entry] }));
    expect(w.served.checkAccess(request)).toMatchObject(denied);
    await w.t.stop();
  });

  test("[ME-A23] a user's chain without a session asks as that user", async () => {
    const w = await home();
    const firedAt = { user: w.ana.identity.did, session: "server" } as const;
    const appends = [{ stream: STREAM, eventId: event("c1"), payload: null, firedAt }];
    w.served.commitDerived(TEST_HOLDER, () => wave({ appends }));
    const [entry] = w.served.engine.entries.byEvent(STREAM, event("c1"));
    const request = requestFor(entry as StreamEntry, [grantOf(w.ben, "READ")], firedAt);
    const verdict = w.served.commitAccess(TEST_HOLDER, request) as Landed;
    expect(verdict).toMatchObject({ ok: true, commit: { principal: w.ana.identity.did } });
    expect(verdict.commit).not.toHaveProperty("session");
    await w.t.stop();
  });
});

type Landed = Extract<AccessVerdict, { readonly ok: true }>;

describe("the commit", () => {
  test("[ME-A22] it is an authored commit of the list alone, of the actor, by the holder, under its right", async () => {
    const w = await home();
    const request = await asked(w, w.ana, [grantOf(w.ben, "WRITE")]);
    const told: number[] = [];
    const feed = w.served.feed(w.served.engine.head(), (commit) => void told.push(commit.seq));
    w.served.commitAccess(TEST_HOLDER, request);
    const [commit] = w.served.engine.commitsSince(seq(2));
    expect(commit).toEqual({
      seq: 3,
      class: "authored",
      at: expect.any(Number) as number,
      principal: w.ana.identity.did,
      session: w.ana.sessionId,
      holder: TEST_HOLDER,
      capabilityRef: "event-consequence:e1",
      changes: [
        {
          id: ACL_DOC,
          scopeKey: SPACE_SCOPE_KEY,
          op: { op: "patch", value: [{ op: "add", path: [w.ben], value: "WRITE" }] },
        },
      ],
      appends: [],
      marks: [],
      frontiers: [],
    });
    expect(told).toEqual([3]);
    feed.close();
    await w.t.stop();
  });

  test("[ME-A22] nobody but the holder of the live lease makes it", async () => {
    const w = await home();
    const request = await asked(w, w.ana, [grantOf(w.ben, "WRITE")]);
    const by = (holder: string) => () => w.served.commitAccess(holder as HolderId, request);
    expect(by("server:two")).toThrow(expect.objectContaining({ code: "lease" }) as Error);
    await w.t.clock.advance(15_000);
    expect(by(TEST_HOLDER)).toThrow(expect.objectContaining({ code: "lease" }) as Error);
    expect(listOf(w)).not.toHaveProperty(w.ben);
    await w.t.stop();
  });

  test("[ME-A22] a session that loses its last right is told, as by any change of the list", async () => {
    const w = await home();
    await w.ana.commit(w.space, {
      ops: [{ op: "set", id: ACL_DOC, value: { [w.ana.identity.did]: "OWNER", [w.ben]: "READ" } }],
    });
    const ben = await w.t.connected("ben");
    await ben.call("space.open", { space: w.space, watches: [] });
    const request = await asked(w, w.ana, [revocationOf(w.ben)]);
    w.served.commitAccess(TEST_HOLDER, request);
    await w.t.run();
    expect((await ben.call("watch.set", { space: w.space, watches: [] })).ok).toBe(false);
    await w.t.stop();
  });
});

describe("a replay", () => {
  test("[ME-A24] has nothing left to change, also where others changed the list since", async () => {
    const w = await home();
    const request = await asked(w, w.ana, [grantOf(w.ben, "WRITE")]);
    w.served.commitAccess(TEST_HOLDER, request);
    const { [w.ben]: _gone, ...without } = listOf(w) as Record<string, string>;
    await w.ana.commit(w.space, { ops: [{ op: "set", id: ACL_DOC, value: without }] });
    const head = w.served.engine.head();
    expect(w.served.commitAccess(TEST_HOLDER, request)).toEqual({ ok: true, commit: undefined });
    expect([w.served.engine.head(), listOf(w)]).toEqual([head, without]);
    await w.t.stop();
  });

  test("[ME-A24] that asks for something else is decided afresh, and then it is what landed", async () => {
    const w = await home();
    const request = await asked(w, w.ana, [grantOf(w.ben, "WRITE")]);
    const other = { ...request, changes: [grantOf(w.ben, "READ")] };
    const levelAfter = (one: AccessRequest): unknown => {
      expect(w.served.commitAccess(TEST_HOLDER, one)).toMatchObject({ ok: true });
      return (listOf(w) as Record<string, string>)[w.ben];
    };
    expect([request, other, other, request].map(levelAfter)).toEqual([
      "WRITE",
      "READ",
      "READ",
      "WRITE",
    ]);
    await w.t.stop();
  });

  test("[ME-A24] is an entry's own: one id on two streams asks twice", async () => {
    const w = await home();
    const first = await asked(w, w.ana, [grantOf(w.ben, "WRITE")]);
    const other = "stream:other" as typeof STREAM;
    await w.ana.append(w.space, other, { eventId: event("e1"), payload: null });
    const [entry] = w.served.engine.entries.byEvent(other, event("e1"));
    w.served.commitAccess(TEST_HOLDER, first);
    const back = requestFor(entry as StreamEntry, [revocationOf(w.ben)], first.actor);
    w.served.commitAccess(TEST_HOLDER, back);
    expect(listOf(w)).not.toHaveProperty(w.ben);
    // Both landed and neither has its wave: their replays change nothing, in whatever order.
    const nothing = { ok: true, commit: undefined };
    expect(w.served.commitAccess(TEST_HOLDER, first)).toEqual(nothing);
    expect(w.served.commitAccess(TEST_HOLDER, back)).toEqual(nothing);
    await w.t.stop();
  });

  test("[ME-A24] what the list shows already is no commit", async () => {
    const w = await home();
    const request = await asked(w, w.ana, [
      grantOf(w.cy.identity.did, "WRITE"),
      revocationOf(w.ben),
    ]);
    const head = w.served.engine.head();
    expect(w.served.commitAccess(TEST_HOLDER, request)).toEqual({ ok: true, commit: undefined });
    expect(w.served.engine.head()).toBe(head);
    await w.t.stop();
  });
});
