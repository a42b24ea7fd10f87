import { StorageError, ValueError } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { describeError, describeForeignError } from "../src/log/describe-error.js";
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

/** Each says the secret in another way. */
const leaky: readonly (() => unknown)[] = [
  () => JSON.parse("SECRET"),
  () => {
    throw new Error("voted for SECRET\n    at SECRET (SECRET.js:1:1)");
  },
  () => {
    throw Object.assign(new TypeError("no SECRET"), { name: "SECRET", code: "SECRET" });
  },
  () => {
    throw "SECRET";
  },
  () => {
    throw { toString: () => "SECRET", message: "SECRET" };
  },
  () => {
    throw new Proxy(new Error("SECRET"), {
      get() {
        throw new Error("SECRET");
      },
    });
  },
];

test("[TS-L1] what a pattern's code throws is logged by its kind and place, and never in its own words", () => {
  const { lines, log } = captured();
  const space = "did:key:s" as never;
  const errors = leaky.map((throwing) => {
    try {
      return throwing();
    } catch (error) {
      return error;
    }
  });
  for (const error of errors) {
    const action = "poll/sum@piece:p" as never;
    logReport(log, { kind: "runtime", space, report: { kind: "computed-failed", action, error } });
    logReport(log, { kind: "piece-failed", space, piece: "piece:p", error });
    logReport(log, { kind: "event-failed", space, event: "e1" as never, error });
    logReport(log, { kind: "effect-failed", space, builtIn: "fetchData", action, error });
  }
  expect(lines).toHaveLength(leaky.length * 4);
  expect(lines.join("")).not.toContain("SECRET");
  expect(describeForeignError(errors[0])).toEqual({
    code: "thrown",
    message: expect.stringMatching(/^SyntaxError at log\.test\.ts:\d+:\d+$/u),
  });
  expect(describeForeignError(errors[3])).toEqual({
    code: "thrown",
    message: "a string was thrown",
  });
  const ours = new StorageError("the disk is full", { kind: "full" });
  expect(describeForeignError(ours)).toEqual({ code: "storage", message: "the disk is full" });
});
