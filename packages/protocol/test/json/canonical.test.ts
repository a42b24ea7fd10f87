import stringify from "fast-json-stable-stringify";
import * as fc from "fast-check";
import { sha256 } from "@noble/hashes/sha2.js";
import { describe, expect, test } from "vitest";
import { canonicalJson, contentHash, type JsonValue, useSha256 } from "../../src/index.js";
import { jsonValues, reversedKeys } from "../support/json-arbitraries.js";

describe("canonicalJson", () => {
  test("[PR-V10] does not see the order of keys", () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(canonicalJson(reversedKeys(value))).toBe(canonicalJson(value));
      }),
    );
  });

  test("[PR-V10] agrees with fast-json-stable-stringify and reads back equal", () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        const text = canonicalJson(value);
        expect(text).toBe(stringify(value));
        expect(JSON.parse(text)).toEqual(value);
      }),
    );
  });

  test("[PR-V10] keys are sorted by code unit, and text is not normalized", () => {
    expect(canonicalJson({ b: 1, a: [], "": {}, "\uffff": 1, "😀": 1 })).toBe(
      '{"":{},"a":[],"b":1,"😀":1,"\uffff":1}',
    );
    expect(canonicalJson("\u00e9")).not.toBe(canonicalJson("e\u0301"));
  });

  test("[PR-V2] -0 has the text and the hash of 0", () => {
    expect(canonicalJson([-0, 0])).toBe("[0,0]");
    expect(contentHash(-0)).toBe(contentHash(0));
    expect(contentHash({ a: [0] })).toBe(contentHash({ a: [-0] }));
  });

  test("[PR-V11] what is no JSON has no text and no hash", () => {
    const bad = [Number.NaN, undefined, Number.POSITIVE_INFINITY, 1n, () => 1, { a: undefined }];
    for (const value of bad) {
      expect(() => canonicalJson(value as JsonValue)).toThrow(TypeError);
      expect(() => contentHash([value as JsonValue])).toThrow(TypeError);
    }
  });
});

describe("contentHash", () => {
  test("[PR-V12] is equal for equal values and different for others", () => {
    fc.assert(
      fc.property(jsonValues, jsonValues, (a, b) => {
        expect(contentHash(a) === contentHash(b)).toBe(canonicalJson(a) === canonicalJson(b));
        expect(contentHash(a)).toMatch(/^[A-Za-z0-9_-]{43}$/);
      }),
    );
  });

  test("[PR-V12] values of different types never share a hash", () => {
    const alike: JsonValue[] = [null, "null", 1, "1", true, "true", [], "[]", {}, "{}", [1], ""];
    expect(new Set(alike.map(contentHash)).size).toBe(alike.length);
  });

  test("[PR-V20] a SHA-256 of the host changes no hash, and what is none is refused", () => {
    const before = contentHash({ a: [1, "x"] });
    const utf8 = new TextEncoder();
    const digest = (text: string) => sha256(utf8.encode(text));
    expect(() => useSha256((text) => utf8.encode(text))).toThrow(TypeError);
    expect(() => useSha256((text) => digest(text).map((byte) => byte ^ 1))).toThrow(TypeError);
    let asked = 0;
    useSha256((text) => {
      asked += 1;
      return digest(text);
    });
    expect(contentHash({ a: [1, "x"] })).toBe(before);
    expect(asked).toBe(2);
    useSha256(digest);
  });

  test("[PR-V12] hashes are pinned: stored ids and event keys derive from them", () => {
    expect([contentHash(null), contentHash({ b: [1, "é"], a: true })]).toMatchInlineSnapshot(`
      [
        "aMWk6gzhZaJAp9wTD1WbJyPSLihe68CPUtdYP_xfV1U",
        "KGDSYHX-AUNeShFr4j7P9vJOXbB525SNwCpUfuVrmTA",
      ]
    `);
  });
});
