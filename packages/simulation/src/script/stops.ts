import type { GateName } from "@tidemark/protocol";
import { copiesWaiting } from "../model/drain-steps.js";
import { phaseOf } from "../model/process-steps.js";
import type { ModelState, Process, Tenure } from "../model/state.js";
import type { Window } from "./windows.js";

/** Where a process is to be met. */
export interface Stop {
  readonly gate?: GateName;
  readonly event?: string;
  /** It is met there at its next arrival after it has been held before the seal of that event. */
  readonly after?: string;
  /** In the handler of an event of that stream. */
  readonly handler?: { readonly event: string; readonly stream: string };
}

/** Where the next thing from outside is to meet a process; undefined where it rests, or nothing is left to meet it. */
export function stopOf({ end, next }: Window, name: string): Stop | undefined {
  const process = end.processes[name];
  if (next === undefined || process === undefined || process.life !== "alive") return undefined;
  const { tenure } = process;
  if (next.action.do === "close" && next.action.process === name && tenure !== undefined) {
    return cutStop(end, tenure);
  }
  return stopAt(end, process);
}

/** The deadline cuts a cycle while the handler of what is next waits. */
function cutStop(state: ModelState, tenure: Tenure): Stop | undefined {
  const [pos] = tenure.queue;
  const entry = state.entries.find((each) => each.pos === pos);
  if (entry !== undefined) return { handler: { event: entry.event, stream: entry.stream } };
  const [copy] = copiesWaiting(tenure);
  const sent = tenure.wave.flatMap(({ sends }) => sends ?? []).find(({ event }) => event === copy);
  return sent && { handler: { event: sent.event, stream: sent.stream } };
}

function stopAt(state: ModelState, process: Process): Stop | undefined {
  const { tenure } = process;
  switch (phaseOf(process)) {
    case "activating":
      return { gate: "activate:after-lease" };
    case "before a handler":
      return { gate: "handler:before-run", ...named(eventAt(state, tenure?.queue[0])) };
    case "in a handler":
      return tenure?.running && { handler: tenure.running };
    case "before the seal":
      return { gate: "seal:before", ...named(eventAt(state, tenure?.running?.pos)) };
    case "before the commit":
      return { gate: "wave:before-commit" };
    case "durable and untold":
      return { gate: "wave:after-commit" };
    case "with sealed work":
      return betweenRuns(state, tenure);
    case "idle":
      return tenure !== undefined && state.head > tenure.applied
        ? { gate: "feed:before-apply" }
        : undefined;
    default:
      return undefined;
  }
}

/** A run is sealed and the next has not begun: a copy of what it sent, or news, is on its way. */
export function betweenRuns(state: ModelState, tenure: Tenure | undefined): Stop | undefined {
  if (tenure === undefined) return undefined;
  const after = tenure.wave.at(-1)?.event ?? "";
  if (copiesWaiting(tenure).length > 0) return { gate: "preflight:before", after };
  return state.head > tenure.applied ? { gate: "feed:before-apply" } : undefined;
}

/** The event of the entry at a place. */
export function eventAt({ entries }: ModelState, pos: number | undefined): string | undefined {
  return entries.find((entry) => entry.pos === pos)?.event;
}

/** An event beside a gate, where only its arrivals count. */
export function named(event: string | undefined): { readonly event?: string } {
  return event === undefined ? {} : { event };
}
