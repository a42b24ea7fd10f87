import type { CapabilityRef, DocId, EntryMark, EventId } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { decodeDetail, encodeDetail } from "../../src/commit/detail.js";
import { at, doc, event } from "../../src/testing/harness.js";

const mark = (stream: string, seq: number, id: string): EntryMark => ({
  stream: doc(stream) as DocId,
  seq: at(seq),
  index: 0,
  eventId: event(id) as EventId,
});

test("[ME-C13] what a commit row keeps of marks, frontiers and consequences comes back", () => {
  const marks: EntryMark[] = [
    { ...mark("stream:s", 1, "e1") },
    { ...mark("stream:t", 2, "e2"), status: "errored", error: "boom" },
    { ...mark("stream:s", 3, "e1"), duplicate: true },
  ];
  const frontiers = [{ stream: doc("stream:s"), seq: at(3) }];
  const cases = [
    { marks, frontiers, consequenceOf: [event("e1"), event("e2")] },
    { marks, frontiers, consequenceOf: [event("e2"), event("other")] },
    { marks, frontiers: [], consequenceOf: undefined },
    { marks: [], frontiers, consequenceOf: [event("e9")] },
    { marks: [], frontiers: [], consequenceOf: undefined },
    {
      marks: [],
      frontiers: [],
      consequenceOf: undefined,
      capabilityRef: "event-consequence:e1" as CapabilityRef,
    },
  ];
  for (const detail of cases) expect(decodeDetail(encodeDetail(detail))).toEqual(detail);
});

test("[ME-C13] a commit with nothing more to say keeps no detail, and implied consequences are not stored twice", () => {
  expect(encodeDetail({ marks: [], frontiers: [], consequenceOf: undefined })).toBe(null);
  const marks = [mark("stream:s", 1, "e1")];
  const text = encodeDetail({ marks, frontiers: [], consequenceOf: [event("e1")] });
  expect(text?.split("e1").length).toBe(2);
});
