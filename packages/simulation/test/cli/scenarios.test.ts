import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "scenarios-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
});

const good = (expected: number) => ({
  id: "X-1",
  title: "a counter",
  patterns: { main: { cells: { n: {} }, handlers: { inc: [["increment", "n", 1]] } } },
  spaces: { A: { pieces: { p: { pattern: "main" } } } },
  clients: { a1: { user: "alice", session: "s1" } },
  steps: [{ fire: ["a1", "A/p/inc"] }, { settle: "A" }, { expect: { "A/p/n": expected } }],
});

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** Runs the command in this process. */
async function command(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: unknown) => void out.push(String(line)));
  vi.spyOn(console, "error").mockImplementation((line: unknown) => void err.push(String(line)));
  const argv = process.argv;
  process.argv = [argv[0] ?? "node", "scenarios", ...args];
  try {
    const code = await new Promise<unknown>((resolve) => {
      vi.spyOn(process, "exit").mockImplementation(((ended: unknown) => resolve(ended)) as never);
      void import("../../src/cli/scenarios.js");
    });
    return { code, out, err };
  } finally {
    process.argv = argv;
  }
}

const passing = file("passing.json", good(1));
const failing = file("failing.json", good(2));

test("[SI-X1] the command ends with 0 when all passed, and with 1 when any failed", async () => {
  const all = await command(passing);
  expect([all.code, all.out.at(-1)]).toEqual([0, "1 passed, 0 failed"]);
  vi.resetModules();
  const some = await command(passing, failing);
  expect([some.code, some.out.at(-1)]).toEqual([1, "1 passed, 1 failed"]);
});

test.each([
  ["a file that is no JSON", () => [passing, file("torn.json", "{")], /torn\.json/u],
  [
    "a file with an unknown step",
    () => [passing, file("leap.json", { ...good(1), steps: [{ leap: 1 }] })],
    /leap\.json: .*unknown step leap/u,
  ],
  ["a file that is not there", () => [join(folder, "nowhere.json")], /there is no/u],
  ["an unknown option", () => [passing, "--fast"], /--fast/u],
  ["a transport that does not exist", () => [passing, "--transport", "pigeon"], /pigeon/u],
  ["no file at all", () => [], /name at least one file/u],
])("[SI-X1] %s ends the command with 2, and nothing has run", async (_name, args, words) => {
  const { code, out, err } = await command(...args());
  expect(code).toBe(2);
  expect(err.join("\n")).toMatch(words);
  expect(out).toEqual([]);
});

test("[SI-X2] for machines each scenario is an object on a line, and the totals are the last", async () => {
  const { out } = await command(passing, failing, "--json");
  const lines = out.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toMatchObject([
    { file: passing, id: "X-1", passed: true },
    { file: failing, id: "X-1", passed: false, failure: expect.stringContaining("step 3") },
    { passed: 1, failed: 1 },
  ]);
});
