import { fileURLToPath } from "node:url";
import { lunchPoll, samplePatterns } from "@tidemark/patterns";
import { expect, test } from "vitest";
import { loadPatterns } from "../src/patterns/load-patterns.js";

const fixture = (name: string): string =>
  fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

test("the patterns of a module are taken in", async () => {
  const loaded = await loadPatterns(fixture("good.mjs"), samplePatterns);
  expect(loaded.ok && loaded.patterns.map(({ id }) => id)).toEqual(["lamp"]);
});

test.each([
  ["not-a-pattern.mjs", "its export helper is a function and no pattern"],
  ["twice.mjs", "its export two cannot be served: another pattern twice version 1 is registered"],
  ["throws.mjs", "does not load: no lamp oil"],
  ["cannot-build.mjs", "its export broken cannot be served: pattern broken returns"],
  ["empty.mjs", "exports no pattern"],
  ["missing.mjs", "does not load: "],
])("%s is refused in words", async (name, words) => {
  const loaded = await loadPatterns(fixture(name), samplePatterns);
  expect(!loaded.ok && loaded.problem).toContain(words);
  expect(!loaded.ok && loaded.problem).toContain(name);
});

test("a pattern under the durable name of a built-in one is refused", async () => {
  const known = [{ ...lunchPoll, id: "lamp", fingerprint: "another" } as never];
  const loaded = await loadPatterns(fixture("good.mjs"), known);
  expect(!loaded.ok && loaded.problem).toContain("another pattern lamp version 1");
});
