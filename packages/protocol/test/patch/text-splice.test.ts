import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyPatch, type JsonValue, PatchError } from "../../src/index.js";

function edit(text: JsonValue, index: number, remove: number, insert: string): JsonValue {
  return applyPatch(text, [{ op: "splice", path: [], index, remove, insert }]);
}

/** The meaning of a splice, said with an array of code points. */
function oracle(text: string, index: number, remove: number, insert: string): string {
  const points = [...text];
  points.splice(Math.min(index, points.length), remove, ...insert);
  return points.join("");
}

const units = fc.constantFrom("a", "é", "e\u0301", "漢", "😀", "𝒳", "\u0000");
const texts = fc.array(units, { maxLength: 12 }).map((parts) => parts.join(""));
const counts = fc.integer({ min: 0, max: 1600 });

describe("splice of text", () => {
  test("[PR-P18] counts code points, cuts at the end and never splits a pair", () => {
    const counts = fc.integer({ min: 0, max: 14 });
    fc.assert(
      fc.property(texts, counts, counts, texts, (text, index, remove, insert) => {
        expect(edit(text, index, remove, insert)).toBe(oracle(text, index, remove, insert));
      }),
      { numRuns: 2000 },
    );
    expect(edit("a😀b", 1, 1, "")).toBe("ab");
    expect(edit("a😀b", 2, 0, "-")).toBe("a😀-b");
  });

  test("[PR-P18] a long run of edits to several texts in turn gives what the oracle gives", () => {
    const edits = fc.array(fc.tuple(fc.nat({ max: 5 }), counts, fc.nat({ max: 3 }), texts), {
      minLength: 20,
      maxLength: 60,
    });
    fc.assert(
      fc.property(edits, (steps) => {
        const state = ["a", "é", "漢", "😀", "a😀", "e\u0301漢"].map((unit) => unit.repeat(700));
        for (const [which, index, remove, insert] of steps) {
          const text = state[which] ?? "";
          state[which] = edit(text, index, remove, insert) as string;
          expect(state[which]).toBe(oracle(text, index, remove, insert));
        }
      }),
      { numRuns: 40 },
    );
  });

  test("[PR-P19] inserting a lone surrogate is refused, even where its other half stands", () => {
    for (const bad of ["\ud83d", "\ude00", "a\udc00"]) {
      expect(() => edit("\ud83d\ude00", 1, 0, bad)).toThrow(PatchError);
    }
  });

  test("[PR-P18] text is not normalized by an edit", () => {
    expect(edit("e", 1, 0, "\u0301")).toBe("e\u0301");
    expect(edit("e\u0301", 1, 1, "")).toBe("e");
  });
});
