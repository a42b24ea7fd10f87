import type { ActionOf } from "./action.js";
import type { Law } from "./law.js";
import { actor, refused, type Stepped, went, withProcess } from "./result.js";
import { isLive, type ModelState, type Process, type Tenure } from "./state.js";

/** Takes a free row, one that ran out, or the holder's own. */
export function acquire(state: ModelState, action: ActionOf<"acquire">, law: Law): Stepped {
  const process = actor(state, action.process);
  if (typeof process === "string") return refused(process);
  const live = isLive(state);
  const own = state.lease?.holder === process.holder;
  if (!action.won) {
    return live && !own
      ? went(disbelieving(state, action.process), "refused: another's row is live")
      : refused(`${action.process} was refused a row that nobody else holds`);
  }
  if (live && !own && law.acquireAsksTheRow) {
    return refused(`${action.process} took a row that ${state.lease?.holder} holds live`);
  }
  const lease = { holder: process.holder, until: state.now + action.ttl };
  // A row that is live and its own goes on: everything else begins another reign.
  const reign = live && own ? state.reign : state.reign + 1;
  const next = withProcess({ ...state, lease, reign }, action.process, (each) =>
    afterAcquire(each),
  );
  return went(next, acquired(state, own));
}

/** A tenure that lost nothing to a lapse goes on, and asks afresh what is pending. */
function afterAcquire({ tenure, ...process }: Process): Process {
  const believing = { ...process, believes: true };
  if (tenure === undefined) return believing;
  return { ...believing, tenure: process.believes ? tenure : { ...tenure, queue: [] } };
}

function acquired(state: ModelState, own: boolean): string {
  if (state.lease === undefined) return "a free row";
  if (own) return isLive(state) ? "its own live row" : "its own row that ran out";
  return "another's row that ran out";
}

/** Extends the holder's own live row; otherwise the holder learns that it has lost it. */
export function renew(state: ModelState, action: ActionOf<"renew">, law: Law): Stepped {
  const process = actor(state, action.process);
  if (typeof process === "string") return refused(process);
  const own = state.lease?.holder === process.holder;
  const mine = own && isLive(state);
  if (action.kept) {
    if (!mine && law.renewAsksTheRow)
      return refused(`${action.process} renewed a row that is not its live one`);
    if (!process.believes && law.renewAsksTheRow)
      return refused(`${action.process} renewed without a tenure`);
    const reign = mine ? state.reign : state.reign + 1;
    const lease = { holder: process.holder, until: state.now + action.ttl };
    return went({ ...state, lease, reign }, "the row goes on");
  }
  if (mine) return refused(`${action.process} could not renew its own live row`);
  const lost = lapsed(state, action.process, law);
  return went(lost, own ? "lost: it ran out" : "lost: the row is another's or gone");
}

/** The process gives its row back; another's is left alone. */
export function release(state: ModelState, { process: name }: ActionOf<"release">): Stepped {
  const process = actor(state, name);
  if (typeof process === "string") return refused(process);
  const { lease, ...rest } = state;
  const own = lease?.holder === process.holder;
  const next = own || lease === undefined ? rest : state;
  return went(withProcess(next, name, ended), own ? "its own row" : "no row of its own");
}

/** Somebody writes the row by hand, whoever holds it. */
export function steal(state: ModelState, { holder, ttl }: ActionOf<"steal">): Stepped {
  const from = isLive(state) ? "a live row" : "no live row";
  const lease = { holder, until: state.now + ttl };
  return went({ ...state, lease, reign: state.reign + 1 }, from);
}

/** The tenure is at its end. */
export function ended({ tenure: _tenure, ...process }: Process): Process {
  return { ...process, believes: false };
}

/**
 * The holder has learnt of the lapse: it stops committing at once. Whatever was under way is gone, and then the tenure
 * with it; one that a lapse takes nothing from may go on under a row it gets back (seed 001 §2).
 */
export function lapsed(state: ModelState, name: string, law: Law): ModelState {
  return withProcess(state, name, ({ tenure, ...process }) => {
    const without = { ...process, believes: false };
    if (tenure === undefined) return without;
    if (!law.lapseEndsTheWave) return { ...without, tenure };
    return { ...without, tenure: isEngaged(tenure) ? over(tenure) : { ...tenure, queue: [] } };
  });
}

/** A tenure that ends with what it had not committed. */
export function over({ running: _running, closing: _closing, ...tenure }: Tenure): Tenure {
  return { ...tenure, queue: [], wave: [], over: true };
}

/** Whether a lapse would take something from it. */
export function isEngaged({ running, wave, closing }: Tenure): boolean {
  return running !== undefined || closing !== undefined || wave.length > 0;
}

function disbelieving(state: ModelState, name: string): ModelState {
  return withProcess(state, name, (process) => ({ ...process, believes: false }));
}
