import { expect, test } from "vitest";
import { ACL_DOC, type SpaceId, type Watch } from "@tidemark/protocol";
import { createTestServer, type TestClient, type TestServer } from "../../src/testing/index.js";
import { derive, doc, event, seq, setOp, STREAM } from "./support.js";

interface Letterbox {
  readonly t: TestServer;
  readonly ana: TestClient;
  readonly home: SpaceId;
  /** May append to the stream and read nothing. */
  readonly ben: TestClient;
}

const letterbox = { streams: { [STREAM]: { "*": "APPEND" } } };
const watches: Watch[] = [{ id: "d", root: { id: doc("d") }, selector: { kind: "any" } }];
const ref = (id: string): never => ({ stream: STREAM, eventId: event(id) }) as never;

async function setup(): Promise<Letterbox> {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const ben = await t.connected("ben");
  const home = await t.space("home", ana, letterbox as never);
  return { t, ana, ben, home };
}

const aclOf = (owner: TestClient, extra: object): never =>
  ({ op: "set", id: ACL_DOC, value: { [owner.identity.did]: "OWNER", ...extra } }) as never;

test("[ME-P16] who may append and not read is refused, and told the end of its own event alone", async () => {
  const { t, ana, ben, home } = await setup();
  const refused = await ben.call("space.open", { space: home, watches });
  expect(refused).toMatchObject({ error: { name: "AuthorizationError" } });
  await ben.append(home, STREAM, { eventId: event("e1") });
  await ana.append(home, STREAM, { eventId: event("e2"), payload: "secret" });
  await ana.commit(home, { ops: [setOp("d", "secret")] });
  derive(t, home, { watermark: seq(4), marks: [] });
  await t.run();
  expect(ben.frames(home)).toEqual([]);
  derive(t, home, {
    changes: [{ id: doc("d"), scopeKey: "space" as never, op: { op: "set", value: "secret" } }],
    marks: [
      { stream: STREAM, seq: seq(2), index: 0, eventId: event("e1") },
      { stream: STREAM, seq: seq(3), index: 0, eventId: event("e2") },
    ],
    watermark: seq(5),
  });
  await t.run();
  expect(ben.frames(home)).toMatchObject([
    { rows: [], gone: [], entries: [{ eventId: "e1", consequenced: true }] },
  ]);
  expect(JSON.stringify(ben.received)).not.toContain("secret");
  expect((await ben.call("watch.set", { space: home, watches })).ok).toBe(false);
  await t.stop();
});

test("[ME-P16] a sender that comes back asks after its events, and others' are unknown to it", async () => {
  const { t, ana, ben, home } = await setup();
  await ben.append(home, STREAM, { eventId: event("e1") });
  await ana.append(home, STREAM, { eventId: event("e2") });
  const error = { status: "errored", error: "no" } as const;
  derive(t, home, {
    marks: [{ stream: STREAM, seq: seq(2), index: 0, eventId: event("e1"), ...error }],
  });
  await ben.call("space.open", { space: home, watches, events: [ref("e1"), ref("e2")] });
  expect(ben.frames(home).map(({ reset, entries }) => [reset, entries])).toMatchObject([
    [
      undefined,
      [
        { eventId: "e1", ...error },
        { eventId: "e2", unknown: true },
      ],
    ],
  ]);
  await t.stop();
});

test("[ME-P16] a flush that breaks off tells a sender no more for it", async () => {
  const { t, ben, home } = await setup();
  await ben.append(home, STREAM, { eventId: event("e1") });
  await ben.call("space.open", { space: home, watches, events: [ref("e1")] });
  t.gates.fail("push:before", new Error("io"), { times: 1 });
  derive(t, home, { marks: [{ stream: STREAM, seq: seq(2), index: 0, eventId: event("e1") }] });
  await t.clock.advance(1_000);
  expect(ben.frames(home).at(-1)).toMatchObject({ rows: [], entries: [{ consequenced: true }] });
  expect(ben.frames(home).some(({ reset }) => reset === true)).toBe(false);
  await t.stop();
});

test("[ME-P16] a sender whose grant is taken away is told so, and then nothing", async () => {
  const { t, ana, ben, home } = await setup();
  await ben.call("space.open", { space: home, watches });
  await ben.append(home, STREAM, { eventId: event("e1") });
  await ana.commit(home, { ops: [aclOf(ana, {})] });
  expect(ben.received.at(-1)).toMatchObject({ type: "revoked", space: home });
  derive(t, home, { marks: [{ stream: STREAM, seq: seq(2), index: 0, eventId: event("e1") }] });
  await t.run();
  expect(ben.frames(home)).toEqual([]);
  const again = await ben.call("space.open", { space: home, watches, events: [ref("e1")] });
  await t.run();
  expect([again.ok, ben.frames(home)]).toEqual([false, []]);
  await t.stop();
});

test("[ME-P16] what a user sent from another session is the user's own, and what others sent under its id is not", async () => {
  const { t, ana, ben, home } = await setup();
  await t.run();
  const twin = await t.connected("ben", "ben-2");
  await twin.append(home, STREAM, { eventId: event("e1") });
  await ana.append(home, STREAM, { eventId: event("e2") });
  for (const [id, foreign] of [
    ["e1", undefined],
    ["e2", true],
  ] as const) {
    expect(await ben.append(home, STREAM, { eventId: event(id) })).toMatchObject({
      error: { name: "DuplicateEventError", details: foreign ? { foreign } : {} },
    });
  }
  const error = { status: "errored", error: "no" } as const;
  derive(t, home, {
    marks: [
      { stream: STREAM, seq: seq(2), index: 0, eventId: event("e1"), ...error },
      { stream: STREAM, seq: seq(3), index: 0, eventId: event("e2") },
    ],
  });
  await t.run();
  await ben.call("space.open", { space: home, watches, events: [ref("e1"), ref("e2")] });
  await t.run();
  expect(ben.frames(home).at(-1)?.entries).toMatchObject([
    { eventId: "e1", ...error },
    { eventId: "e2", unknown: true },
  ]);
  await t.stop();
});
