import { StorageError, ValueError } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { describeError } from "../src/log/describe-error.js";
import { logReport } from "../src/log/log-report.js";
import { createLog } from "../src/log/log.js";

function captured() {
  const lines: string[] = [];
  const log = createLog({ now: () => 5 }, { write: (text) => lines.push(text) });
  return { lines, log };
}

test("a line is one JSON object with time, level, message and fields", () => {
  const { lines, log } = captured();
  log("info", "started", { url: "http://x" });
  expect(lines).toEqual(['{"time":5,"level":"info","message":"started","url":"http://x"}\n']);
});

test("on a terminal a line is words", () => {
  const lines: string[] = [];
  const log = createLog({ now: () => 5 }, { isTTY: true, write: (text) => lines.push(text) });
  log("warn", "slow", { afterMs: 3 });
  expect(lines[0]).toContain("warn");
  expect(lines[0]).toContain("afterMs=3");
});

test("an error is its code and its message, and never its details", () => {
  const error = new ValueError("refused at /a", { path: ["a"], value: "SECRET" } as never);
  expect(describeError(error)).toEqual({ code: "value", message: "refused at /a" });
  expect(describeError(Object.assign(new Error("taken"), { code: "EADDRINUSE" })).code).toBe(
    "EADDRINUSE",
  );
  expect(describeError("odd")).toEqual({ code: "internal", message: "odd" });
  expect(describeError(new Error("x".repeat(9_000))).message).toHaveLength(400);
});

test("a report of the serving loop is logged by names alone: nothing that a user wrote is in it", () => {
  const { lines, log } = captured();
  const error = new StorageError("the disk is full", { kind: "full" });
  logReport(log, { kind: "tenure-failed", space: "did:key:s" as never, error });
  logReport(log, {
    kind: "runtime",
    space: "did:key:s" as never,
    report: {
      kind: "odd",
      payload: { password: "SECRET" },
      value: "SECRET",
      piece: "piece:p",
    } as never,
  });
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    {
      time: 5,
      level: "error",
      message: "tenure-failed",
      space: "did:key:s",
      error: { code: "storage", message: "the disk is full" },
    },
    { time: 5, level: "warn", message: "runtime: odd", space: "did:key:s", piece: "piece:p" },
  ]);
  expect(lines.join("")).not.toContain("SECRET");
});

test("a tenure is a line as it begins and a line as it ends, with the reason", () => {
  const { lines, log } = captured();
  logReport(log, { kind: "tenure-began", space: "did:key:s" as never, reused: true });
  logReport(log, { kind: "tenure-ended", space: "did:key:s" as never, reason: "idle" });
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    { time: 5, level: "info", message: "tenure-began", space: "did:key:s", reused: true },
    { time: 5, level: "info", message: "tenure-ended", space: "did:key:s", reason: "idle" },
  ]);
});
