import { expect, test } from "vitest";
import { marksIn, stampCarried, type CarriedEntry } from "../src/index.js";
import { A1, ANA, at, ev, OTHER_STREAM, STREAM } from "./kit.js";

const COMMIT = { seq: at(20), at: 9_000 };

function carried(fields: Partial<CarriedEntry> = {}): CarriedEntry {
  return {
    stream: STREAM,
    eventId: ev("c1"),
    payload: 1,
    firedAt: { user: ANA, session: A1 },
    ...fields,
  };
}

test("[EV-L1] entries of one derived commit share its seq and are counted in order over all streams", () => {
  const { entries } = stampCarried(
    [
      carried(),
      carried({ eventId: ev("c2") }),
      carried({ eventId: ev("c3"), stream: OTHER_STREAM }),
    ],
    COMMIT,
  );

  expect(entries.map((one) => [one.stream, one.seq, one.index])).toEqual([
    [STREAM, 20, 0],
    [STREAM, 20, 1],
    [OTHER_STREAM, 20, 2],
  ]);
});

test("[EV-L2] a cascade keeps its root's instant, and takes the commit's where none is given", () => {
  const { entries } = stampCarried(
    [carried({ appendedAt: 1_234 }), carried({ eventId: ev("c2") })],
    COMMIT,
  );

  expect(entries.map((one) => one.appendedAt)).toEqual([1_234, 9_000]);
});

test("[EV-L3] an entry handled in its own wave carries its mark", () => {
  const { entries, marks } = stampCarried(
    [carried({ mark: { status: "errored", error: "boom" } })],
    COMMIT,
  );

  expect(entries[0]).toMatchObject({ consequenced: true, status: "errored", error: "boom" });
  expect(entries[0]).not.toHaveProperty("mark");
  expect(marks).toEqual([
    { stream: STREAM, seq: 20, index: 0, eventId: "c1", status: "errored", error: "boom" },
  ]);
});

test.each([
  ["no firedAt", { firedAt: undefined }],
  ["a clientSeq", { firedAt: { user: ANA, session: A1, clientSeq: 1 } }],
  ["a seq of its own", { seq: 3 }],
  ["a status outside its mark", { status: "dropped" }],
])("[EV-L4] a carried entry with %s is refused", (_what, fields) => {
  const bad = { ...carried(), ...fields } as unknown as CarriedEntry;

  expect(() => stampCarried([bad], COMMIT)).toThrow(expect.objectContaining({ code: "protocol" }));
});

test("[EV-L4] one id twice on one stream is refused, and on two streams it is two events", () => {
  expect(() => stampCarried([carried(), carried()], COMMIT)).toThrow(
    expect.objectContaining({ code: "protocol" }),
  );
  expect(stampCarried([carried(), carried({ stream: OTHER_STREAM })], COMMIT).entries).toHaveLength(
    2,
  );
});

test.each([
  ["a renderer's attestation that is false", { rendererTrusted: false }],
  ["one that is a word", { rendererTrusted: "true" }],
  ["injected keys that are no list", { runtimeInjectedEventKeys: "at" }],
  ["injected keys that are no keys", { runtimeInjectedEventKeys: [1] }],
])("[EV-T2] a carried entry with %s is refused", (_what, fields) => {
  const bad = { ...carried(), ...fields } as unknown as CarriedEntry;

  expect(() => stampCarried([bad], COMMIT)).toThrow(expect.objectContaining({ code: "protocol" }));
});

test("[EV-T3] a carried entry keeps its own marks, and gets none from its payload", () => {
  const marks = { rendererTrusted: true, runtimeInjectedEventKeys: ["at"] } as const;
  const payload = { ...marks };
  const { entries } = stampCarried(
    [carried({ ...marks, payload }), carried({ eventId: ev("c2"), payload })],
    COMMIT,
  );

  expect(entries.map((entry) => marksIn(entry))).toEqual([marks, {}]);
});
