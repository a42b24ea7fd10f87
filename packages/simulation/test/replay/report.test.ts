import { expect, test } from "vitest";
import type { MemorySample } from "../../src/replay/memory.js";
import { readReplayOptions } from "../../src/replay/options.js";
import { ProgressLine } from "../../src/replay/progress-line.js";
import { dataFolder } from "../../src/replay/recordings.js";
import { firstDifference, killPoints, type ReplayResult } from "../../src/replay/replay.js";
import { reportOf } from "../../src/replay/report.js";

const MB = 1_048_576;

function sample(done: number, heapMb: number, life = 0): MemorySample {
  const server = { cpuMs: 0, heapBytes: heapMb * MB, rssBytes: 100 * MB };
  return { done, life, server, clientHeapBytes: 20 * MB };
}

function result(memory: readonly MemorySample[], problems: readonly string[] = []): ReplayResult {
  const rest = { killedAt: [], ms: 2_000, downMs: 0, serverCpuMs: 0, clientCpuMs: 0 };
  return { events: 10_000, problems, memory, ...rest };
}

test("[SI-T4] memory that strays by more than 30 MB once warm fails a replay whose text is right", () => {
  const flat = reportOf("x", result([sample(0, 500), sample(3_000, 40), sample(6_000, 90)]));
  expect(flat).toMatchObject({ passed: true, serverHeapMb: { half: 25, least: 40, most: 90 } });
  const grown = reportOf("x", result([sample(3_000, 40), sample(6_000, 110)]));
  expect(grown.passed).toBe(false);
  expect(grown.problems).toEqual([expect.stringMatching(/the server's heap strays by ± 35 MB/u)]);
});

test("[SI-T4] a process that replaced a killed one warms up again before its memory counts", () => {
  const samples = [
    sample(3_000, 40),
    sample(4_000, 41),
    sample(5_000, 200, 1),
    sample(7_000, 42, 1),
  ];
  expect(reportOf("x", result(samples))).toMatchObject({ serverHeapMb: { least: 40, most: 42 } });
});

test("a replay too short for warm processes says nothing of memory, and a wrong text fails it", () => {
  const report = reportOf("x", result([sample(100, 40)], ["a reader sees another text"]));
  expect(report).toMatchObject({ passed: false, serverHeapMb: null, eventsPerSecond: 5_000 });
  expect(report.problems).toEqual(["a reader sees another text"]);
});

test("[SI-T3] the first difference is named with its place and what stands around it", () => {
  expect(firstDifference("abcd", "abXd")).toBe(
    'at 2 "abcd" in place of "abXd" (4 characters, not 4)',
  );
  expect(firstDifference("ab", "abc")).toContain("at 2");
});

test("[SI-T5] points of kills are given by the seed, differ, and lie inside the replay", () => {
  expect(killPoints(1, 3, 1_000)).toEqual(killPoints(1, 3, 1_000));
  expect(killPoints(2, 3, 1_000)).not.toEqual(killPoints(1, 3, 1_000));
  const points = killPoints(3, 3, 4);
  expect(points).toEqual([1, 2, 3]);
  expect(killPoints(3, 9, 4)).toEqual([1, 2, 3]);
});

test("[SI-T7] away from a terminal progress is a line a tenth, and one for each kill and return", () => {
  const lines: string[] = [];
  const line = new ProgressLine({ write: (text) => lines.push(text) }, "x", () => 0);
  for (let done = 1; done <= 100; done += 1) {
    line.show({ done, total: 100, kills: done > 50 ? 1 : 0, up: done !== 51 });
  }
  expect(lines).toHaveLength(12);
  expect(lines[0]).toBe("x  10 %  10 of 100\n");
  expect(lines[5]).toBe("x  51 %  51 of 100, killed 1×, restarting\n");
});

test("[SI-T7] at a terminal progress is one line, written over", () => {
  const parts: string[] = [];
  const out = { isTTY: true, write: (text: string) => parts.push(text) };
  const line = new ProgressLine(out, "x", () => 0);
  for (let done = 1; done <= 128; done += 1) line.show({ done, total: 128, kills: 0, up: true });
  line.end();
  expect(parts.every((part) => part.startsWith("\r\u001B[2K"))).toBe(true);
  expect(parts.join("")).not.toContain("\n");
});

test("the folder of the data is what is given, else the variable's, else the one beside the project", () => {
  expect(dataFolder("/a", { TIDEMARK_DATA: "/b" })).toBe("/a");
  expect(dataFolder(undefined, { TIDEMARK_DATA: "/b" })).toBe("/b");
  expect(dataFolder(undefined, {})).toMatch(/shared\/data$/u);
});

test("[SI-T8] a command line names recordings and numbers; what is wrong is said in words", () => {
  expect(readReplayOptions(["sveltecomponent", "--prefix", "600", "--no-kill"])).toMatchObject({
    kind: "run",
    options: { names: ["sveltecomponent"], prefix: 600, kills: 0 },
  });
  expect(readReplayOptions([])).toMatchObject({ kind: "run", options: { kills: 3, width: 64 } });
  expect(readReplayOptions(["--help"])).toEqual({ kind: "help" });
  for (const [argv, words] of [
    [["other"], /no recording "other"/u],
    [["--prefix", "0"], /--prefix is a whole number of 1 or more, not "0"/u],
    [["--seed", ""], /--seed is a whole number/u],
    [["--bogus"], /--bogus/u],
  ] as const) {
    const request = readReplayOptions(argv);
    expect(request.kind === "invalid" && request.problem).toMatch(words);
  }
});
