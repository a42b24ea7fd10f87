import type { GateName } from "@tidemark/protocol";
import { parseScenario, type Scenario } from "../../src/scenario/file.js";
import type { LOOP_GATES } from "../../src/simulator/plan-file.js";

export type RawStep = Readonly<Record<string, unknown>>;

/** What happens to the process that reaches the gate. */
export const FAULTS = [
  "crash",
  "crash, a rival standing by",
  "crash while held",
  "fail io",
  "fail io five times",
  "fail connection",
  "hold past the lease",
  "hold past the lease, a rival standing by",
  "hold while stopping",
] as const;

export type Gate = (typeof LOOP_GATES)[number];
export type Fault = (typeof FAULTS)[number];

const PATTERN = {
  cells: { log: { default: [] }, count: { default: 0 }, last: { default: 0 } },
  computed: { double: ["*", ["get", "count"], 2] },
  handlers: {
    note: [
      ["append", "log", ["payload"]],
      ["set", "last", ["payload"]],
      ["increment", "count", 1],
      ["send", "echo", ["payload"]],
    ],
    echo: [["append", "echoes", ["payload"]]],
  },
};

const WITH_ECHOES = {
  ...PATTERN,
  cells: { ...PATTERN.cells, echoes: { default: [] } },
};

const PAST_THE_LEASE_MS = 20_000;
const LONG_MS = 60_000;

const parks = (gate: Gate): boolean => gate === "park:before" || gate === "dispose:before";

/** What makes the process arrive at the gate, the click that it must not lose included. */
function approach(gate: Gate): readonly RawStep[] {
  const click: RawStep = { fire: ["a1", "A/p/note", 2], as: "e2" };
  if (parks(gate)) return [{ offline: "a1" }, { advance: 3_000 }];
  if (gate === "activate:after-lease") return [{ start: "server" }, { advance: 500 }];
  if (gate === "lease:before-renew") return [click, { advance: 6_000 }];
  return [click, { advance: 500 }];
}

/** What sets the gate, before anything arrives there. */
export function setting(gate: GateName, fault: Fault): RawStep {
  if (fault.startsWith("crash") && fault !== "crash while held") {
    return { crashAt: gate, space: "A" };
  }
  if (fault === "fail io five times") return { fail: gate, space: "A", with: "io", times: 5 };
  if (fault.startsWith("fail ")) return { fail: gate, space: "A", with: fault.slice(5) };
  return { hold: gate, space: "A" };
}

/** What follows once the process has arrived. */
export function after(gate: GateName, fault: Fault): readonly RawStep[] {
  const held: readonly RawStep[] = [{ reached: gate, space: "A" }];
  switch (fault) {
    // The dead process's lease is left alone until it has run out, and the next click is the trigger.
    case "crash":
      return [{ start: "server" }, { advance: PAST_THE_LEASE_MS }];
    case "crash, a rival standing by":
      return [{ advance: PAST_THE_LEASE_MS }];
    case "crash while held":
      return [...held, { crash: "server" }, { start: "server" }, { advance: PAST_THE_LEASE_MS }];
    case "hold past the lease":
    case "hold past the lease, a rival standing by":
      return [...held, { suspend: "server", ms: PAST_THE_LEASE_MS }, { release: gate, space: "A" }];
    case "hold while stopping":
      return [...held, { stop: "server" }, { start: "server" }];
    default:
      return [{ advance: 1_000 }];
  }
}

/** One small life: a click before, a click at the gate, a click after. */
export function matrixScenario(gate: Gate, fault: Fault): Scenario {
  const steps: RawStep[] = [
    { fire: ["a1", "A/p/note", 1], as: "e1" },
    { settle: "A", within: LONG_MS },
    ...(gate === "activate:after-lease" ? [{ stop: "server" }] : []),
    ...(fault.endsWith("a rival standing by") ? [{ start: "rival" }] : []),
    setting(gate, fault),
    ...approach(gate),
    ...after(gate, fault),
    ...(parks(gate)
      ? [{ online: "a1" }, { fire: ["a1", "A/p/note", 2], as: "e2" }]
      : gate === "activate:after-lease"
        ? [{ fire: ["a1", "A/p/note", 2], as: "e2" }]
        : []),
    { fire: ["a1", "A/p/note", 3], as: "e3" },
    { settle: "A", within: LONG_MS },
    { advance: 1_000 },
    ...END,
  ];
  return parseScenario(`${gate} ${fault}`, {
    id: `${gate} × ${fault}`,
    title: "exactly one effect per click",
    patterns: { log: WITH_ECHOES },
    spaces: { A: { pieces: { p: { pattern: "log" } } } },
    clients: { a1: { user: "alice", session: "s1" } },
    // A park that keeps its runtime disposes nothing.
    policy: {
      idleParkMs: 2_000,
      ...(gate === "dispose:before" && { parkedRuntimeRetentionMs: 0 }),
    },
    steps,
  });
}

const END: readonly RawStep[] = [
  {
    expect: {
      "A/p/log": [1, 2, 3],
      "A/p/echoes": [1, 2, 3],
      "A/p/count": 3,
      "A/p/last": 3,
      "A/p/double": 6,
    },
  },
  { see: { a1: { "A/p/log": [1, 2, 3], "A/p/double": 6 } } },
  { outcome: { $e1: "consequenced", $e2: "consequenced", $e3: "consequenced" } },
  {
    entry: {
      $e1: { consequenced: true, status: { absent: true } },
      $e2: { consequenced: true, status: { absent: true } },
      $e3: { consequenced: true, status: { absent: true } },
    },
  },
  { runs: { $e1: 1, $e2: 1, $e3: 1 } },
  { commits: { A: { "naming:$e1": 1, "naming:$e2": 1, "naming:$e3": 1 } } },
  { watermark: { A: { lag: 0 } } },
  { overlay: { a1: 0 } },
  { queue: { a1: 0 } },
];
