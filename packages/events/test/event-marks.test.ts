import { expect, test } from "vitest";
import { markEvent, marksIn, marksOf, type EventMarks } from "../src/index.js";

const MARKS: EventMarks = { rendererTrusted: true, runtimeInjectedEventKeys: ["at"] };

/** As a sender would be asked: the object, and what would be stored of it. */
const sent = (payload: unknown): EventMarks =>
  marksOf(payload, JSON.parse(JSON.stringify(payload)) as never);

test("[EV-T1] the very object bears its marks; its equal, its copy and what holds it do not", () => {
  const payload = { option: "soup", at: 3, more: { deep: true } };
  markEvent(payload, MARKS);

  expect(sent(payload)).toEqual(MARKS);
  expect(sent({ ...payload })).toEqual({});
  expect(sent(structuredClone(payload))).toEqual({});
  expect(sent({ payload })).toEqual({});
  expect(sent(payload.more)).toEqual({});
});

test("[EV-T1] an object that was written to since bears none, however deep, until it is as it was", () => {
  const payload = { list: [{ price: 1 }] };
  markEvent(payload, MARKS);
  (payload.list[0] as { price: number }).price = 2;

  expect(sent(payload)).toEqual({});
  (payload.list[0] as { price: number }).price = 1;
  expect(sent(payload)).toEqual(MARKS);
});

test.each([null, 7, "text", true])("[EV-T1] a scalar stays unmarked: %j", (payload) => {
  markEvent(payload, MARKS);

  expect(sent(payload)).toEqual({});
});

test("[EV-T1] to mark with nothing marks nothing, and what is no JSON cannot be sent marked", () => {
  const plain = {};
  const dated = { at: new Date(0) };
  markEvent(plain, {});
  markEvent(dated, MARKS);

  expect([sent(plain), sent(dated)]).toEqual([{}, {}]);
});

test("[EV-T3] the marks of an entry are its own fields, and no more of it", () => {
  const payload = { rendererTrusted: true, runtimeInjectedEventKeys: ["x"] };

  expect(marksIn({ payload, eventId: "e1" } as EventMarks)).toEqual({});
  expect(marksIn({ payload, rendererTrusted: true } as EventMarks)).toEqual({
    rendererTrusted: true,
  });
});
