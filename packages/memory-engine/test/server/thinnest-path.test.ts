import { expect, test } from "vitest";
import {
  instanceKey,
  SPACE_SCOPE_KEY,
  type DocId,
  type EventId,
  type Seq,
} from "@tidemark/protocol";
import { createTestServer, TEST_HOLDER } from "../../src/testing/index.js";

const stream = "stream:s" as DocId;
const counter = "node:count" as DocId;
const e1 = "e1" as EventId;

test("[ME-P1] one append becomes one derived commit and one frame for its sender", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  const opened = await ana.call("space.open", {
    space: home,
    watches: [{ id: "w", root: { id: counter } }],
  });
  expect(opened).toMatchObject({ ok: true, result: { resumed: false, level: "OWNER" } });
  expect(ana.held(home, instanceKey(counter, SPACE_SCOPE_KEY))).toMatchObject({ seq: 0 });

  const appended = await ana.append(home, stream, { eventId: e1, payload: { by: 1 } });
  expect(appended).toEqual({ ok: true, result: { seq: 2, index: 0 } });

  const space = t.server.space(home);
  expect(space.engine.lease.acquire(TEST_HOLDER, 15_000)).toBe(true);
  const verdict = space.commitDerived(TEST_HOLDER, () => ({
    derivedThrough: 2 as Seq,
    consequenceOf: [e1],
    changes: [{ id: counter, scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value: 1 } }],
    appends: [],
    marks: [{ stream, seq: 2 as Seq, index: 0, eventId: e1 }],
    frontiers: [{ stream, seq: 2 as Seq }],
    basis: [],
    watermark: 2 as Seq,
  }));
  expect(verdict).toMatchObject({ ok: true, commit: { seq: 3, class: "derived" } });
  await t.run();
  const frame = ana.frames(home).at(-1);
  expect(frame).toMatchObject({
    seq: 3,
    watermark: 2,
    entries: [{ stream, eventId: e1, seq: 2, index: 0, consequenced: true }],
    frontiers: [{ stream, seq: 2 }],
  });
  expect(ana.held(home, instanceKey(counter, SPACE_SCOPE_KEY))).toEqual({
    value: 1,
    seq: 3,
    coverClass: "derived",
  });
  await t.stop();
});
