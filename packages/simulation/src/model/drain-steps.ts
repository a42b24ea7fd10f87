import type { ActionOf } from "./action.js";
import type { Law } from "./law.js";
import { refused, serving, type Stepped, went, withTenure } from "./result.js";
import {
  consumedBefore,
  type Contribution,
  type Entry,
  isPending,
  type ModelState,
  type Pos,
  type Running,
  type Tenure,
} from "./state.js";

/** The view takes in what the store holds; never under a running handler (R25). */
export function view(state: ModelState, { process, seen }: ActionOf<"view">): Stepped {
  const tenure = serving(state, process);
  if (typeof tenure === "string") return refused(tenure);
  const more = state.head > tenure.applied;
  const next = withTenure(state, process, (each) => ({
    ...each,
    seen: Math.max(each.seen, seen),
    applied: state.head,
  }));
  return went(next, more ? "took in commits" : "nothing new");
}

/** An entry is queued, in its order of arrival and once. */
export function drain(state: ModelState, { process, pos }: ActionOf<"drain">, law: Law): Stepped {
  const found = takeUp(state, process, pos, law);
  if (typeof found === "string") return refused(found);
  const { entry } = found;
  if (consumedBefore(state, entry) !== undefined && law.passesOverDuplicates) {
    return refused(
      `${entry.event} at ${entry.seq} is a duplicate of a consumed entry and was queued`,
    );
  }
  const next = withTenure(state, process, (tenure) => ({
    ...tenure,
    queue: [...tenure.queue, pos],
  }));
  return went(next, entry.raced ? "once more, after a race" : "queued");
}

/** A duplicate of a consumed entry is marked and runs nothing (R1). */
export function passOver(
  state: ModelState,
  { process, pos, closed }: ActionOf<"passOver">,
  law: Law,
): Stepped {
  const found = takeUp(state, process, pos, law);
  if (typeof found === "string") return refused(found);
  if (consumedBefore(state, found.entry) === undefined) {
    return refused(
      `${found.entry.event} at ${found.entry.seq} was passed over as a duplicate of nothing`,
    );
  }
  return went(decided(state, process, found.entry, "duplicate", closed), "a duplicate");
}

/** An entry that nothing can run drops, once it is the earliest that is pending, and holds the later (seed 000 §5, T3). */
export function drop(state: ModelState, action: ActionOf<"drop">, law: Law): Stepped {
  const { process, pos, closed } = action;
  const found = takeUp(state, process, pos, law);
  if (typeof found === "string") return refused(found);
  const earlier = state.entries.find((entry) => isPending(entry) && entry.pos < pos);
  if (earlier !== undefined && law.drainsInOrder) {
    return refused(`${found.entry.event} dropped while ${earlier.event} was pending before it`);
  }
  const passed = state.entries.find((entry) => entry.pos > pos && found.flying.has(entry.pos));
  if (passed !== undefined && law.drainsInOrder) {
    return refused(`${passed.event} was taken up past ${found.entry.event}, which dropped`);
  }
  return went(decided(state, process, found.entry, "dropped", closed), "nothing can run it");
}

/** The first of the queue begins: one body at a time (R23). */
export function begin(state: ModelState, { process, pos }: ActionOf<"begin">, law: Law): Stepped {
  const tenure = believing(state, process);
  if (typeof tenure === "string") return refused(tenure);
  if (tenure.running !== undefined)
    return refused(`${process} runs ${tenure.running.event} already`);
  const entry = state.entries.find((each) => each.pos === pos);
  if (entry === undefined) return refused(`no entry stands at ${pos}`);
  const at = tenure.queue.indexOf(pos);
  if (at < 0) return refused(`${entry.event} at ${entry.seq} begins and was not queued`);
  if (at > 0 && law.drainsInOrder)
    return refused(`${entry.event} overtakes what was queued before it`);
  const basis = Math.max(tenure.seen, entry.seq);
  const next = withTenure(state, process, (each) => ({
    ...each,
    queue: each.queue.filter((queued) => queued !== pos),
    running: runOf(state, each, entry, basis),
  }));
  return went(next, entry.raced ? "once more, after a race" : "begins");
}

/** A copy of what the open wave sends: its entry is not stored yet (seed 000 §2, LT1). */
export function beginCopy(state: ModelState, { process, event }: ActionOf<"beginCopy">): Stepped {
  const tenure = believing(state, process);
  if (typeof tenure === "string") return refused(tenure);
  if (tenure.running !== undefined)
    return refused(`${process} runs ${tenure.running.event} already`);
  if (tenure.wave.some((made) => made.event === event))
    return refused(`a copy of ${event} ran already`);
  const copy = { pos: 0, event, stream: streamSent(tenure, event) };
  const next = withTenure(state, process, (each) => ({
    ...each,
    running: runOf(state, each, copy, each.seen),
  }));
  return went(next, "begins");
}

