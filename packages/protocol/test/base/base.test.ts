import { describe, expect, test } from "vitest";
import {
  assert,
  err,
  InvariantError,
  isWellFormedText,
  must,
  ok,
  unreachable,
  unwrap,
} from "../../src/index.js";

describe("base", () => {
  test("[PR-E1] a broken invariant throws an InvariantError with its message", () => {
    expect(() => assert(false, "heights are ordered")).toThrow(InvariantError);
    expect(() => assert(true, "fine")).not.toThrow();
    expect(() => must(undefined, "a head row")).toThrow("a head row");
    expect(must(0)).toBe(0);
    expect(() => unreachable("extra" as never)).toThrow('"extra"');
    expect(() => unreachable(Object.create(null) as never)).toThrow(InvariantError);
  });

  test("[PR-E1] unwrap gives the value of a success and throws the error of a refusal", () => {
    expect(unwrap(ok(3))).toBe(3);
    expect(() => unwrap(err(new RangeError("too far")))).toThrow("too far");
  });

  test("[PR-V3] text is well formed unless it holds a lone surrogate", () => {
    expect(["", "é", "😀", "\u0000"].map(isWellFormedText)).toEqual([true, true, true, true]);
    expect(["\ud800", "\udc00\ud800", "a\ud83d"].map(isWellFormedText)).toEqual([
      false,
      false,
      false,
    ]);
  });
});
