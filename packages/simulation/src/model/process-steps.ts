import type { ActionOf } from "./action.js";
import type { Law } from "./law.js";
import { ended } from "./lease-steps.js";
import { actor, refused, type Stepped, went, withProcess } from "./result.js";
import type { ModelState, Process } from "./state.js";

/** A process begins, or the next of its name: nothing is left of the earlier one but what is stored. */
export function start(state: ModelState, { process: name, holder }: ActionOf<"start">): Stepped {
  const earlier = state.processes[name];
  if (earlier !== undefined && earlier.life !== "dead") return refused(`${name} is running`);
  const lives = (earlier?.lives ?? 0) + 1;
  const process: Process = { life: "alive", holder, lives, believes: false };
  const next = { ...state, processes: { ...state.processes, [name]: process } };
  return went(next, earlier === undefined ? "for the first time" : "again");
}

/** Nothing is flushed, nothing is released. */
export function crash(state: ModelState, { process: name }: ActionOf<"crash">): Stepped {
  const process = state.processes[name];
  if (process === undefined || process.life === "dead") return refused(`${name} does not run`);
  const next = withProcess(state, name, (each) => ({ ...ended(each), life: "dead" }));
  return went(next, phaseOf(process));
}

export function suspend(state: ModelState, { process: name }: ActionOf<"suspend">): Stepped {
  const process = actor(state, name);
  if (typeof process === "string") return refused(process);
  return went(
    withProcess(state, name, (each) => ({ ...each, life: "suspended" })),
    phaseOf(process),
  );
}

export function resume(state: ModelState, { process: name }: ActionOf<"resume">): Stepped {
  const process = state.processes[name];
  if (process?.life !== "suspended") return refused(`${name} does not stand still`);
  const believed = process.believes && state.lease?.holder !== process.holder;
  const ranOut = process.believes && state.now >= (state.lease?.until ?? 0);
  const outcome = believed
    ? "another took its row"
    : ranOut
      ? "its row ran out"
      : "nothing was lost";
  return went(
    withProcess(state, name, (each) => ({ ...each, life: "alive" })),
    outcome,
  );
}

/** A tenure begins over the store as it stands. */
export function activate(
  state: ModelState,
  { process: name }: ActionOf<"activate">,
  law: Law,
): Stepped {
  const process = actor(state, name);
  if (typeof process === "string") return refused(process);
  if (!process.believes) return refused(`${name} activated without a lease`);
  const id = state.tenures + 1;
  const { head } = state;
  const left = state.entries.some(({ end }) => end === undefined);
  const tenure = {
    id,
    since: head,
    seen: head,
    applied: head,
    queue: [],
    wave: [],
    proven: 0,
    commits: 0,
    ...(law.successorAsksTheStore ? {} : { blind: true as const }),
  };
  const next = withProcess({ ...state, tenures: id }, name, (each) => ({ ...each, tenure }));
  return went(next, left ? "over what was left pending" : "over a store at rest");
}

/** How far a process has come: what a crash or a suspension meets. */
export function phaseOf({ believes, tenure }: Process): string {
  if (tenure === undefined) return believes ? "activating" : "parked";
  if (tenure.over) return "ending";
  if (tenure.untold) return "durable and untold";
  if (tenure.closing !== undefined) return "before the commit";
  if (tenure.running?.ended !== undefined) return "before the seal";
  if (tenure.running !== undefined) return "in a handler";
  if (tenure.queue.length > 0) return "before a handler";
  if (tenure.wave.length > 0) return "with sealed work";
  return "idle";
}
