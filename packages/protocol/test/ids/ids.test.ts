import { describe, expect, test } from "vitest";
import {
  actionId,
  branchName,
  docId,
  eventId,
  holderId,
  identityFromSeed,
  isDocId,
  isEventId,
  isLocalSeq,
  isPrincipal,
  isSeq,
  isSessionId,
  isSpaceId,
  localSeq,
  MAIN_BRANCH,
  principal,
  ProtocolError,
  seq,
  sessionId,
  spaceId,
} from "../../src/index.js";

const did = identityFromSeed(new Uint8Array(32).fill(9)).did;

describe("ids", () => {
  test("[PR-I1] constructors return what their guards accept", () => {
    expect(principal(did)).toBe(did);
    expect(spaceId(did)).toBe(did);
    expect(sessionId("tab-1_.~")).toBe("tab-1_.~");
    expect(eventId("01J!~")).toBe("01J!~");
    expect(docId("node:é😀")).toBe("node:é😀");
    expect(branchName("draft/2")).toBe("draft/2");
    expect(holderId("srv1#7")).toBe("srv1#7");
    expect([seq(0), localSeq(7)]).toEqual([0, 7]);
    expect(branchName("main")).toBe(MAIN_BRANCH);
  });

  test("[PR-I1] constructors throw a ProtocolError for anything else", () => {
    const attempts = [
      () => principal("did:key:z6MkShort"),
      () => spaceId("space-a"),
      () => sessionId(""),
      () => eventId("a b"),
      () => docId(""),
      () => branchName("a b"),
      () => holderId("x".repeat(129)),
      () => seq(-1),
      () => localSeq(1.5),
    ];
    for (const attempt of attempts) expect(attempt).toThrow(ProtocolError);
  });

  test("[PR-I2] a client cannot mint the session that stands for nobody", () => {
    expect(isSessionId("server")).toBe(false);
    expect(isSessionId("server2")).toBe(true);
  });

  test("[PR-I3] document ids hold no space, control character or lone surrogate", () => {
    const bad = [
      "a b",
      "a\u00a0b",
      "a\u2028",
      "\u0000",
      "a\u0085",
      "\ud800",
      "\udc00\ud800",
      "x".repeat(257),
      "😀".repeat(129),
      7,
      undefined,
    ];
    for (const id of bad) expect(isDocId(id)).toBe(false);
    expect(isDocId("x".repeat(256))).toBe(true);
    expect(["__proto__", "constructor", "toString"].every(isDocId)).toBe(true);
  });

  test("[PR-I3] event ids are 1..128 printable ASCII characters without space", () => {
    expect(isEventId("e".repeat(128))).toBe(true);
    for (const id of ["", "e".repeat(129), "é", "\ud800", "a\n", "a b", null]) {
      expect(isEventId(id)).toBe(false);
    }
  });

  test("[PR-I4] principals and spaces are did:keys of Ed25519", () => {
    const bad = ["did:key:z6Mk", `${did}x`, did.toLowerCase(), did.replace("6Mk", "6Ml"), "*"];
    for (const id of bad) expect([isPrincipal(id), isSpaceId(id)]).toEqual([false, false]);
    expect(isPrincipal(did.slice(0, -1) + "0")).toBe(false);
  });

  test("[PR-I5] seqs are safe integers of 0 or more", () => {
    for (const n of [-1, 0.5, Number.NaN, 2 ** 53, "1", undefined]) {
      expect([isSeq(n), isLocalSeq(n)]).toEqual([false, false]);
    }
  });

  test("[PR-I6] an action is named by pattern, node and piece", () => {
    expect(actionId("counter", "count", docId("piece:p"))).toBe("counter/count@piece:p");
  });
});
