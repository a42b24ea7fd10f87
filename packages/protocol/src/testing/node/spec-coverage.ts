import type { TestApi } from "../test-api.js";
import { builtin, pathOf } from "./builtins.js";

/** What a SPEC file says. */
export interface SpecRules {
  /** Rules that hold: every one needs a test. */
  readonly met: readonly string[];
  /** Rules under `## Not yet`: each says why, and no test cites it. */
  readonly notYet: readonly string[];
  readonly duplicates: readonly string[];
}

/** Where to look, and the test framework. */
export interface SpecCoverageInput extends TestApi {
  /** Path or `file:` URL of SPEC.md. */
  readonly specFile: string;
  /** Folder of the tests: path or `file:` URL. */
  readonly testDir: string;
}

const RULE = /^- \*\*([A-Z]{2,}-[A-Z]*\d+)\*\*/gm;
const CITED = /\[([A-Z]{2,}-[A-Z]*\d+)\]/g;
/**
 * Titles of tests: the first argument of `test(…)`, `it(…)` and `describe(…)`, and of what such a call
 * returns (`test.each(…)("title")`).
 */
const TITLE = /(?:\b(?:test|it|describe)(?:\.\w+)*|[)`])\s*\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g;

function captures(text: string, pattern: RegExp, group: number): string[] {
  return [...text.matchAll(pattern)].map((match) => match[group] ?? "");
}

/** The ids of the rules in a SPEC file. */
export function readSpec(text: string): SpecRules {
  const sections = text.split(/^(?=## )/m);
  const isNotYet = (section: string): boolean => /^## Not yet\b/.test(section);
  const idsOf = (chosen: string[]): string[] => chosen.flatMap((part) => captures(part, RULE, 1));
  const met = idsOf(sections.filter((section) => !isNotYet(section)));
  const notYet = idsOf(sections.filter(isNotYet));
  const all = [...met, ...notYet];
  return { met, notYet, duplicates: all.filter((id, at) => all.indexOf(id) !== at) };
}

/** The rule ids that titles in a test file cite. */
export function readCitations(source: string): string[] {
  return captures(source, TITLE, 2).flatMap((title) => captures(title, CITED, 1));
}

function readTests(testDir: string): string[] {
  const fs = builtin("node:fs");
  const files = fs.readdirSync(testDir, { recursive: true });
  return files
    .filter((name) => name.endsWith(".test.ts") && !name.includes("node_modules"))
    .map((name) => fs.readFileSync(builtin("node:path").join(testDir, name), "utf8"));
}

/**
 * Registers the tests that hold SPEC.md and the tests together: every
 * rule is cited by a test, every cited id is a rule, no id stands twice, and no rule listed under
 * `## Not yet` is cited by a test.
 *
 * A rule is a line `- **PR-X1** sentence.`; a citation is `[PR-X1]` in the title of a test. Suites
 * that come from another package (contract suites) may cite that package's ids: only ids of the
 * prefixes that the SPEC uses itself are looked up.
 */
export function checkSpecCoverage({ specFile, testDir, test, expect }: SpecCoverageInput): void {
  const spec = readSpec(builtin("node:fs").readFileSync(pathOf(specFile), "utf8"));
  const cited = new Set(readTests(pathOf(testDir)).flatMap(readCitations));
  const prefixes = new Set([...spec.met, ...spec.notYet].map((id) => id.split("-")[0]));
  const own = [...cited].filter((id) => prefixes.has(id.split("-")[0]));

  test("every rule of SPEC.md stands once", () => {
    expect(spec.met.length).toBeGreaterThan(0);
    expect(spec.duplicates).toEqual([]);
  });
  test("every rule of SPEC.md is cited by a test", () => {
    expect(spec.met.filter((id) => !cited.has(id))).toEqual([]);
  });
  test("every rule that a test cites is in SPEC.md", () => {
    expect(own.filter((id) => !spec.met.includes(id) && !spec.notYet.includes(id))).toEqual([]);
  });
  test("no test cites a rule that SPEC.md lists as not yet met", () => {
    expect(spec.notYet.filter((id) => cited.has(id))).toEqual([]);
  });
}
