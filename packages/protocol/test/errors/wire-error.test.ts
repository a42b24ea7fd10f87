import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AuthorizationError,
  ConflictError,
  ConnectionError,
  docId,
  DuplicateEventError,
  EventDeliveryError,
  eventId,
  FrameError,
  fromWireError,
  HistoryHorizonError,
  holderId,
  identityFromSeed,
  isTidemarkError,
  LeaseError,
  LimitError,
  localSeq,
  NarrowingUnsupportedError,
  OutOfTurnError,
  PatchError,
  PreconditionError,
  ProtocolError,
  readAppendRefusal,
  ResolutionError,
  ScopeError,
  seq,
  SPACE_SCOPE_KEY,
  spaceId,
  SpeculativeBasisError,
  StorageError,
  TidemarkError,
  TimeoutError,
  toWireError,
  UnknownPatternError,
  userScopeKey,
  ValueError,
  type WireError,
  WireErrorSchema,
} from "../../src/index.js";

const ana = identityFromSeed(new Uint8Array(32).fill(1)).did;
const seqs = fc.nat().map((n) => seq(n));
const messages = fc.string({ maxLength: 40 });
const pathArb = fc.array(fc.oneof(fc.constantFrom("__proto__", "a"), fc.nat()), { maxLength: 3 });
const conflicts = fc.array(
  fc.record({
    id: fc.constantFrom(docId("node:x"), docId("constructor")),
    scopeKey: fc.constantFrom(SPACE_SCOPE_KEY, userScopeKey(ana)),
    path: pathArb,
    readSeq: seqs,
    conflictingSeq: seqs,
  }),
);
const authorization = fc.record(
  {
    permanentEvidence: fc.boolean(),
    aclRevision: fc.nat(),
    retriable: fc.boolean(),
    sessionRevoked: fc.boolean(),
  },
  { requiredKeys: [] },
);

const event = eventId("e1");
const errors: fc.Arbitrary<TidemarkError> = fc.oneof(
  fc.tuple(messages, conflicts).map(([m, c]) => new ConflictError(m, { conflicts: c })),
  fc.tuple(messages, authorization).map(([m, d]) => new AuthorizationError(m, d)),
  fc.tuple(messages, seqs).map(([m, s]) => new DuplicateEventError(m, { eventId: event, seq: s })),
  fc.tuple(messages, pathArb).map(([m, path]) => new ProtocolError(m, { path })),
  fc.tuple(messages, fc.nat()).map(([m, index]) => new PreconditionError(m, { index })),
  fc.tuple(messages, pathArb).map(([m, path]) => new ValueError(m, { path, reason: "cycle" })),
  fc
    .tuple(messages, pathArb, fc.nat())
    .map(([m, path, index]) => new PatchError(m, { path, index, reason: "bad-index" })),
  fc
    .tuple(messages, seqs, seqs)
    .map(([m, requested, horizon]) => new HistoryHorizonError(m, { requested, horizon })),
  fc.constantFrom<TidemarkError>(
    new LeaseError("lapsed", { space: spaceId(ana), holder: holderId("h1") }),
    new LeaseError("lapsed"),
    new OutOfTurnError("e2 waits for e1"),
    new ProtocolError("malformed"),
    new ResolutionError("resolved", { eventId: event }),
    new SpeculativeBasisError("not confirmed", { localSeq: localSeq(4) }),
    new ScopeError("nobody", { reason: "no-acting-session" }),
    new ScopeError("nobody", { reason: "malformed" }),
    new NarrowingUnsupportedError("narrow", { id: docId("node:x"), scope: "user" }),
    new FrameError("not here", { builtin: "eventKey" }),
    new UnknownPatternError("who", { patternId: "toString", version: "1" }),
    new TimeoutError("slow", { afterMs: 50 }),
    new ConnectionError("gone", { reason: "superseded" }),
    new EventDeliveryError("dropped", { kind: "dropped", reason: "no handler", eventId: event }),
    new LimitError("big", { limit: "message-bytes", max: 4, actual: 5 }),
  ),
);

