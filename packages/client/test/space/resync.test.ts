import { instanceKey, seededRandom, SPACE_SCOPE_KEY } from "@tidemark/protocol";
import type { DocId, FrameMessage, Row, SpaceId } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { connect } from "@tidemark/client";
import { expect, test } from "vitest";
import { ALICE, ScriptedServer } from "../session/scripted-server.js";

const SPACE = ALICE.did as unknown as SpaceId;
const DOC = "node:doc" as DocId;
const KEY = instanceKey(DOC, SPACE_SCOPE_KEY);

function setup() {
  const clock = new VirtualClock();
  const server = new ScriptedServer();
  const opens: { cursor: unknown; nth: number }[] = [];
  let historyId = "h1";
  server.onRequest = (request, nth) => {
    if (request.type !== "space.open") return;
    opens.push({ cursor: request.cursor, nth });
    const result = { seq: 0, watermark: 0, historyId, level: "WRITE", resumed: false };
    server.say(nth, { type: "ok", req: request.req, result } as never);
  };
  const client = connect({
    transport: server.transport,
    identity: ALICE,
    clock,
    random: seededRandom(1),
  });
  const space = client.open(SPACE);
  const run = async (): Promise<void> => {
    for (let n = 0; n < 10; n += 1) {
      server.flush();
      await clock.drain();
    }
  };
  const frame = (
    seq: number,
    row: Partial<Row> | undefined,
    more: Partial<FrameMessage> = {},
  ): FrameMessage =>
    ({
      type: "frame",
      space: SPACE,
      seq,
      watermark: 0,
      rows:
        row === undefined
          ? []
          : [{ id: DOC, scopeKey: SPACE_SCOPE_KEY, seq, cover: "authored", ...row }],
      gone: [],
      entries: [],
      frontiers: [],
      ...more,
    }) as never;
  const held = (): unknown => space.core.local.replica.get(KEY)?.value;
  const history = (id: string): void => void (historyId = id);
  return { clock, server, client, space, run, frame, held, opens, history };
}

test("[CL-N1] a reconnect resumes from what is integrated, under its history", async () => {
  const t = setup();
  await t.run();
  expect(t.opens).toEqual([{ cursor: undefined, nth: 0 }]);
  t.server.say(0, t.frame(4, { value: "a" }, { reset: true }));
  await t.run();
  // A frame that was lost with the connection counts for nothing.
  t.server.say(0, t.frame(5, { value: "b" }));
  t.server.pairs[0]?.cut();
  await t.clock.advance(4000);
  await t.run();
  expect(t.opens[1]).toEqual({ cursor: { historyId: "h1", seq: 4 }, nth: 1 });
  expect(t.held()).toBe("a");
});

test("[CL-N2] a patch against a base that is not held asks for everything anew, and shows nothing of its frame", async () => {
  const t = setup();
  await t.run();
  t.server.say(0, t.frame(4, { value: ["a"] }, { reset: true }));
  await t.run();
  const ops = [{ op: "append", path: [], value: "b" }] as const;
  t.server.say(0, t.frame(9, { patch: { from: 7, ops } } as never));
  await t.run();
  expect(t.held()).toEqual(["a"]);
  expect(t.opens[1]).toEqual({ cursor: undefined, nth: 0 });
  t.server.say(0, t.frame(9, { value: ["a", "b"] }, { reset: true }));
  await t.run();
  expect(t.held()).toEqual(["a", "b"]);
});

test("[CL-N3] a resync of a restored store takes the client back with it", async () => {
  const t = setup();
  await t.run();
  t.server.say(0, t.frame(40, { value: "new" }, { reset: true }));
  await t.run();
  t.history("h2");
  t.server.pairs[0]?.cut();
  await t.clock.advance(4000);
  await t.run();
  t.server.say(1, t.frame(12, { value: "old" }, { reset: true }));
  await t.run();
  expect([t.held(), t.space.position.seq]).toEqual(["old", 12]);
  t.server.pairs[1]?.cut();
  await t.clock.advance(4000);
  await t.run();
  expect(t.opens[2]?.cursor).toEqual({ historyId: "h2", seq: 12 });
});

