import type { StepResult } from "./action.js";
import type { ModelState, Process, Tenure } from "./state.js";

export type Stepped = StepResult<ModelState>;

/** The step is allowed, and went this way. */
export function went(state: ModelState, outcome: string): Stepped {
  return { ok: true, state, outcome };
}

/** The model allows no such step. */
export function refused(why: string): Stepped {
  return { ok: false, why };
}

/** The state with one process changed. */
export function withProcess(
  state: ModelState,
  name: string,
  change: (process: Process) => Process,
): ModelState {
  const process = state.processes[name];
  if (process === undefined) return state;
  return { ...state, processes: { ...state.processes, [name]: change(process) } };
}

/** The state with the tenure of one process changed, or ended. */
export function withTenure(
  state: ModelState,
  name: string,
  change: (tenure: Tenure) => Tenure | undefined,
): ModelState {
  return withProcess(state, name, ({ tenure, ...process }) => {
    const next = tenure === undefined ? undefined : change(tenure);
    return next === undefined ? process : { ...process, tenure: next };
  });
}

/** The process where it can act at all: one that stands still or is dead does nothing. */
export function actor(state: ModelState, name: string): Process | string {
  const process = state.processes[name];
  if (process === undefined) return `there is no process ${name}`;
  return process.life === "alive" ? process : `${name} is ${process.life} and does nothing`;
}

/** The tenure where its process can act and may still commit. */
export function serving(state: ModelState, name: string): Tenure | string {
  const process = actor(state, name);
  if (typeof process === "string") return process;
  if (process.tenure === undefined) return `${name} has no tenure`;
  if (process.tenure.over) return `the tenure of ${name} is over`;
  return process.tenure;
}
