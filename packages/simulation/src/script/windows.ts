import type { Action } from "../model/action.js";
import { copiesWaiting } from "../model/drain-steps.js";
import type { ModelState, Tenure } from "../model/state.js";
import type { Scene } from "./scenes.js";

/** What is done from outside, and what processes then do by themselves until the next of its kind. */
export interface Window {
  readonly lead: Scene;
  readonly own: readonly Scene[];
  readonly end: ModelState;
  readonly next: Scene | undefined;
}

/** Scenes, cut before each that comes from outside. */
export function windowsOf(scenes: readonly Scene[]): readonly Window[] {
  const windows: Window[] = [];
  for (let at = 0; at < scenes.length;) {
    const lead = scenes[at] as Scene;
    let to = at + 1;
    for (let each = scenes[to]; each !== undefined && isOwn(each); each = scenes[to]) to += 1;
    const own = scenes.slice(at + 1, to);
    windows.push({ lead, own, end: (own.at(-1) ?? lead).after, next: scenes[to] });
    at = to;
  }
  return windows;
}

/** Whether a process does it by itself, or by a fault that it meets on its way. */
function isOwn({ action, before }: Scene): boolean {
  switch (action.do) {
    case "append":
    case "write":
    case "tick":
    case "compact":
    case "steal":
    case "start":
    case "crash":
    case "suspend":
    case "resume":
    case "renew":
      return false;
    // Where a tenure stands it is asked for again at once, or not at all.
    case "acquire":
      return before.processes[action.process]?.tenure !== undefined;
    case "release":
      return before.processes[action.process]?.tenure?.over === true;
    case "close":
      return !isCut(before.processes[action.process]?.tenure);
    default:
      return true;
  }
}

/** Closed with work left to do: the flush deadline alone does that. */
function isCut(tenure: Tenure | undefined): boolean {
  return tenure !== undefined && (tenure.queue.length > 0 || copiesWaiting(tenure).length > 0);
}

/** Whether an action is a process's, or befalls it. */
export function isBy(action: Action, process: string): boolean {
  return "process" in action && action.process === process;
}
