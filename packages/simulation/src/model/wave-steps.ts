import type { ActionOf, CommitAction } from "./action.js";
import { believing, copiesWaiting, inFlight } from "./drain-steps.js";
import { judgeFalls } from "./falls.js";
import type { Law } from "./law.js";
import { over } from "./lease-steps.js";
import { refused, serving, type Stepped, went, withTenure } from "./result.js";
import {
  type Closing,
  type Contribution,
  type Derived,
  type End,
  type Entry,
  holds,
  isLive,
  isPending,
  markedPrefix,
  type ModelState,
  type Tenure,
  type Underived,
} from "./state.js";
import { owing, standing } from "./store-steps.js";

/** An idle scheduler: everything up to here has run to its end, derivations included (seed 001 §3). */
export function settle(state: ModelState, action: ActionOf<"settle">, law: Law): Stepped {
  const { process, through, closed } = action;
  const tenure = believing(state, process);
  if (typeof tenure === "string") return refused(tenure);
  const wrong = law.provesAtRest ? unproved(state, tenure, action) : undefined;
  if (wrong !== undefined) return refused(`${process} proved ${through}, ${wrong}`);
  const derives = law.provesAtRest && owesDerivation(state, tenure);
  const derivation: Contribution = {
    kind: "derivation",
    pos: 0,
    event: "",
    stream: "",
    basis: tenure.applied,
    reign: state.reign,
  };
  const next = withTenure(state, process, ({ closing, ...each }) => ({
    ...each,
    proven: Math.max(each.proven, through),
    wave: derives ? [...each.wave, derivation] : each.wave,
    ...(closing === undefined
      ? {}
      : { closing: closed ? { ...closing, proven: Math.max(closing.proven, through) } : closing }),
  }));
  return went(next, "at rest");
}

/** Why an idle scheduler can not have proved that much. */
function unproved(
  { tail, entries }: ModelState,
  tenure: Tenure,
  { through, closed }: ActionOf<"settle">,
): string | undefined {
  const { wave, closing } = tenure;
  const [waiting] = copiesWaiting(tenure);
  if (waiting !== undefined) return `while a copy of ${waiting} waited`;
  const applied = closed ? (closing?.applied ?? 0) : tenure.applied;
  if (through > applied) return `which it had not taken in`;
  // Below an entry that is held back everything is covered, the derived commits in between too.
  const held = entries.some((entry) => isPending(entry) && entry.seq === through + 1);
  if (!held && tail.some(({ seq }) => seq === through)) return "which is no input but derived";
  const made = new Set([...wave, ...(closing?.contributions ?? [])].map(({ pos }) => pos));
  const open = entries.find(
    (each) => isPending(each) && each.seq <= through && !made.has(each.pos),
  );
  return open && `over ${open.event} at ${open.seq}, which has not ended`;
}

/** The wave goes to the store; what seals from now on is the next one's. */
export function close(state: ModelState, { process }: ActionOf<"close">): Stepped {
  const tenure = believing(state, process);
  if (typeof tenure === "string") return refused(tenure);
  if (tenure.closing !== undefined) return refused(`${process} commits one wave already`);
  const { wave: contributions, proven, applied } = tenure;
  const next = withTenure(state, process, (each) => ({
    ...each,
    wave: [],
    closing: { contributions, proven, applied },
  }));
  return went(next, contributions.length === 0 ? "for W alone" : "with what was sealed");
}

/** The store accepts a wave, or what of it stands (seed 001 §3d). */
export function commit(state: ModelState, action: CommitAction, law: Law): Stepped {
  const tenure = serving(state, action.process);
  if (typeof tenure === "string") return refused(tenure);
  const { closing } = tenure;
  if (closing === undefined)
    return refused(`${action.process} committed a wave that it never closed`);
  if (!holds(state, action.process) && law.commitAsksTheRow) {
    return refused(`${action.process} committed under ${rowText(state)}`);
  }
  const falls = judgeFalls(state, tenure.id, closing, action, law);
  if (typeof falls === "string") return refused(falls);
  const landed = closing.contributions.filter((made) => !falls.has(made));
  const wrong = misplaced(state, action, closing, landed, falls, law);
  if (wrong !== undefined) return refused(wrong);
  if (!action.writes) return nothingWritten(state, action, landed);
  if (!hasContent(action, landed) && (action.watermark ?? 0) <= state.watermark) {
    return refused(`${action.process} made a commit that carries nothing`);
  }
  return landing(state, action, { tenure, landed, falls }, law);
}

