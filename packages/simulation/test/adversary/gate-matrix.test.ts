import { describe, expect, test } from "vitest";
import { parseScenario } from "../../src/scenario/file.js";
import { LOOP_GATES } from "../../src/simulator/plan-file.js";
import { FAULTS, matrixScenario } from "./gate-matrix.js";
import { play } from "./play.js";

describe.each(LOOP_GATES)("at %s", (gate) => {
  test.each(FAULTS)("every click has exactly one effect: %s", async (fault) => {
    const { failure, met, trace } = await play(matrixScenario(gate, fault), "loopback");
    expect(failure, trace.join("\n")).toBeUndefined();
    expect(met, "the fault was met").toContain(gate);
  });
});

test("admission that says conflict is final: the sender is told, nothing is applied, and the next click counts", async () => {
  const { failure } = await play(
    parseScenario("refused", {
      id: "refused",
      title: "",
      patterns: { p: { cells: { n: { default: 0 } }, handlers: { inc: [["increment", "n", 1]] } } },
      spaces: { A: { pieces: { p: { pattern: "p" } } } },
      clients: { a1: { user: "alice", session: "s1" } },
      steps: [
        { fail: "append:before-admit", space: "A", with: "conflict" },
        { fire: ["a1", "A/p/inc"], as: "e1" },
        { fire: ["a1", "A/p/inc"], as: "e2" },
        { settle: "A" },
        { expect: { "A/p/n": 1 } },
        { see: { a1: { "A/p/n": 1 } } },
        { outcome: { $e1: "append-refused", $e2: "consequenced" } },
        { overlay: { a1: 0 } },
        { queue: { a1: 0 } },
      ],
    }),
    "loopback",
  );
  expect(failure).toBeUndefined();
});
