import { expect, test } from "vitest";
import { marksIn, type EventMarks } from "@tidemark/events";
import type { DocId, SpaceId } from "@tidemark/protocol";
import { createTestServer, type TestServer } from "../../src/testing/index.js";
import { derive, event, STREAM } from "./support.js";

const MARKS: EventMarks = { rendererTrusted: true, runtimeInjectedEventKeys: ["at"] };

const FORGED: readonly object[] = [
  { rendererTrusted: false },
  { rendererTrusted: "true" },
  { rendererTrusted: 1 },
  { runtimeInjectedEventKeys: "at" },
  { runtimeInjectedEventKeys: [1] },
  { runtimeInjectedEventKeys: { at: true } },
];

const stored = (t: TestServer, space: SpaceId, id: string, stream: DocId = STREAM) =>
  t.server.space(space).engine.entries.byEvent(stream, event(id)).map(marksIn);

async function home() {
  const t = createTestServer();
  const ana = await t.connected("ana");
  return { t, ana, space: await t.space("home", ana) };
}

test("[ME-A25] what the firing runtime attests is stored with the entry, and its payload attests nothing", async () => {
  const { t, ana, space } = await home();
  const append = (id: string, entry: object) =>
    ana.append(space, STREAM, { eventId: event(id), payload: null, ...entry });
  expect(await append("e1", MARKS)).toMatchObject({ ok: true });
  expect(await append("e2", { payload: { ...MARKS } })).toMatchObject({ ok: true });
  expect([stored(t, space, "e1"), stored(t, space, "e2")]).toEqual([[MARKS], [{}]]);
  await t.stop();
});

test("[ME-A25] a client's entry with marks of another form is refused", async () => {
  const { t, ana, space } = await home();
  for (const fields of FORGED) {
    const entry = { eventId: event("e1"), payload: null, ...fields } as never;
    expect(await ana.append(space, STREAM, entry), JSON.stringify(fields)).toMatchObject({
      ok: false,
      error: { name: "ProtocolError" },
    });
  }
  expect(stored(t, space, "e1")).toEqual([]);
  await t.stop();
});

test("[ME-A25] so is a wave's, and one of the right form keeps them", async () => {
  const { t, ana, space } = await home();
  const firedAt = { user: ana.identity.did, session: ana.sessionId };
  const entry = { stream: STREAM, eventId: event("c1"), payload: { at: 3 }, firedAt };
  for (const fields of FORGED) {
    const appends = [{ ...entry, ...fields } as never];
    expect(derive(t, space, { appends }), JSON.stringify(fields)).toMatchObject({
      ok: false,
      error: { code: "protocol" },
    });
  }
  expect(derive(t, space, { appends: [{ ...entry, ...MARKS }] })).toMatchObject({ ok: true });
  expect(stored(t, space, "c1")).toEqual([MARKS]);
  await t.stop();
});
