import { expect, test } from "vitest";
import { readCitations } from "../../src/conformance/citations.mjs";
import { readSpec } from "../../src/conformance/spec.mjs";
import { idsInTitles } from "../../src/conformance/titles.mjs";

const SPEC = `# Rules

## Waves

- **EX-W1** A write (of a derivation) is dropped. (seed 001 §3d, §3b; R16)
- **EX-W10** It goes on
  over two lines. (protocol.md §1, seed 000 §2)

### Deeper

- **EX-W2** It has no source.

## Not yet

- **EX-X1** Waits. (seed 003)

### Still waiting

- **EX-X2** Waits too. (seed 001 §4)
`;

test("[WS-C1] a rule is read with its id, sentence, heading and sources, and is met unless it stands under Not yet", () => {
  const rules = readSpec(SPEC, "packages/executor");
  expect(rules.map(({ id, sentence, heading, notYet }) => [id, sentence, heading, notYet])).toEqual(
    [
      ["EX-W1", "A write (of a derivation) is dropped.", "Waves", false],
      ["EX-W10", "It goes on over two lines.", "Waves", false],
      ["EX-W2", "It has no source.", "Deeper", false],
      ["EX-X1", "Waits.", "Not yet", true],
      ["EX-X2", "Waits too.", "Still waiting", true],
    ],
  );
  expect(rules[0]?.citations).toEqual([
    { seed: "001", section: "§3d" },
    { seed: "001", section: "§3b" },
  ]);
  expect(rules[1]?.citations).toEqual([{ seed: "000", section: "§2" }]);
  expect(rules[3]?.citations).toEqual([{ seed: "003" }]);
});

test.each([
  ["seed 001 §3; seed 000 §4", ["001 §3", "000 §4"]],
  ["seed 001 §1, Parking", ["001 §1"]],
  ["seed 003, R29, EV-09", ["003"]],
  ["seed 003, protocol.md §7", ["003"]],
  ["protocol.md §1, §2", []],
  ["scopes.md, seed 000 §2", ["000 §2"]],
  ["seed 001 §3e: one writer to a document", ["001 §3e"]],
  ["", []],
])("[WS-C1] the places that (%s) names are %j", (source, places) => {
  const found = readCitations(source).map(({ seed, section }) =>
    section === undefined ? seed : `${seed} ${section}`,
  );
  expect(found).toEqual(places);
});

test("[WS-C2] the titles of tests, tables of cases and contract suites name rules, and other text does not", () => {
  const source = `
    // test("[EX-C0] a comment counts as little as", but it is not told from code here)
    test("[EX-A1] [EX-A2] a title", () => {});
    describe('[EX-A3] a group', () => {});
    test.each([1])("[EX-A4] %s", () => {});
    test.each\`x\`(\`[EX-A5] a template\`, () => {});
    const cases = [["[EX-A6] a case", () => {}], ["words before [EX-B1]", () => {}]];
    expect("see [EX-B2]").toBe("");
    test("the suites hold [EX-A7]", () => {});`.replace(/^\s*\/\/.*$/gmu, "");
  expect(idsInTitles(source).toSorted()).toEqual([
    "EX-A1",
    "EX-A2",
    "EX-A3",
    "EX-A4",
    "EX-A5",
    "EX-A6",
    "EX-A7",
  ]);
});