test("[CL-N7] a history counts from its first frame on, and not from the answer that announces it", async () => {
  const t = setup();
  await t.run();
  t.server.say(0, t.frame(40, { value: "new" }, { reset: true }));
  await t.run();
  t.history("h2");
  t.server.pairs[0]?.cut();
  await t.clock.advance(4000);
  await t.run();
  // Opened under the restored history, and lost again before it had told anything.
  t.server.pairs[1]?.cut();
  await t.clock.advance(8000);
  await t.run();
  expect(t.opens.map(({ cursor }) => cursor)).toEqual([
    undefined,
    { historyId: "h1", seq: 40 },
    { historyId: "h1", seq: 40 },
  ]);
});

test("[CL-N7] frames of before a resync give the next open nothing to go on from", async () => {
  const t = setup();
  await t.run();
  t.server.say(0, t.frame(4, { value: ["a"] }, { reset: true }));
  const ops = [{ op: "append", path: [], value: "b" }] as const;
  t.server.say(0, t.frame(9, { patch: { from: 7, ops } } as never));
  // It fits, and what it rests on was not taken in.
  t.server.say(0, t.frame(10, undefined));
  await t.run();
  t.server.pairs[0]?.cut();
  await t.clock.advance(4000);
  await t.run();
  expect(t.opens.map(({ cursor }) => cursor)).toEqual([undefined, undefined, undefined]);
});

const STREAM = "stream:s" as DocId;

test("[CL-D24] an answer that says an event is long past does not say how it ended: the next frame does", async () => {
  const t = setup();
  await t.run();
  t.server.say(0, t.frame(1, undefined, { reset: true }));
  const fired = t.space.core.fire(STREAM, null);
  await t.run();
  t.server.pairs[0]?.cut();
  await t.clock.advance(4000);
  await t.run();
  const { eventId } = fired;
  const unknown = { stream: STREAM, eventId, unknown: true } as const;
  t.server.say(1, t.frame(6, undefined, { watermark: 5 as never, entries: [unknown] }));
  await t.run();
  const resent = t.server.requests(1).find(({ type }) => type === "append");
  t.server.say(1, { type: "ok", req: resent?.req ?? 0, result: { seq: 3, index: 0 } } as never);
  await t.run();
  expect(fired.outcome).toBeUndefined();
  const end = { stream: STREAM, eventId, seq: 3, index: 0, consequenced: true } as const;
  const entries = [{ ...end, status: "errored", error: "no" }] as const;
  t.server.say(1, t.frame(6, undefined, { watermark: 5 as never, entries } as never));
  await t.run();
  expect(fired.outcome).toMatchObject({ kind: "errored", reason: "no" });
});

test("[CL-D24] an event that a later frame passes in silence has had its effect", async () => {
  const t = setup();
  await t.run();
  const fired = t.space.core.fire(STREAM, null);
  t.server.say(0, t.frame(1, undefined, { reset: true }));
  await t.run();
  const sent = t.server.requests(0).find(({ type }) => type === "append");
  t.server.say(0, { type: "ok", req: sent?.req ?? 0, result: { seq: 3, index: 0 } } as never);
  // In one breath with the answer: it came after it all the same.
  t.server.say(0, t.frame(6, undefined, { watermark: 5 as never }));
  await t.run();
  expect(fired.outcome).toEqual({ kind: "consequenced" });
});

test("[CL-N4] frames wait for the answer of a write that was sent before, so that nothing shows twice", async () => {
  const t = setup();
  await t.run();
  t.server.say(0, t.frame(1, { value: ["a"] }, { reset: true }));
  await t.run();
  const ops = [{ op: "append", path: [], value: "b" }] as const;
  const made = t.space.core.commit({ ops: [{ op: "patch", id: DOC, value: ops }] });
  const seen = (): unknown => t.space.core.local.overlay.view.get(KEY)?.value;
  await t.run();
  expect(seen()).toEqual(["a", "b"]);
  t.server.pairs[0]?.cut();
  await t.clock.advance(4000);
  await t.run();
  // The store has it: the frame brings it, and only then comes the answer to the resend.
  t.server.say(1, t.frame(2, { value: ["a", "b"] }, { reset: true }));
  await t.run();
  expect(seen()).toEqual(["a", "b"]);
  const resent = t.server.requests(1).find((request) => request.type === "commit");
  t.server.say(1, { type: "ok", req: resent?.req ?? 0, result: { seq: 2 } } as never);
  await t.run();
  expect([seen(), (await made).seq]).toEqual([["a", "b"], 2]);
  expect(t.client.speculative).toBe(0);
});

test("[CL-N5] a client that stops leaves no timer behind", async () => {
  const t = setup();
  await t.run();
  t.client.drop();
  expect(t.clock.pendingTimers()).toBe(0);
});