export function end(state: ModelState, { process, how }: ActionOf<"end">): Stepped {
  const tenure = serving(state, process);
  if (typeof tenure === "string") return refused(tenure);
  const { running } = tenure;
  if (running === undefined || running.ended !== undefined)
    return refused(`nothing of ${process} runs`);
  const next = withTenure(state, process, (each) => ({
    ...each,
    running: { ...running, ended: how },
  }));
  return went(next, how);
}

/** What a run did joins the open wave. */
export function seal(state: ModelState, { process, sends, closed }: ActionOf<"seal">): Stepped {
  const tenure = believing(state, process);
  if (typeof tenure === "string") return refused(tenure);
  const { running } = tenure;
  if (running?.ended === undefined) return refused(`${process} has no run that has ended`);
  const { pos, event, stream, basis, reign } = running;
  const kind = running.ended === "ok" ? "handling" : "error";
  const made: Contribution = {
    kind,
    pos,
    event,
    stream,
    basis,
    reign,
    ...(kind === "handling" && sends.length > 0 ? { sends } : {}),
  };
  const next = withTenure(state, process, ({ running: _done, ...each }) =>
    joined(each, made, closed),
  );
  return went(next, kind === "handling" ? "its consequence" : "its error");
}

/** A delivery ended without a seal, and takes the queue behind it along (seed 000 §5). */
export function giveBack(state: ModelState, { process }: ActionOf<"giveBack">): Stepped {
  const tenure = serving(state, process);
  if (typeof tenure === "string") return refused(tenure);
  const { running } = tenure;
  // What a copy leaves behind is told by its entry; nobody waits for it.
  const copy = running?.pos === 0;
  const next = withTenure(state, process, ({ running: _gone, ...each }) => ({
    ...each,
    queue: copy ? each.queue : [],
  }));
  return went(next, running === undefined ? "before it ran" : "after it ran");
}

/** Entries of a tenure that have a copy under way. */
export function inFlight({ queue, running, wave, closing }: Tenure): ReadonlySet<Pos> {
  const made = [...wave, ...(closing?.contributions ?? [])].map(({ pos }) => pos);
  return new Set([...queue, ...(running === undefined ? [] : [running.pos]), ...made]);
}

/** The tenure that may still commit and has not learnt of a lapse. */
export function believing(state: ModelState, process: string): Tenure | string {
  const tenure = serving(state, process);
  if (typeof tenure === "string") return tenure;
  return state.processes[process]?.believes === true
    ? tenure
    : `${process} knows that it has lost the lease`;
}

/** What the open wave sends and has not run. */
export function copiesWaiting({ wave, running }: Tenure): readonly string[] {
  const ran = new Set([...wave.map(({ event }) => event), running?.event]);
  return wave
    .flatMap(({ sends }) => sends ?? [])
    .map(({ event }) => event)
    .filter((event) => !ran.has(event));
}

function takeUp(
  state: ModelState,
  process: string,
  pos: Pos,
  law: Law,
): { readonly entry: Entry; readonly flying: ReadonlySet<Pos> } | string {
  const tenure = believing(state, process);
  if (typeof tenure === "string") return tenure;
  const entry = state.entries.find((each) => each.pos === pos);
  if (entry === undefined) return `no entry stands at ${pos}`;
  if (!isPending(entry)) return `${entry.event} at ${entry.seq} has ended already`;
  if (entry.seq > tenure.applied)
    return `${entry.event} at ${entry.seq} is beyond the view of ${process}`;
  const flying = inFlight(tenure);
  if (flying.has(pos) && law.oneCopy)
    return `${entry.event} at ${entry.seq} has a copy under way already`;
  const earlier = state.entries.find(
    (other) => isPending(other) && other.pos < pos && !flying.has(other.pos),
  );
  if (earlier !== undefined && law.drainsInOrder) {
    return `${entry.event} was taken up before ${earlier.event}, which arrived earlier`;
  }
  return { entry, flying };
}

/** What is decided of an entry without a run. */
function decided(
  state: ModelState,
  process: string,
  { pos, seq, event, stream }: Entry,
  kind: "duplicate" | "dropped",
  closed: true | undefined,
): ModelState {
  const made = { kind, pos, event, stream, basis: seq, reign: state.reign };
  return withTenure(state, process, (tenure) => joined(tenure, made, closed));
}

/** The open wave, or the one that is committing, with one contribution more. */
function joined(tenure: Tenure, made: Contribution, closed: true | undefined): Tenure {
  const { closing } = tenure;
  if (!closed || closing === undefined) return { ...tenure, wave: [...tenure.wave, made] };
  return { ...tenure, closing: { ...closing, contributions: [...closing.contributions, made] } };
}

function runOf(
  { reign }: ModelState,
  { commits }: Tenure,
  { pos, event, stream }: Pick<Entry, "pos" | "event" | "stream">,
  basis: number,
): Running {
  return { pos, event, stream, basis, reign, since: commits };
}

function streamSent({ wave }: Tenure, event: string): string {
  const sent = wave.flatMap(({ sends }) => sends ?? []);
  return sent.find((each) => each.event === event)?.stream ?? "?";
}
