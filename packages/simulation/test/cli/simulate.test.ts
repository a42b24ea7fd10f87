import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
  process.removeAllListeners("SIGINT");
});

/** Runs the command in this process; `onLine` sees what it prints as it does. */
async function command(args: readonly string[], onLine: (line: string) => void = () => undefined) {
  const out: string[] = [];
  const err: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: unknown) => {
    out.push(String(line));
    onLine(String(line));
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err.push(String(text));
    return true;
  });
  const argv = process.argv;
  process.argv = [argv[0] ?? "node", "simulate", ...args];
  try {
    const code = await new Promise<unknown>((resolve) => {
      vi.spyOn(process, "exit").mockImplementation(((ended: unknown) => resolve(ended)) as never);
      void import("../../src/cli/simulate.js");
    });
    return { code, out, err };
  } finally {
    process.argv = argv;
  }
}

test("[SI-X3] with --json stdout is one object a line, the sums last, and progress is on stderr", async () => {
  const { code, out, err } = await command(["--seeds", "2", "--from", "2", "--json"]);
  const lines = out.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  expect(lines.map(({ seed }) => seed)).toEqual([2, 3, undefined]);
  expect(lines.at(-1)).toMatchObject({ seeds: 2, failed: 0 });
  expect(err.join("")).toContain("seed 3: 2 of 2");
  expect(code).toBe(0);
}, 60_000);

test("[SI-X4] Ctrl-C ends it behind the seed under way, with the sums so far", async () => {
  const { code, out } = await command(["--seeds", "5000", "--json"], (line) => {
    // Whoever started the command passes on what the terminal has sent already.
    if (line.includes('"seed":1')) for (const _ of [1, 2]) process.emit("SIGINT");
  });
  expect(JSON.parse(out.at(-1) ?? "")).toMatchObject({ seeds: 1, failed: 0 });
  expect(code).toBe(130);
}, 60_000);

test("[SI-X5] a short run says how many faults it never met, and which with --verbose", async () => {
  const { out } = await command(["--seeds", "1", "--from", "2"]);
  expect(out.filter((line) => line.includes("never met"))).toEqual([
    expect.stringMatching(/^\d+ of \d+ faults were never met; --verbose lists them$/u),
  ]);
  vi.restoreAllMocks();
  vi.resetModules();
  const verbose = await command(["--seeds", "1", "--from", "2", "--verbose"]);
  const listed = verbose.out.filter((line) => line.includes("never met"));
  expect(listed).toEqual([expect.stringMatching(/^never met: \S+ × hold, /u)]);
}, 60_000);