describe("wire errors", () => {
  test("[PR-E4] every error survives the wire with class, code, message and fields", () => {
    fc.assert(
      fc.property(errors, (error) => {
        const text = JSON.stringify(toWireError(error));
        const back = fromWireError(WireErrorSchema.parse(JSON.parse(text)));
        expect(back.constructor).toBe(error.constructor);
        expect(back.code).toBe(error.code);
        expect(back.message).toBe(error.message);
        expect(back.details).toEqual(error.details);
      }),
    );
  });

  test("[PR-E5] stack, cause, SQL and file names stay at home", () => {
    const cause = new Error("seed=hunter2");
    const storage = new StorageError(
      "INSERT failed in /var/spaces/a.db",
      { kind: "full" },
      { cause },
    );
    const text = JSON.stringify(toWireError(storage));
    expect(text).not.toMatch(/INSERT|\/var|hunter2|stack|cause/);
    expect(fromWireError(toWireError(storage))).toMatchObject({ code: "storage", kind: "full" });
  });

  test("[PR-E5] an error of somebody else's says nothing of itself", () => {
    for (const foreign of [new TypeError("secret"), "secret", undefined, { message: "secret" }]) {
      const wire = toWireError(foreign);
      expect(wire).toMatchObject({ name: "TidemarkError", code: "internal", details: {} });
      expect(JSON.stringify(wire)).not.toContain("secret");
    }
  });

  test("[PR-E5] fields outside an error's own list are dropped", () => {
    const details = { index: 1, token: "hunter2" };
    expect(toWireError(new PreconditionError("no", details)).details).toEqual({ index: 1 });
  });

  test("[PR-E4] an error without a wire class keeps its code alone", () => {
    class CycleError extends TidemarkError<{ readonly nodes: string[] }> {
      override readonly name = "CycleError";
      override readonly code = "cycle";
    }
    const back = fromWireError(toWireError(new CycleError("a, b", { nodes: ["a"] })));
    expect(isTidemarkError(back, "cycle")).toBe(true);
  });

  test("[PR-E4] a refusal out of turn has no wire class: an older version reads a code it does not know", () => {
    expect(toWireError(new OutOfTurnError("e2 waits for e1"))).toEqual({
      name: "TidemarkError",
      code: "out-of-turn",
      message: "e2 waits for e1",
      details: {},
    });
    const long = toWireError(new OutOfTurnError("x".repeat(10_000)));
    expect(WireErrorSchema.safeParse(long).success).toBe(true);
  });

  test("[PR-E7] a refusal of an append says the same to who sends it and to who reads it", () => {
    fc.assert(
      fc.property(errors, (error) => {
        const read = fromWireError(toWireError(error));
        expect(readAppendRefusal(read)).toBe(readAppendRefusal(error));
      }),
    );
  });

  test("[PR-E7] delivered, final, or passing: what is not known to be final passes", () => {
    const denial = (details: object): string =>
      readAppendRefusal(new AuthorizationError("no", details));
    const proof = { permanentEvidence: true, aclRevision: 3 };
    expect(
      [proof, { ...proof, retriable: true }, { permanentEvidence: true }, {}].map(denial),
    ).toEqual(["final", "passing", "passing", "passing"]);
    const seen = [
      new DuplicateEventError("again", { eventId: event, seq: seq(1) }),
      new ProtocolError("bad"),
      new LimitError("big", { limit: "message bytes", max: 1 }),
      new StorageError("disk", { kind: "full" }),
      new OutOfTurnError("behind"),
      new TypeError("a fault of the server"),
      "anything",
    ].map(readAppendRefusal);
    const passing = Array<string>(4).fill("passing");
    expect(seen).toEqual(["delivered", "final", "final", ...passing]);
  });

  test("[PR-E6] malformed wire errors are refused", () => {
    const good: WireError = toWireError(new PreconditionError("no", { index: 1 }));
    const bad: unknown[] = [
      null,
      { ...good, name: "__proto__" },
      { ...good, name: "constructor" },
      { ...good, code: "conflict" },
      { ...good, details: { index: -1 } },
      { name: good.name, code: good.code, message: good.message },
    ];
    expect(WireErrorSchema.safeParse(good).success).toBe(true);
    for (const wire of bad) expect(WireErrorSchema.safeParse(wire).success).toBe(false);
  });

  test("[PR-E6] a message too long for the wire is cut", () => {
    const wire = toWireError(new ProtocolError("x".repeat(10_000)));
    expect(wire.message.length).toBe(4096);
    expect(WireErrorSchema.safeParse(wire).success).toBe(true);
  });
});
