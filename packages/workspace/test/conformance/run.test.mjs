import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runConformance } from "../../src/conformance/run.mjs";

let folder = "";
let root = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "conformance-"));
  root = join(folder, "project");
  for (const [path, text] of Object.entries(TREE)) put(path, text);
});
afterEach(() => rmSync(folder, { recursive: true }));

const TREE = {
  "docs/conformance/seeds.json":
    '[{"seed":"001","title":"L","file":"001.md","sections":[{"id":"§1","title":"F"}]}]',
  "docs/conformance/sentences/001.json":
    '[{"section":"§1","quote":"it MUST be","rules":["EX-A1"]}]',
  "docs/conformance/code.json": '{"packages/executor":{"Waves":["src/wave.ts"]}}',
  "packages/executor/package.json": "{}",
  "packages/executor/SPEC.md": "## Waves\n\n- **EX-A1** Serves.\n",
  "packages/executor/src/wave.ts": "",
  "packages/executor/test/deep/wave.test.ts": 'test("[EX-A1] serves", f)',
};

/** @param {string} path @param {string} text */
function put(path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

test("[WS-C8] the check passes over the page that was written, and fails where there is none", () => {
  expect(runConformance(root, { check: true }).problems).toEqual([
    expect.stringContaining("is stale"),
  ]);
  expect(runConformance(root, { check: false })).toEqual({
    problems: [],
    summary: "1 sentences, 0 of 1 seeds at hand, 0 problems",
  });
  expect(runConformance(root, { check: true }).problems).toEqual([]);
});

test.each([
  [
    "a rule that says something else",
    "packages/executor/SPEC.md",
    "## Waves\n\n- **EX-A1** Other.\n",
  ],
  ["a test that moved its title", "packages/executor/test/b.test.ts", 'test("[EX-A1] too", f)'],
  [
    "a sentence that is said to be open",
    "docs/conformance/sentences/001.json",
    '[{"section":"§1","quote":"it MUST be","open":"a rule"}]',
  ],
])("[WS-C8] %s makes the page stale, and the check writes nothing", (_name, path, text) => {
  runConformance(root, { check: false });
  const before = readFileSync(join(root, "docs/conformance.md"), "utf8");
  put(path, text);
  expect(runConformance(root, { check: true }).problems).toEqual([
    expect.stringContaining("is stale"),
  ]);
  expect(readFileSync(join(root, "docs/conformance.md"), "utf8")).toBe(before);
});

test("[WS-C2] the titles of a contract suite count as its tests", () => {
  rmSync(join(root, "packages/executor/test"), { recursive: true });
  put("packages/executor/src/testing/cases.ts", 'export const cases = [["[EX-A1] serves", f]];');
  expect(runConformance(root, { check: false }).problems).toEqual([]);
  expect(readFileSync(join(root, "docs/conformance.md"), "utf8")).toContain(
    "(../packages/executor/src/testing/cases.ts)",
  );
});

test("[WS-C6] a seed that stands beside the project is looked into", () => {
  mkdirSync(join(folder, "shared/spec/seeds"), { recursive: true });
  writeFileSync(join(folder, "shared/spec/seeds/001.md"), "## 1. F\n\nThere it MUST go.\n");
  const { problems, summary } = runConformance(root, { check: false });
  expect(problems).toEqual([
    expect.stringContaining("“it MUST be”: not in the seed"),
    expect.stringContaining("nothing says what became of “There it MUST go.”"),
  ]);
  expect(summary).toContain("1 of 1 seeds at hand");
});
