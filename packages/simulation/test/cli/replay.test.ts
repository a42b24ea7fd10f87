import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "replay-command-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
});

/** Runs the command in this process. */
async function command(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: unknown) => void out.push(String(line)));
  vi.spyOn(console, "error").mockImplementation((line: unknown) => void err.push(String(line)));
  const argv = process.argv;
  process.argv = [argv[0] ?? "node", "replay", ...args];
  try {
    const code = await new Promise<unknown>((resolve) => {
      vi.spyOn(process, "exit").mockImplementation(((ended: unknown) => resolve(ended)) as never);
      void import("../../src/cli/replay.js");
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  } finally {
    process.argv = argv;
  }
}

test("[SI-T8] a recording that is not there is told loudly before anything is replayed", async () => {
  const { code, out, err } = await command("--data", folder);
  expect(code).toBe(2);
  expect(out).toBe("");
  expect(err).toContain(`NOTHING WAS REPLAYED: there is no ${folder}/sveltecomponent.json.gz`);
  expect(err).toContain("--data PATH");
});

test("[SI-T8] a wrong option ends with 2 and what is right; --help with 0", async () => {
  expect(await command("--prefix", "many")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--prefix is a whole number of 1 or more"),
  });
  vi.resetModules();
  expect(await command("--help")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/--data PATH[\s\S]*--kills N[\s\S]*--json/u),
  });
});
