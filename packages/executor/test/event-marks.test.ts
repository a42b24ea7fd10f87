import { beforeEach, expect, test } from "vitest";
import { marksIn, marksOf, type EventMarks } from "@tidemark/events";
import { streamIdFor, type DocId, type EventId, type JsonValue } from "@tidemark/protocol";
import { cell, handler, pattern } from "@tidemark/runtime";
import { z } from "zod";
import { createWorld, type World } from "./support/world.js";

const MARKS: EventMarks = { rendererTrusted: true, runtimeInjectedEventKeys: ["at"] };

/** The marks of each payload as its handler got it. */
const seen: [name: string, marks: EventMarks][] = [];
const look = (name: string, payload: unknown): void =>
  void seen.push([name, marksOf(payload, structuredClone(payload) as JsonValue)]);

let spend: () => void = () => undefined;

const relay = pattern({
  id: "relay",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const third = handler("third", z.unknown(), (payload) => {
      look("third", payload);
      n.increment(1);
    });
    const second = handler("second", z.unknown(), (payload) => {
      look("second", payload);
      third.send(payload);
      third.send({ ...(payload as object) });
    });
    const first = handler("first", z.unknown(), (payload) => {
      look("first", payload);
      second.send(payload);
      spend();
    });
    return { n, first, second, third };
  },
});

beforeEach(() => {
  seen.length = 0;
  spend = () => undefined;
});

async function served(): Promise<World & { readonly piece: DocId }> {
  const w = await createWorld({ patterns: [relay] });
  const piece = await w.create(relay);
  await w.open(w.owner, piece, ["n"]);
  await w.settle();
  return { ...w, piece };
}

const fire = (w: World & { piece: DocId }, id: string, fields: object) =>
  w.owner.append(w.space, streamIdFor(w.piece, "first"), {
    eventId: id as EventId,
    payload: { option: "soup", at: 3 },
    ...fields,
  });

const entriesOf = (w: World & { piece: DocId }, name: string): readonly EventMarks[] =>
  w.t.server.space(w.space).engine.entries.list(streamIdFor(w.piece, name)).map(marksIn);

const CHAIN = [
  ["first", MARKS],
  ["second", MARKS],
  ["third", MARKS],
  ["third", {}],
];

test("[EX-C8] a handler's payload bears its event's marks, and what it forwards has them, in one wave", async () => {
  const w = await served();
  await fire(w, "e1", MARKS);
  await w.settle();
  expect(seen).toEqual(CHAIN);
  expect([entriesOf(w, "second"), entriesOf(w, "third")]).toEqual([[MARKS], [MARKS, {}]]);
  expect(w.value(w.piece, "n")).toBe(2);
  await w.stop();
});

test("[EX-C8] a forwarded event that its wave does not run is drained with its marks", async () => {
  const w = await served();
  spend = () => w.t.clock.spend(200);
  await fire(w, "e1", MARKS);
  await w.settle();
  expect(w.host.spaceStats(w.space).events.lt1LeftoversPurged).toBe(1);
  expect(seen).toEqual(CHAIN);
  await w.stop();
});

test("[EX-C8] an event without marks, whatever its payload claims, is handled and forwarded without", async () => {
  const w = await served();
  await fire(w, "e1", { payload: { ...MARKS } });
  await w.settle();
  expect(seen.map(([, marks]) => marks)).toEqual([{}, {}, {}, {}]);
  expect([...entriesOf(w, "second"), ...entriesOf(w, "third")]).toEqual([{}, {}, {}]);
  await w.stop();
});