export function refuse(state: ModelState, { process, answer }: ActionOf<"refuse">): Stepped {
  const tenure = serving(state, process);
  if (typeof tenure === "string") return refused(tenure);
  if (tenure.closing === undefined && !answer)
    return refused(`${process} was refused a wave that it never closed`);
  if (holds(state, process))
    return refused(`${process} was refused its commit under its own live row`);
  const own = state.lease?.holder === state.processes[process]?.holder;
  const next = withTenure(state, process, over);
  return went(next, own ? "its row ran out" : "the row is another's or gone");
}

export function abort(state: ModelState, { process }: ActionOf<"abort">): Stepped {
  const tenure = serving(state, process);
  if (typeof tenure === "string") return refused(tenure);
  return went(
    withTenure(state, process, over),
    tenure.closing === undefined ? "outside a commit" : "a wave",
  );
}

export function tell(state: ModelState, { process }: ActionOf<"tell">): Stepped {
  const tenure = serving(state, process);
  if (typeof tenure === "string") return refused(tenure);
  return went(
    withTenure(state, process, ({ untold: _told, ...each }) => each),
    "told",
  );
}

/** Whether derivations owe something that this tenure can see. */
export function owesDerivation({ underived }: ModelState, tenure: Tenure): boolean {
  if (underived === "unseen") return false;
  const handled = sinceDerivation(tenure.wave).some(({ kind }) => kind === "handling");
  const derived = tenure.wave.filter(({ kind }) => kind === "derivation").at(-1)?.basis;
  return handled || underived.some((owed) => isNews(owed, tenure, derived));
}

/** Own consequences are in the view as they commit, ahead of any later run; the rest comes with the view. */
function isNews(owed: Underived, { id, applied }: Tenure, derived: number | undefined): boolean {
  if (owed.tenure === id) return derived === undefined;
  return owed.seq <= applied && owed.seq > (derived ?? 0);
}

/** W, marks and sends that a commit may not have. */
function misplaced(
  state: ModelState,
  action: CommitAction,
  closing: Closing,
  landed: readonly Contribution[],
  falls: ReadonlySet<Contribution>,
  law: Law,
): string | undefined {
  const { watermark: to } = action;
  const seq = state.head + 1;
  if (to !== undefined) {
    if (law.watermarkRises && (to < state.watermark || to >= seq)) {
      return `W went from ${state.watermark} to ${to} in commit ${seq}`;
    }
    if (law.takenBackKeepsW && falls.size > 0)
      return `W went to ${to} with a wave that gave something back`;
    if (law.provesAtRest && to > reach(state, closing, !hasContent(action, closing.contributions)))
      return `W went to ${to}, and nothing proved that`;
    if (law.provesAtRest && action.behind !== undefined && action.behind <= to) {
      return `W went to ${to}, and a demanded derivation has not taken in ${action.behind}`;
    }
  }
  const open = new Set(state.entries.filter(isPending).map(({ pos }) => pos));
  const again = landed.find(({ pos }) => pos > 0 && !open.has(pos));
  if (again !== undefined && law.oneCopy)
    return `commit ${seq} ends ${again.event}, which is not pending`;
  return wrongCopy(action, landed);
}

/**
 * How far W may go: over what is proved; and, for itself alone and with nothing left to take up, over the derived tail
 * if that has content. The commit that does so has none: it is never chased (seed 001 §3, drain-settle).
 */
export function reach(
  { watermark, tail, entries }: ModelState,
  { applied, proven }: Pick<Tenure, "applied" | "proven">,
  alone: boolean,
): number {
  let reached = Math.max(watermark, proven);
  const above = tail.filter(({ seq }) => seq > reached);
  const drained = !entries.some(
    (entry) => isPending(entry) && (entry.sent || entry.seq <= applied),
  );
  if (!alone || !drained || !above.some(({ content }) => content)) return reached;
  while (above.some(({ seq }) => seq === reached + 1)) reached += 1;
  return reached;
}

/** Marks, effects and derived values are content; W is none (R8). */
function hasContent({ content }: CommitAction, made: readonly Contribution[]): boolean {
  return content ?? made.length > 0;
}

