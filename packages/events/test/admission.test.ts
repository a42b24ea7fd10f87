import { expect, test } from "vitest";
import type { SessionId, StreamEntry } from "@tidemark/protocol";
import { admitAppend, marksIn, parseAuthoredEntry, type AppendEnvelope } from "../src/index.js";
import { A1, ANA, at, BEN, ev, STREAM } from "./kit.js";

const ENVELOPE: AppendEnvelope = {
  principal: ANA,
  session: A1,
  stream: STREAM,
  seq: at(8),
  index: 0,
  at: 5_000,
};

const EMPTY = { frontier: at(0) };

function refusal(raw: unknown): unknown {
  try {
    parseAuthoredEntry(raw);
  } catch (error) {
    return error;
  }
  return undefined;
}

test("[EV-A1] the actor, the place and the instant of an entry come from the envelope", () => {
  const authored = parseAuthoredEntry({ eventId: "e1", payload: { option: "soup" }, clientSeq: 4 });

  const verdict = admitAppend(EMPTY, authored, ENVELOPE);

  expect(verdict).toEqual({
    ok: true,
    entry: {
      stream: STREAM,
      seq: 8,
      index: 0,
      eventId: "e1",
      payload: { option: "soup" },
      appendedAt: 5_000,
      firedAt: { user: ANA, session: A1, clientSeq: 4 },
    },
  });
});

test("[EV-A1] an append without an authenticated principal is refused", () => {
  const verdict = admitAppend(EMPTY, parseAuthoredEntry({ eventId: "e1" }), {
    ...ENVELOPE,
    principal: undefined,
  });

  expect(verdict).toMatchObject({ ok: false, error: { code: "unauthorized" } });
});

test.each([
  ["user", { user: BEN, session: A1 }],
  ["session", { user: ANA, session: "a2" }],
  ["clientSeq", { user: ANA, session: A1, clientSeq: 5 }],
])(
  "[EV-A2] a supplied firedAt whose %s disagrees is refused, never corrected",
  (field, firedAt) => {
    const authored = parseAuthoredEntry({ eventId: "e1", clientSeq: 4, firedAt });

    const verdict = admitAppend(EMPTY, authored, ENVELOPE);

    expect(verdict).toMatchObject({ ok: false, error: { code: "protocol" } });
    expect(verdict).toHaveProperty("error.message", expect.stringContaining(`firedAt.${field}`));
  },
);

test("[EV-A2] a supplied firedAt that tells the truth is accepted", () => {
  const firedAt = { user: ANA, session: A1, clientSeq: 4 };
  const verdict = admitAppend(
    EMPTY,
    parseAuthoredEntry({ eventId: "e1", clientSeq: 4, firedAt }),
    ENVELOPE,
  );

  expect(verdict).toMatchObject({ ok: true, entry: { firedAt } });
});

test("[EV-A3] an event id is taken while its entry stands above the frontier and free once passed", () => {
  const authored = parseAuthoredEntry({ eventId: "e1" });

  const standing = { seq: at(5), firedAt: { user: ANA, session: A1 } };
  const above = admitAppend({ frontier: at(4), standing }, authored, ENVELOPE);
  const passed = admitAppend({ frontier: at(5), standing }, authored, ENVELOPE);

  expect(above).toMatchObject({ ok: false, error: { code: "duplicate-event" } });
  expect(above).toHaveProperty("error.message", expect.stringContaining("seq 5"));
  expect(passed).toMatchObject({ ok: true, entry: { seq: 8 } });
});

test("[EV-A6] an id that somebody else's event has taken is a duplicate that delivers nothing; one of the same user's other session delivers", () => {
  const authored = parseAuthoredEntry({ eventId: "e1" });
  const refusedBeside = (firedAt: StreamEntry["firedAt"]) =>
    admitAppend({ frontier: at(4), standing: { seq: at(5), firedAt } }, authored, ENVELOPE);

  const twin = refusedBeside({ user: ANA, session: "a2" as SessionId });
  expect(twin).toMatchObject({ ok: false, error: { code: "duplicate-event", foreign: false } });
  for (const firedAt of [{ user: BEN, session: A1 }, { session: A1 }]) {
    const refused = refusedBeside(firedAt);
    expect(refused).toMatchObject({ ok: false, error: { code: "duplicate-event", foreign: true } });
    expect(refused).toHaveProperty("error.message", expect.stringContaining("somebody else's"));
  }
});

const FORGED: readonly (readonly [field: string, value: unknown])[] = [
  ["seq", 5],
  ["index", 0],
  ["consequenced", true],
  ["status", "dropped"],
  ["error", "boom"],
  ["reason", "because"],
  ["checkpoint", {}],
  ["attention", {}],
  ["resolution", "dismissed"],
  ["appendedAt", 1],
  ["duplicate", true],
];

test.each(FORGED)("[EV-A4] an authored entry that pre-sets %s is refused", (field, value) => {
  expect(refusal({ eventId: "e1", payload: null, [field]: value })).toMatchObject({
    code: "protocol",
  });
});

test.each([
  ["no id", { payload: null }],
  ["an id with a space", { eventId: "e 1" }],
  ["an id that is too long", { eventId: "e".repeat(129) }],
  ["a negative clientSeq", { eventId: "e1", clientSeq: -1 }],
  ["a renderer attestation other than true", { eventId: "e1", rendererTrusted: false }],
  ["a firedAt with a further field", { eventId: "e1", firedAt: { user: ANA, session: A1, x: 1 } }],
  ["no object", 7],
])("[EV-A5] an entry with %s is refused with a typed error", (_what, raw) => {
  expect(refusal(raw)).toMatchObject({ code: "protocol" });
});

test("[EV-A5] a payload that is not JSON is refused with its path before the envelope is read", () => {
  const error = refusal({ eventId: "e1", payload: { when: new Date(0) } });

  expect(error).toMatchObject({ code: "protocol", details: { path: ["payload", "when"] } });
});

test("[EV-A5] a payload keeps an own __proto__ key as data", () => {
  const payload: unknown = JSON.parse('{"__proto__": {"admin": true}}');

  const authored = parseAuthoredEntry({ eventId: "e1", payload });

  expect(Object.keys(authored.payload as object)).toEqual(["__proto__"]);
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test("[EV-A5] an entry without a payload carries null", () => {
  expect(parseAuthoredEntry({ eventId: "e1" }).payload).toBeNull();
  expect(parseAuthoredEntry({ eventId: "e1", retryOf: "e0" }).retryOf).toBe(ev("e0"));
});

test.each([
  ["an attestation that is false", { rendererTrusted: false }],
  ["an attestation that is a number", { rendererTrusted: 1 }],
  ["injected keys that are no list", { runtimeInjectedEventKeys: { at: true } }],
  ["injected keys that are no keys", { runtimeInjectedEventKeys: [null] }],
])("[EV-T2] an authored entry with %s is refused", (_what, fields) => {
  expect(refusal({ eventId: "e1", payload: null, ...fields })).toMatchObject({ code: "protocol" });
});

test("[EV-T3] an authored entry has the marks of its fields, and none that its payload claims", () => {
  const marks = { rendererTrusted: true, runtimeInjectedEventKeys: ["at"] } as const;
  const entryOf = (fields: object): unknown => {
    const verdict = admitAppend(EMPTY, parseAuthoredEntry({ eventId: "e1", ...fields }), ENVELOPE);
    return verdict.ok ? marksIn(verdict.entry) : verdict.error;
  };

  expect(entryOf({ payload: null, ...marks })).toEqual(marks);
  expect(entryOf({ payload: { ...marks } })).toEqual({});
});
