import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSpec } from "../src/conformance/spec.mjs";
import { idsInTitles } from "../src/conformance/titles.mjs";

const HERE = new URL(".", import.meta.url);
const rules = readSpec(readFileSync(new URL("../SPEC.md", HERE), "utf8"), "packages/workspace");
const cited = new Set(
  readdirSync(HERE, { recursive: true })
    .filter((name) => name.endsWith(".test.mjs"))
    .flatMap((name) => idsInTitles(readFileSync(new URL(name, HERE), "utf8")))
    .filter((id) => id.startsWith("WS-")),
);

test("every rule of SPEC.md stands once and is cited by a test, and every cited rule stands there", () => {
  const ids = rules.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !cited.has(id))).toEqual([]);
  expect([...cited].filter((id) => !ids.includes(id))).toEqual([]);
});
