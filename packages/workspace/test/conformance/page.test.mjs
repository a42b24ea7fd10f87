import { expect, test } from "vitest";
import { conformanceOf } from "../../src/conformance/model.mjs";
import { render } from "../../src/conformance/render.mjs";

/** @param {Partial<import("../../src/conformance/model.mjs").Sources>} [changes] */
const sources = (changes = {}) => ({
  seeds: [
    {
      seed: "001",
      title: "The loop",
      file: "001.md",
      sections: [
        { id: "§2", title: "Second first" },
        { id: "§1", title: "First" },
        { id: "§9", title: "Quiet" },
      ],
    },
  ],
  sentences: {
    "001": [
      { section: "§2", quote: "q two", rules: ["EX-A1", "EX-X1"], note: "so it is" },
      { section: "§1", quote: "q | one", open: "no rule" },
    ],
  },
  code: { "packages/executor": { Waves: ["src/wave/"], "EX-A2": ["src/plan.ts"] } },
  specs: [
    {
      package: "packages/executor",
      text: `## Waves

- **EX-A1** Serves. (R1)
- **EX-A2** Cites \`a | b\`. (seed 001 §1)
- **EX-A3** Cites the whole. (seed 001)
- **EX-A4** Comes from elsewhere. (protocol.md §2)

## Not yet

- **EX-X1** Waits. (seed 001 §2)
`,
    },
  ],
  tests: [
    { file: "packages/executor/test/wave/plan.test.ts", text: 'test("[EX-A1] [EX-A2] t", f)' },
    { file: "packages/client/test/a.test.ts", text: 'test("[EX-A1] [EX-A3] t", f)' },
  ],
  seedTexts: {},
  exists: () => true,
  ...changes,
});

/** The part of a page under a heading. @param {string} page @param {string} heading */
const part = (page, heading) => page.split(`\n### ${heading}\n`)[1]?.split(/\n#{2,3} /u)[0] ?? "";

test("[WS-C3] sections stand in the index's order, with sentences, rules that cite or serve them, code, tests and states", () => {
  const conformance = conformanceOf(sources());
  expect(conformance.problems).toEqual([]);
  const page = render(conformance);
  expect(page.indexOf("Seed 001 §2: Second first")).toBeLessThan(
    page.indexOf("Seed 001 §1: First"),
  );
  const second = part(page, "Seed 001 §2: Second first");
  expect(second).toContain("| “q two” | EX-A1, EX-X1 | partly: so it is |");
  expect(second).toContain(
    "| [EX-A1](../packages/executor/SPEC.md#waves) | Serves. | executor | [wave/](../packages/executor/src/wave/) " +
      "| [wave/plan](../packages/executor/test/wave/plan.test.ts) [client/a](../packages/client/test/a.test.ts) | met |",
  );
  expect(second).toContain(
    "| [EX-X1](../packages/executor/SPEC.md#not-yet) | Waits. | executor |  |  | not yet |",
  );
  const first = part(page, "Seed 001 §1: First");
  expect(first).toContain("| “q \\| one” |  | open: no rule |");
  expect(first).toContain(
    "Cites `a \\| b`. | executor | [plan.ts](../packages/executor/src/plan.ts)",
  );
  expect(part(page, "Seed 001 §9: Quiet")).toContain("no rule cites it");
  expect(part(page, "Seed 001 as a whole")).toContain("EX-A3");
  expect(page).toContain(
    "| [001 The loop](#seed-001-the-loop) | 2 | 0 | 1 | 0 | 0 | 1 | 0 | 3 of 4 |",
  );
  expect(page).toContain("| 001 §1 | “q \\| one” | no rule |");
  expect(page).toContain("| [packages/executor](../packages/executor/SPEC.md) | 1 | 0 |");
});

test("[WS-C3] the same sources make the same page", () => {
  expect(render(conformanceOf(sources()))).toBe(render(conformanceOf(sources())));
});

test("[WS-C5] a rule that a map names and no SPEC.md has is a problem", () => {
  const sentences = { "001": [{ section: "§1", quote: "q", rules: ["EX-Z1"] }] };
  expect(conformanceOf(sources({ sentences })).problems).toEqual([
    expect.stringContaining("no SPEC.md has the rule EX-Z1"),
  ]);
});

test("[WS-C5] a section that a rule cites and the seed has not is a problem", () => {
  const specs = [
    { package: "packages/executor", text: "## Waves\n\n- **EX-A1** S. (seed 001 §7)\n" },
  ];
  const sentences = { "001": [] };
  const code = { "packages/executor": { Waves: ["src/wave/"] } };
  expect(conformanceOf(sources({ specs, sentences, code })).problems).toEqual([
    "EX-A1 cites seed 001 §7, which is none",
  ]);
});

test("[WS-C6] where the seed is at hand the map is held beside it", () => {
  const seedTexts = { "001": "## 2. Second\n\nHere is q two.\n\n## 1. First\n\nIt MUST be.\n" };
  expect(conformanceOf(sources({ seedTexts })).problems).toEqual([
    expect.stringContaining("“q | one”: not in the seed"),
    expect.stringContaining("nothing says what became of “It MUST be.”"),
  ]);
});

test("[WS-C7] a met rule without a test, without code, or with code that is gone is a problem", () => {
  expect(conformanceOf(sources({ tests: [] })).problems).toContain(
    "EX-A1 stands in no test's title",
  );
  expect(conformanceOf(sources({ code: {} })).problems).toContain(
    "code.json names no code for EX-A1 (packages/executor, “Waves”)",
  );
  const gone = (/** @type {string} */ path) => !path.endsWith("plan.ts");
  expect(conformanceOf(sources({ exists: gone })).problems).toEqual([
    "code.json: packages/executor/src/plan.ts is not there",
  ]);
  const code = { "packages/executor": { Waves: ["src/wave/"], Gone: ["src/"] } };
  expect(conformanceOf(sources({ code })).problems).toEqual([
    "code.json: packages/executor/SPEC.md has no “Gone”",
  ]);
});