/** An entry that the wave appends ends there by its own copy's landing run, and by nothing else (seed 000 §4). */
function wrongCopy({ sent }: CommitAction, landed: readonly Contribution[]): string | undefined {
  const ran = new Set(landed.filter((made) => isCopy(made)).map(({ event }) => event));
  for (const { event, copy = event, ended } of sent) {
    if (ended && !ran.has(copy))
      return `${event} ended in the wave that sends it, and its copy did not run there`;
    if (!ended && ran.has(copy))
      return `the copy of ${event} ran in its wave, which does not end it`;
    ran.delete(copy);
  }
  const [orphan] = ran;
  return orphan === undefined ? undefined : `a copy of ${orphan} landed without an entry`;
}

/** A run of what its own wave sends. */
export function isCopy({ pos, kind }: Contribution): boolean {
  return pos === 0 && kind !== "derivation";
}

function nothingWritten(
  state: ModelState,
  { process, watermark }: CommitAction,
  landed: readonly Contribution[],
): Stepped {
  const written = landed.find(({ kind }) => kind !== "derivation");
  if (written !== undefined)
    return refused(`${written.event} was to land, and nothing was written`);
  if (watermark !== undefined) return refused("W moved, and nothing was written");
  const next = withTenure(givenBack(state, process), process, ({ closing, ...each }) => ({
    ...each,
    commits: each.commits + (closing?.contributions.length ? 1 : 0),
    proven: 0,
    queue: [],
  }));
  return went(next, "everything goes back");
}

interface Verdict {
  readonly tenure: Tenure;
  readonly landed: readonly Contribution[];
  readonly falls: ReadonlySet<Contribution>;
}

function landing(state: ModelState, action: CommitAction, verdict: Verdict, law: Law): Stepped {
  const { process, watermark: to = state.watermark } = action;
  const { tenure, landed, falls } = verdict;
  const seq = state.head + 1;
  const entries = [
    ...marked(givenBack(state, process, falls).entries, landed, seq, law),
    ...sentBy(action, seq, law),
  ];
  const frontiers = frontiersAfter(state, { entries, landed, action }, law);
  if (typeof frontiers === "string") return refused(frontiers);
  const stored: ModelState = {
    ...state,
    entries,
    frontiers,
    head: seq,
    watermark: to,
    changes: [
      ...standing(state),
      { seq, tenure: tenure.id, races: state.underived === "unseen" ? ["*"] : [] },
    ],
    underived: owedAfter(state, tenure, landed),
    tail: [...state.tail, { seq, content: hasContent(action, landed) }].filter(
      (each) => each.seq > to,
    ),
    derived: ghostOf(state, process, tenure, landed),
  };
  const next = withTenure(stored, process, ({ closing: _closed, ...each }) => ({
    ...each,
    commits: each.commits + 1,
    untold: true as const,
    proven: falls.size > 0 ? 0 : each.proven,
    queue: falls.size > 0 ? [] : each.queue,
  }));
  return went(next, outcomeOf(state, action, verdict));
}

function outcomeOf(
  state: ModelState,
  { watermark }: CommitAction,
  { landed, falls }: Verdict,
): string {
  const moves = watermark === undefined || watermark === state.watermark ? "W stays" : "W moves";
  if (falls.size > 0) return `a part goes back, ${moves}`;
  return landed.length === 0 ? "W alone" : `whole, ${moves}`;
}

/** What was sealed after the last derivation, which has not seen it. */
function sinceDerivation(made: readonly Contribution[]): readonly Contribution[] {
  return made.slice(made.map(({ kind }) => kind).lastIndexOf("derivation") + 1);
}

function marked(
  entries: readonly Entry[],
  landed: readonly Contribution[],
  seq: number,
  law: Law,
): readonly Entry[] {
  return entries.map((entry) => {
    const runs = landed.filter(({ pos }) => pos === entry.pos);
    const [made] = runs;
    if (made === undefined) return entry;
    const done = { ...entry, end: ENDS[made.kind], endedAt: seq };
    if (made.kind !== "handling" || !law.effectsRideWithTheMark) return done;
    return { ...done, effects: [...(entry.effects ?? []), ...runs.map(() => seq)] };
  });
}

