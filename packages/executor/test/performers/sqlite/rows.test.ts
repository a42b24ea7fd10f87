import { expect, test } from "vitest";
import { EffectError } from "../../../src/index.js";
import { jsonRows } from "../../../src/performers/sqlite/rows.js";

test("[EX-Y46] rows are objects by column", () => {
  expect(jsonRows(["a", "b"], [["x", 1.5]])).toEqual([{ a: "x", b: 1.5 }]);
  expect(jsonRows(["a"], [])).toEqual([]);
});

test("[EX-Y46] integers are numbers as far as numbers go, and their decimal text beyond", () => {
  const max = BigInt(Number.MAX_SAFE_INTEGER);
  expect(jsonRows(["n"], [[0n], [-5n], [max], [max + 1n], [-(2n ** 63n)]])).toEqual([
    { n: 0 },
    { n: -5 },
    { n: Number.MAX_SAFE_INTEGER },
    { n: "9007199254740992" },
    { n: "-9223372036854775808" },
  ]);
});

test("[EX-Y46] a blob is its bytes in base64, and nothing is null", () => {
  expect(jsonRows(["a", "b"], [[new Uint8Array([0, 255]), null]])).toEqual([
    { a: { base64: "AP8=" }, b: null },
  ]);
});

test("[EX-Y46] a column that could reach a prototype is data", () => {
  const rows = jsonRows(["__proto__"], [["x"]]);
  expect(JSON.stringify(rows)).toBe('[{"__proto__":"x"}]');
});

test("[EX-Y46] two columns of one name, and floats beyond JSON, are errors", () => {
  expect(() => jsonRows(["a", "b", "a"], [])).toThrow(EffectError);
  expect(() => jsonRows(["a"], [[Number.POSITIVE_INFINITY]])).toThrow(EffectError);
});
