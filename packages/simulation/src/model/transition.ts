import type { Action } from "./action.js";
import { phaseOf } from "./process-steps.js";
import type { ModelState } from "./state.js";

/** The name of a transition: what happened, and which way it went. What the coverage counts. */
export function transitionOf(action: Action, outcome: string): string {
  return `${NAMES[action.do]}: ${outcome}`;
}

/**
 * A transition together with how far its process had come; for what befalls no process, how far each had come that is
 * about.
 */
export function situationOf(state: ModelState, action: Action, transition: string): string {
  const befallen = "process" in action ? state.processes[action.process] : undefined;
  const phases =
    befallen === undefined
      ? Object.values(state.processes).filter(({ life }) => life !== "dead")
      : [befallen];
  const distinct = new Set(phases.map(phaseOf));
  return `${transition}, ${[...distinct].sort().join(" and ") || "nobody"}`;
}

const NAMES: Readonly<Record<Action["do"], string>> = {
  append: "append",
  access: "change of access",
  withhold: "withhold",
  write: "write",
  tick: "time passes",
  compact: "compaction",
  acquire: "acquire",
  renew: "renew",
  release: "release",
  steal: "theft over",
  activate: "activate",
  start: "start",
  crash: "crash",
  suspend: "suspend",
  resume: "resume",
  view: "view",
  drain: "drain",
  passOver: "pass over",
  drop: "drop",
  begin: "begin",
  beginCopy: "begin a copy",
  end: "handler",
  seal: "seal",
  giveBack: "give back",
  settle: "settle",
  close: "close",
  commit: "commit",
  refuse: "commit refused",
  abort: "abort",
  tell: "tell",
};