function sentBy({ sent }: CommitAction, seq: number, law: Law): readonly Entry[] {
  return sent.map(({ pos, stream, event, ended, asks }) => {
    const entry: Entry = { pos, seq, stream, event, sent: true, ...(asks ? { asks } : {}) };
    if (!ended) return entry;
    const done: Entry = { ...entry, end: "consequence", endedAt: seq };
    return law.effectsRideWithTheMark ? { ...done, effects: [seq] } : done;
  });
}

const ENDS: Readonly<Record<Contribution["kind"], End>> = {
  handling: "consequence",
  error: "error",
  dropped: "dropped",
  duplicate: "duplicate",
  derivation: "consequence",
};

function frontiersAfter(
  state: ModelState,
  {
    entries,
    landed,
    action,
  }: { entries: readonly Entry[]; landed: readonly Contribution[]; action: CommitAction },
  law: Law,
): ModelState["frontiers"] | string {
  const frontiers: Record<string, number> = { ...state.frontiers };
  const touched = new Set(
    [...landed, ...action.sent].map(({ stream }) => stream).filter((name) => name !== ""),
  );
  for (const stream of touched) {
    const before = frontiers[stream] ?? 0;
    const highest = Math.max(
      0,
      ...entries
        .filter((each) => each.stream === stream && !isPending(each))
        .map((each) => each.seq),
    );
    const due = law.frontierStopsAtPending ? markedPrefix({ entries }, stream) : highest;
    frontiers[stream] = Math.max(before, due);
  }
  for (const [stream, seq] of Object.entries(action.frontiers ?? {})) {
    if (frontiers[stream] !== seq)
      return `the frontier of ${stream} went to ${seq}; its marked prefix ends at ${frontiers[stream] ?? 0}`;
  }
  const silent = [...touched].find(
    (stream) =>
      action.frontiers !== undefined &&
      frontiers[stream] !== (action.frontiers[stream] ?? state.frontiers[stream] ?? 0),
  );
  return silent === undefined
    ? frontiers
    : `the frontier of ${silent} stayed; its marked prefix ends at ${frontiers[silent]}`;
}

function owedAfter(
  state: ModelState,
  { id }: Tenure,
  landed: readonly Contribution[],
): ModelState["underived"] {
  const { underived } = state;
  if (underived === "unseen") return underived;
  const derivation = landed.filter(({ kind }) => kind === "derivation").at(-1);
  const left =
    derivation === undefined
      ? underived
      : underived.filter((owed) => owed.seq > derivation.basis && owed.tenure !== id);
  if (!sinceDerivation(landed).some(({ kind }) => kind === "handling")) return left;
  const causes = new Set(landed.filter(({ kind }) => kind === "handling").map(({ pos }) => pos));
  const seqs = state.entries.filter(({ pos }) => causes.has(pos)).map((entry) => entry.seq);
  const cause = Math.max(0, ...seqs);
  return owing(left, { seq: state.head + 1, cause, tenure: id });
}

/** What fell is pending again, and may be passed by what came later (R16). */
function givenBack(
  state: ModelState,
  process: string,
  falls?: ReadonlySet<Contribution>,
): ModelState {
  const made = falls ?? new Set(state.processes[process]?.tenure?.closing?.contributions);
  const back = new Set([...made].map(({ pos }) => pos).filter((pos) => pos > 0));
  const entries = state.entries.map((entry) =>
    back.has(entry.pos) ? { ...entry, raced: true as const } : entry,
  );
  return { ...state, entries };
}

function ghostOf(
  state: ModelState,
  process: string,
  { id }: Tenure,
  landed: readonly Contribution[],
): Derived {
  return {
    seq: state.head + 1,
    holder: state.processes[process]?.holder ?? "",
    rowHolder: state.lease?.holder,
    live: isLive(state),
    reign: state.reign,
    tenure: id,
    made: landed.map(({ kind, stream, basis, reign }) => ({ kind, stream, basis, reign })),
  };
}

/** The lease row in words. */
export function rowText(state: ModelState): string {
  if (state.lease === undefined) return "no row";
  return isLive(state) ? `the live row of ${state.lease.holder}` : "a row that ran out";
}

/** Entries of the open wave and of the queue, for whoever asks whether something is left to do. */
export function isBusy(tenure: Tenure): boolean {
  return inFlight(tenure).size > 0;
}
