import type { Action } from "./action.js";

/** The name of a transition: what happened, and which way it went. What the coverage counts. */
export function transitionOf(action: Action, outcome: string): string {
  return `${NAMES[action.do]}: ${outcome}`;
}

const NAMES: Readonly<Record<Action["do"], string>> = {
  append: "append",
  write: "write",
  tick: "time passes",
  compact: "compaction",
  acquire: "acquire",
  renew: "renew",
  release: "release",
  steal: "theft over",
  activate: "activate",
  park: "park",
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
