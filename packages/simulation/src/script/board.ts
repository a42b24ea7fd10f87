import type { Configuration } from "../model/configuration.js";
import type { PatternFile } from "../scenario/file.js";
import { CUT_MS, IDLE_PARK_MS, LEASE_MS } from "./step.js";

type Op = readonly unknown[];

/** It counts by what it reads, so that a write to its cell races it; what else it does the payload says. */
function handler(stream: string): readonly Op[] {
  const cell = `of-${stream}`;
  return [
    ["set", cell, ["+", ["get", cell], 1]],
    ["if", ["payload", "waits"], [["await", stream]]],
    ["if", ["payload", "throws"], [["throw", "as it was told"]]],
    ["if", ["payload", "sends"], [["send", "y", ["payload", "sends"]]]],
  ];
}

const BOARD = {
  cells: { "of-x": { default: 0 }, "of-y": { default: 0 } },
  computed: { double: ["*", ["get", "of-x"], 2] },
  handlers: { x: handler("x"), y: handler("y") },
} as unknown as PatternFile;

/** Longer than any script. */
const NEVER_MS = 86_400_000;

/** The world of a configuration: one space, one piece with the streams `x` and `y`, nobody about. */
export function worldFile({ name, unhandled, cuts, compactions }: Configuration): unknown {
  const { x: _none, ...handlers } = BOARD.handlers ?? {};
  const board = unhandled === undefined ? BOARD : { ...BOARD, handlers };
  return {
    id: `script: ${name}`,
    title: name,
    patterns: { board },
    spaces: { A: { acl: { alice: "OWNER" }, pieces: { p: { pattern: "board" } } } },
    clients: {},
    autostart: false,
    policy: {
      flushDeadlineMs: cuts === undefined ? NEVER_MS : CUT_MS,
      idleParkMs: IDLE_PARK_MS,
      leaseTtlMs: LEASE_MS,
      deferralThreshold: 1,
      ...(compactions === undefined ? {} : { compactAfterEntries: 0, compactAfterMs: 0 }),
    },
    steps: [],
  };
}
