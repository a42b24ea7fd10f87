import type { GateName } from "@tidemark/protocol";
import { describe, expect, test } from "vitest";
import { parseScenario, type Scenario } from "../../src/scenario/file.js";
import { after, FAULTS, setting, type Fault, type RawStep } from "./gate-matrix.js";
import { play } from "./play.js";

/** The gates around a change of the list, and around the wave behind it. */
const GATES = [
  "handler:after-run",
  "seal:before",
  "wave:before-commit",
  "access:after-commit",
  "wave:after-commit",
] as const satisfies readonly GateName[];

const PEOPLE = ["ben", "cy", "dora"] as const;
const LONG_MS = 60_000;
const SAYS = { op: "append", path: [], ifAbsent: [] } as const;

/** Each click lets somebody else in: what a click asks for is never what the list shows already. */
const PATTERN = {
  cells: { log: { default: [] }, said: { default: [] } },
  handlers: Object.fromEntries(
    PEOPLE.map((who) => [
      `let-${who}`,
      [
        ["append", "log", who],
        ["grant", who, "WRITE"],
      ],
    ]),
  ),
};

const click = (who: string, as: string): RawStep => ({ fire: ["a1", `A/p/let-${who}`], as });

function scenario(gate: GateName, fault: Fault): Scenario {
  const steps: RawStep[] = [
    { settle: "A", within: LONG_MS },
    { mark: "A" },
    click("ben", "e1"),
    { settle: "A", within: LONG_MS },
    ...(fault.endsWith("a rival standing by") ? [{ start: "rival" }] : []),
    setting(gate, fault),
    click("cy", "e2"),
    { advance: 500 },
    ...after(gate, fault),
    click("dora", "e3"),
    { settle: "A", within: LONG_MS },
    // Whoever was cut off comes back in its own time.
    { advance: 30_000 },
    { settle: "A", within: LONG_MS },
    { expect: { "A/p/log": PEOPLE } },
    { see: { a1: { "A/p/log": PEOPLE } } },
    { outcome: { $e1: "consequenced", $e2: "consequenced", $e3: "consequenced" } },
    { runs: { $e1: 1, $e2: 1, $e3: 1 } },
    // Three appends, and three changes of the list.
    { commits: { A: { authored: 6, "naming:$e1": 1, "naming:$e2": 1, "naming:$e3": 1 } } },
    ...PEOPLE.map((who) => ({ patch: [`${who}1`, "A/p/said", [{ ...SAYS, value: who }]] })),
    { settle: "A", within: LONG_MS },
    { expect: { "A/p/said": PEOPLE } },
    { watermark: { A: { lag: 0 } } },
    { overlay: { a1: 0 } },
    { queue: { a1: 0 } },
  ];
  return parseScenario(`${gate} ${fault}`, {
    id: `access ${gate} × ${fault}`,
    title: "exactly one change of the list per click",
    patterns: { door: PATTERN },
    spaces: { A: { pieces: { p: { pattern: "door" } }, acl: { alice: "OWNER", "*": "READ" } } },
    clients: {
      a1: { user: "alice", session: "s1" },
      ...Object.fromEntries(
        PEOPLE.map((who) => [`${who}1`, { user: who, session: `${who}-1`, watch: [] }]),
      ),
    },
    steps,
  });
}

describe.each(GATES)("at %s", (gate) => {
  test.each(FAULTS)("every click changes the list once: %s", async (fault) => {
    const { failure, met, trace } = await play(scenario(gate, fault), "loopback");
    expect(failure, trace.join("\n")).toBeUndefined();
    expect(met, "the fault was met").toContain(gate);
  });
});
