import { receiptIdFor } from "@tidemark/protocol";
import { expect, test } from "vitest";
import {
  applyMark,
  consequencesOf,
  decidePending,
  markFor,
  MAX_END_TEXT,
  outcomeOf,
  receiptFor,
} from "../src/index.js";
import { at, entry, ev, OTHER_STREAM, STREAM } from "./kit.js";

test("[EV-E1] every end is a mark, and success has no status", () => {
  const place = entry({ seq: at(5) });

  expect(markFor(place, { kind: "succeeded" })).toEqual({
    stream: STREAM,
    seq: 5,
    index: 0,
    eventId: "e5",
  });
  expect(markFor(place, { kind: "errored", error: "boom" })).toMatchObject({
    status: "errored",
    error: "boom",
  });
  expect(markFor(place, { kind: "dropped", reason: "no such piece" })).toMatchObject({
    status: "dropped",
    reason: "no such piece",
  });
});

test("[EV-E1] an entry tells its outcome", () => {
  const place = entry({ seq: at(5) });
  const ended = applyMark(place, markFor(place, { kind: "refused", error: "no" }));

  expect(outcomeOf(place)).toBe("pending");
  expect(outcomeOf(applyMark(place, markFor(place, { kind: "succeeded" })))).toBe("consequenced");
  expect(outcomeOf(ended)).toBe("refused");
  expect(place).not.toHaveProperty("consequenced");
});

test("[EV-E2] a foreign error text is bounded and loses lone surrogates", () => {
  const place = entry({ seq: at(5) });
  const long = markFor(place, { kind: "errored", error: "😀".repeat(MAX_END_TEXT) });
  const broken = markFor(place, { kind: "errored", error: "a\uD800b" });

  expect(long.error?.length).toBeLessThanOrEqual(MAX_END_TEXT);
  expect(long.error).not.toMatch(/\p{Surrogate}/u);
  expect(broken.error).toBe("a\uFFFDb");
});

test("[EV-E3] a derived commit names each consequence once and no duplicate passed over", () => {
  const marks = [
    markFor(entry({ seq: at(5), eventId: ev("x") }), { kind: "succeeded" }),
    markFor(entry({ seq: at(6), eventId: ev("x"), stream: OTHER_STREAM }), { kind: "succeeded" }),
    { ...markFor(entry({ seq: at(7), eventId: ev("y") }), { kind: "succeeded" }), duplicate: true },
  ] as const;

  expect(consequencesOf(marks)).toEqual(["x"]);
});

test("[EV-E4] the receipt is the handler's value under the event and stream, or an empty object", () => {
  const id = receiptIdFor(ev("e5"), STREAM);

  expect(receiptFor(ev("e5"), STREAM, 42)).toEqual({ id, value: 42 });
  expect(receiptFor(ev("e5"), STREAM, null)).toEqual({ id, value: null });
  expect(receiptFor(ev("e5"), STREAM, undefined)).toEqual({ id, value: {} });
  expect(receiptFor(ev("e5"), OTHER_STREAM, undefined).id).not.toBe(id);
});

test("[EV-P1] a re-admitted id whose first stands consumed is passed over with the first's outcome", () => {
  const first = entry({ seq: at(5), eventId: ev("x") });
  const failed = applyMark(first, markFor(first, { kind: "errored", error: "boom" }));
  const again = entry({ seq: at(9), eventId: ev("x") });

  expect(decidePending(again, failed)).toEqual({
    kind: "pass-over",
    mark: {
      stream: STREAM,
      seq: 9,
      index: 0,
      eventId: "x",
      status: "errored",
      error: "boom",
      duplicate: true,
    },
  });
});

test("[EV-P2] an id whose first is gone, unconsumed or later runs as an event of its own", () => {
  const again = entry({ seq: at(9), eventId: ev("x") });
  const later = entry({ seq: at(11), eventId: ev("x"), consequenced: true });

  expect(decidePending(again, undefined)).toEqual({ kind: "run" });
  expect(decidePending(again, entry({ seq: at(5), eventId: ev("x") }))).toEqual({ kind: "run" });
  expect(decidePending(again, later)).toEqual({ kind: "run" });
});
