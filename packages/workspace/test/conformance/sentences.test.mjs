import { expect, test } from "vitest";
import { bindingSentences, sectionsOf, sentencesOf } from "../../src/conformance/seed.mjs";
import { problemsBesideSeed, problemsOfMap, stateOf } from "../../src/conformance/sentences.mjs";

const SEED = `# A seed

Words before.

## 1. Parts and more words
that go on. A **renewal is
NEVER a commit** (see §2). Another one.

## 3b. Code

- A first item MUST hold
  over two lines
- A second is RULED (2026-08-05).

\`\`\`
// the wave is THE loop,
// and no other
\`\`\`

## Without a number

It is FORBIDDEN.
`;
const KNOWN = {
  sections: new Set(["§1", "§3b", "Without a number"]),
  rules: new Set(["EX-A1", "EX-A2"]),
};
const WHOLE = [
  { section: "§1", quote: "a renewal is NEVER a commit", rules: ["EX-A1"] },
  { section: "§3b", quote: "A first item MUST hold over two lines", rules: ["EX-A1"] },
  { section: "§3b", quote: "A second is RULED", rules: ["EX-A2"] },
  { section: "Without a number", quote: "It is FORBIDDEN.", outside: "it binds others" },
].map((entry) => ({ ...entry, quote: entry.quote.replace(/^a renewal/u, "renewal") }));

test("[WS-C6] a seed is read by sections and sentences, without its line breaks, comments and emphasis", () => {
  expect(sectionsOf(SEED).map(({ id }) => id)).toEqual([
    "Preface",
    "§1",
    "§3b",
    "Without a number",
  ]);
  const texts = sentencesOf(SEED).map(({ section, text }) => `${section}: ${text}`);
  expect(texts).toContain("§1: A renewal is NEVER a commit (see §2).");
  expect(texts).toContain("§3b: - A first item MUST hold over two lines");
  expect(texts.some((text) => text.includes("the wave is THE loop, and no other"))).toBe(true);
  expect(bindingSentences(SEED)).toHaveLength(4);
});

test("[WS-C6] a map that quotes every binding sentence in the seed's order has no problem beside it", () => {
  expect(problemsOfMap("001", WHOLE, KNOWN)).toEqual([]);
  expect(problemsBesideSeed("001", WHOLE, SEED)).toEqual([]);
});

test("[WS-C6] a quote that the section does not hold, one out of order, and a sentence nobody quotes are named", () => {
  const [renewal, first, second, last] = WHOLE;
  const moved = { ...renewal, section: "§3b" };
  expect(problemsBesideSeed("001", [moved, first, second, last], SEED)).toEqual([
    expect.stringContaining("“renewal is NEVER a commit”: not in the seed"),
    expect.stringContaining("nothing says what became of “A renewal is NEVER a commit"),
  ]);
  expect(problemsBesideSeed("001", [renewal, second, first, last], SEED)).toEqual([
    expect.stringContaining("“A first item MUST hold over two lines”: out of order"),
  ]);
  expect(problemsBesideSeed("001", [renewal, first, second], SEED)).toEqual([
    expect.stringContaining("nothing says what became of “It is FORBIDDEN.”"),
  ]);
});

test.each([
  ["a rule that no SPEC.md has", { rules: ["EX-A9"] }, "no SPEC.md has the rule EX-A9"],
  ["no answer", {}, "says neither"],
  ["an empty list of rules", { rules: [] }, "says neither"],
  [
    "two answers that exclude each other",
    { rules: ["EX-A1"], outside: "so" },
    "is outside, and is not",
  ],
  ["a key that means nothing", { rules: ["EX-A1"], rule: "EX-A1" }, '"rule" means nothing'],
  ["a section that is none", { section: "§9", rules: ["EX-A1"] }, "no such section"],
  [
    "a quote that is too long",
    { quote: "w ".repeat(16).trim(), rules: ["EX-A1"] },
    "over 15 words",
  ],
])("[WS-C5] an entry with %s is refused", (_name, entry, words) => {
  const problems = problemsOfMap("001", [{ section: "§1", quote: "q", ...entry }], KNOWN);
  expect(problems).toEqual([expect.stringContaining(words)]);
});

test("[WS-C5] an entry that stands twice is refused", () => {
  const [entry] = WHOLE;
  expect(problemsOfMap("001", [entry, entry], KNOWN)).toEqual([
    expect.stringContaining("stands twice"),
  ]);
});

test.each([
  [{ rules: ["EX-A1", "EX-A2"] }, "met"],
  [{ rules: ["EX-A1", "EX-X1"] }, "partly"],
  [{ rules: ["EX-X1"] }, "not yet"],
  [{ rules: ["EX-A1"], open: "a part" }, "partly"],
  [{ rules: ["EX-A1"], later: "scopes" }, "partly"],
  [{ rules: ["EX-X1"], open: "a part" }, "open"],
  [{ open: "all of it" }, "open"],
  [{ later: "scopes" }, "later"],
  [{ outside: "it binds others" }, "outside"],
  [{ rules: ["EX-A1"], note: "as words" }, "met"],
])("[WS-C4] an entry with %j is %s", (entry, state) => {
  const isMet = (/** @type {string} */ id) => id.startsWith("EX-A");
  expect(stateOf({ section: "§1", quote: "q", ...entry }, isMet)).toBe(state);
});
