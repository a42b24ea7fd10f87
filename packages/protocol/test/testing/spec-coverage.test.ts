import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkSpecCoverage, readCitations, readSpec } from "../../src/testing/index.js";

const SPEC = [
  "# Rules",
  "## One",
  "- **ZZ-A1** A rule. (seed)",
  "- **ZZ-A2** Another, see **ZZ-A9**.",
  "## Not yet",
  "- **ZZ-B1** Later, because.",
  "## More",
  "- **ZZ-C10** After it.",
].join("\n");

test("[PR-X6] rules are the lines that begin with their id; those under `Not yet` are apart", () => {
  expect(readSpec(SPEC)).toEqual({
    met: ["ZZ-A1", "ZZ-A2", "ZZ-C10"],
    notYet: ["ZZ-B1"],
    duplicates: [],
  });
  expect(readSpec(`${SPEC}\n- **ZZ-A1** Again.`).duplicates).toEqual(["ZZ-A1"]);
});

test("[PR-X6] citations are ids in brackets in titles, of any quoting, and nowhere else", () => {
  const quoted = [
    "test('[ZZ-A1] a', () => {});",
    'it("[ZZ-A2] [ZZ-A3] b");',
    "describe(`[ZZ-A4]`);",
  ];
  const each = 'test.each([1, 2])("[ZZ-A5] %s", () => {});';
  const split = 'test(\n  "[ZZ-A6] long",\n  () => {});';
  const table = 'test.each([\n  ["x", 1],\n])("[ZZ-A7] %s", () => {});';
  const none = '// [ZZ-A8] test\nexpect(x).toBe("[ZZ-A9]");';
  const source = [...quoted, each, split, table, none].join("\n");
  expect(readCitations(source).sort()).toEqual(
    ["ZZ-A1", "ZZ-A2", "ZZ-A3", "ZZ-A4", "ZZ-A5", "ZZ-A6", "ZZ-A7"].sort(),
  );
});

/** The titles of the tests that fail for a spec and a test file. */
function failures(spec: string, tests: string): string[] {
  const dir = mkdtempSync(join(tmpdir(), "spec-coverage-"));
  const failed: string[] = [];
  try {
    writeFileSync(join(dir, "SPEC.md"), spec);
    writeFileSync(join(dir, "a.test.ts"), tests);
    checkSpecCoverage({
      specFile: join(dir, "SPEC.md"),
      testDir: dir,
      expect,
      test: (title, run) => {
        try {
          void run();
        } catch {
          failed.push(title);
        }
      },
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
  return failed;
}

test("[PR-X6] each way in which a spec and its tests part is a failing test of its own", () => {
  const all = 'test("[ZZ-A1] [ZZ-A2] [ZZ-C10] all");';
  expect(failures(SPEC, all)).toEqual([]);
  expect(failures(SPEC, `${all} test("[QQ-A1] of another package");`)).toEqual([]);
  expect(failures(SPEC, 'test("[ZZ-A1] [ZZ-A2]");')).toEqual([
    "every rule of SPEC.md is cited by a test",
  ]);
  expect(failures(SPEC, `${all} test("[ZZ-A77]");`)).toEqual([
    "every rule that a test cites is in SPEC.md",
  ]);
  expect(failures(SPEC, `${all} test("[ZZ-B1]");`)).toEqual([
    "no test cites a rule that SPEC.md lists as not yet met",
  ]);
  expect(failures(`${SPEC}\n- **ZZ-A1** Again.`, all)).toEqual([
    "every rule of SPEC.md stands once",
  ]);
});
