import type { Action, CommitAction } from "./action.js";
import type { Budget, Configuration } from "./configuration.js";
import { copiesWaiting, inFlight } from "./drain-steps.js";
import { isRaced } from "./falls.js";
import {
  consumedBefore,
  type Contribution,
  type Entry,
  isPending,
  type ModelState,
  type Pos,
  type Process,
  type Tenure,
} from "./state.js";
import { ENTRIES_PER_COMMIT } from "./store-steps.js";
import { owesDerivation, reach } from "./wave-steps.js";

/** Something that might happen next, and what it costs. */
export interface Move {
  readonly action: Action;
  readonly costs?: Partial<Budget>;
}

/** A state of a configuration's world. */
export interface WorldState {
  readonly model: ModelState;
  readonly budget: Budget;
}

/** What might be tried in a state, by who would do it. */
export interface Moves {
  readonly own: readonly { readonly process: string; readonly moves: readonly Move[] }[];
  readonly outside: readonly Move[];
}

/**
 * Everything that might be tried in a state, right or wrong: what the law does not allow is refused by the step, and
 * where a rule of the law is switched off, it happens.
 */
export function movesOf(world: WorldState, configuration: Configuration): Moves {
  const unborn = configuration.processes.find((name) => world.model.processes[name] === undefined);
  const { early, appends } = configuration;
  const more = appends[world.budget.appended];
  if (early && more !== undefined) {
    return {
      own: [],
      outside: [{ action: { do: "append", ...more, admitted: true }, costs: { appended: 1 } }],
    };
  }
  // Whether a process that does nothing yet runs already makes no difference.
  if (unborn !== undefined) return { own: [], outside: [startOf(unborn, undefined)] };
  const own = Object.entries(world.model.processes).map(([process, { life, ...rest }]) => {
    const moves = [...cuts(world, process)];
    if (life === "suspended") moves.push({ action: { do: "resume", process } });
    if (life === "alive")
      moves.push(...tenureMoves(world, configuration, process, { life, ...rest }));
    return { process, moves };
  });
  return { own, outside: [...outside(world, configuration)] };
}

/**
 * What a process does within itself commutes with everything that others do. Where it can go on, only it does, or is
 * cut off: interleavings that differ in nothing are visited once.
 */
export function isLocal({ action }: Move): boolean {
  return LOCAL.has(action.do);
}

/** A step at the row or the view, which may as well come once the process has gone on. */
export function isShared({ action }: Move): boolean {
  return SHARED.has(action.do);
}

const LOCAL: ReadonlySet<Action["do"]> = new Set<Action["do"]>([
  "drain",
  "passOver",
  "drop",
  "begin",
  "beginCopy",
  "end",
  "seal",
  "settle",
  "tell",
]);

const SHARED: ReadonlySet<Action["do"]> = new Set(["renew", "view", "release"] as const);

/** What may befall a process in the middle of anything. */
function* cuts({ model, budget }: WorldState, process: string): Iterable<Move> {
  const life = model.processes[process]?.life;
  if (life !== undefined && life !== "dead" && budget.crashes > 0) {
    yield { action: { do: "crash", process }, costs: { crashes: -1 } };
  }
  if (life === "alive" && budget.suspensions > 0) {
    yield { action: { do: "suspend", process }, costs: { suspensions: -1 } };
  }
}

function* outside({ model, budget }: WorldState, configuration: Configuration): Iterable<Move> {
  const { appends, writes, ttl, processes } = configuration;
  const next = appends[budget.appended];
  if (next !== undefined) {
    for (const admitted of [true, false]) {
      yield { action: { do: "append", ...next, admitted }, costs: { appended: 1 } };
    }
  }
  const write = writes[budget.written];
  if (write !== undefined) yield { action: { do: "write", races: [write] }, costs: { written: 1 } };
  const unwell = Object.values(model.processes).some(({ life }) => life !== "alive");
  if (budget.ticks > 0 && (unwell || configuration.late))
    yield { action: { do: "tick", by: 1 }, costs: { ticks: -1 } };
  if (budget.thefts > 0)
    yield { action: { do: "steal", holder: "thief", ttl }, costs: { thefts: -1 } };
  if (budget.compactions > 0) yield* compactions(model);
  for (const name of processes) {
    const process = model.processes[name];
    if (process?.life === "dead") yield startOf(name, process);
  }
}

function startOf(process: string, earlier: Process | undefined): Move {
  return { action: { do: "start", process, holder: `${process}${(earlier?.lives ?? 0) + 1}` } };
}

/** Any one entry: one that may not go is refused. */
function* compactions({ entries }: ModelState): Iterable<Move> {
  for (const { pos } of entries) {
    yield { action: { do: "compact", gone: [pos] }, costs: { compactions: -1 } };
  }
}

function* tenureMoves(
  { model, budget }: WorldState,
  configuration: Configuration,
  process: string,
  { believes, tenure }: Process,
): Iterable<Move> {
  const { ttl } = configuration;
  // Whoever has no lease asks for it; whoever has one renews it while time may still pass.
  if (!believes) {
    for (const won of [true, false]) yield { action: { do: "acquire", process, ttl, won } };
  } else if (budget.ticks > 0 || budget.thefts > 0 || configuration.ticks > 0) {
    for (const kept of [true, false]) yield { action: { do: "renew", process, ttl, kept } };
  }
  if (tenure?.over) {
    yield { action: { do: "release", process } };
    return;
  }
  if (tenure === undefined) {
    if (believes) yield { action: { do: "activate", process } };
    return;
  }
  if (tenure.untold) {
    yield { action: { do: "tell", process } };
    return;
  }
  if (budget.parks > 0) yield { action: { do: "release", process }, costs: { parks: -1 } };
  yield* waveMoves({ model, budget }, configuration, process, tenure);
}

function* waveMoves(
  { model, budget }: WorldState,
  configuration: Configuration,
  process: string,
  tenure: Tenure,
): Iterable<Move> {
  if (budget.aborts > 0) yield { action: { do: "abort", process }, costs: { aborts: -1 } };
  if (tenure.closing !== undefined) {
    yield { action: { do: "refuse", process } };
    for (const action of commits(model, process, tenure)) yield { action };
    return;
  }
  const { running } = tenure;
  // A run may not be sealed after all.
  if (running?.ended !== undefined && budget.giveBacks > 0) {
    yield { action: { do: "giveBack", process }, costs: { giveBacks: -1 } };
  }
  if (running?.ended !== undefined) {
    yield { action: { do: "seal", process, sends: sendsOf(configuration, model, running.event) } };
    return;
  }
  if (running !== undefined) {
    const how = configuration.throws?.includes(running.event) ? "throws" : "ok";
    yield { action: { do: "end", process, how } };
    return;
  }
  if (model.head > tenure.applied) yield { action: { do: "view", process, seen: model.head } };
  yield* drains(model, configuration, process, tenure);
  for (const pos of tenure.queue) yield { action: { do: "begin", process, pos } };
  for (const event of copiesWaiting(tenure)) yield { action: { do: "beginCopy", process, event } };
  if (tenure.queue.length > 0 && budget.giveBacks > 0) {
    yield { action: { do: "giveBack", process }, costs: { giveBacks: -1 } };
  }
  const idle = isIdle(model, configuration, tenure);
  yield* settles(model, process, tenure, idle);
  if (tenure.wave.length === 0 && !proves(model, tenure)) return;
  if (idle && !owesDerivation(model, tenure)) yield { action: { do: "close", process } };
  else if (budget.cuts > 0 && tenure.wave.length > 0) {
    yield { action: { do: "close", process }, costs: { cuts: -1 } };
  }
}

/** Nothing is left to take up or to run. */
function isIdle(model: ModelState, { unhandled = [] }: Configuration, tenure: Tenure): boolean {
  if (tenure.queue.length > 0 || copiesWaiting(tenure).length > 0) return false;
  const flying = inFlight(tenure);
  const next = model.entries.find(({ pos, end }) => end === undefined && !flying.has(pos));
  if (next === undefined || next.seq > tenure.applied) return true;
  return unhandled.includes(next.event) || tenure.wave.some(({ kind }) => kind === "dropped");
}

function* drains(
  model: ModelState,
  { unhandled = [] }: Configuration,
  process: string,
  tenure: Tenure,
): Iterable<Move> {
  const flying = inFlight(tenure);
  const notice = [...tenure.wave].some(({ kind }) => kind === "dropped");
  // A terminal notice holds whatever came later until it is durable (seed 000 §5).
  if (notice) return;
  for (const entry of model.entries) {
    if (!isPending(entry) || (tenure.blind && entry.seq <= tenure.since)) continue;
    const { pos } = entry;
    if (unhandled.includes(entry.event)) {
      if (!flying.has(pos)) yield { action: { do: "drop", process, pos } };
      continue;
    }
    yield { action: { do: "drain", process, pos } };
    if (consumedBefore(model, entry)) yield { action: { do: "passOver", process, pos } };
  }
}

/** An idle scheduler proves everything; one that proves at any time is refused. */
function* settles(
  model: ModelState,
  process: string,
  tenure: Tenure,
  idle: boolean,
): Iterable<Move> {
  const through = Math.min(inputUpTo(model, tenure.applied), floorOf(model, tenure));
  const news = through > Math.max(tenure.proven, model.watermark) || owesDerivation(model, tenure);
  if (idle && news) yield { action: { do: "settle", process, through } };
  if (!idle && tenure.proven < tenure.applied) {
    yield { action: { do: "settle", process, through: tenure.applied } };
  }
}

/** The highest seq that is nobody's derived commit: what an idle scheduler proves. */
function inputUpTo({ tail, watermark }: ModelState, limit: number): number {
  let at = limit;
  while (at > watermark && tail.some(({ seq }) => seq === at)) at -= 1;
  return at;
}

/** W stays below what is visible and not taken up. */
function floorOf({ entries }: ModelState, tenure: Tenure): number {
  const flying = inFlight(tenure);
  const open = entries.find((entry) => isPending(entry) && !flying.has(entry.pos));
  return open === undefined ? Number.POSITIVE_INFINITY : open.seq - 1;
}

function proves(model: ModelState, tenure: Tenure): boolean {
  return reach(model, tenure, tenure.wave.length === 0) > model.watermark;
}

/** Verdicts of the store, the true one among them: too little or too much falls in the others. */
function* commits(model: ModelState, process: string, tenure: Tenure): Iterable<CommitAction> {
  const contributions = tenure.closing?.contributions ?? [];
  const due = fallsDue(model, tenure.id, contributions);
  const one = contributions.find(({ kind, pos }) => kind === "handling" && pos > 0)?.pos;
  const raced = contributions
    .filter((made) => isRaced(model, tenure.id, made))
    .map(({ pos }) => pos);
  const choices = new Map<string, readonly Pos[]>();
  for (const falls of [due, [], raced, one === undefined ? [] : [one]])
    choices.set(falls.join(), falls);
  for (const falls of choices.values()) {
    const all = contributions.filter((made) => isOwed(made) && !falls.includes(made.pos));
    const base = { do: "commit", process, falls } as const;
    const writes = all.length > 0 || falls.length === 0;
    const proven = tenure.closing?.proven ?? 0;
    const furthest = reach(model, tenure.closing ?? tenure, contributions.length === 0);
    // A loop that may move W does.
    if (falls.length > 0 || furthest === model.watermark) {
      yield { ...base, writes, sent: writes ? sentBy(model, contributions, falls) : [] };
    }
    const targets = new Set([proven, furthest, model.head].filter((to) => to > model.watermark));
    if (model.watermark > 0) targets.add(model.watermark - 1);
    for (const watermark of targets) {
      if (watermark === model.watermark) continue;
      yield { ...base, writes: true, watermark, sent: sentBy(model, contributions, falls) };
    }
  }
}

function isOwed({ kind, pos }: Contribution): boolean {
  return kind !== "derivation" && pos > 0;
}

/** Who goes back: the raced one, and the later ones of its stream. */
function fallsDue(
  model: ModelState,
  tenure: number,
  contributions: readonly Contribution[],
): readonly Pos[] {
  const streams = new Set<string>();
  const falls: Pos[] = [];
  for (const made of contributions) {
    if (made.pos === 0) continue;
    if (!streams.has(made.stream) && !isRaced(model, tenure, made)) continue;
    streams.add(made.stream);
    falls.push(made.pos);
  }
  return falls;
}

/** The entries that landing runs send, in the order in which they were sealed. */
function sentBy(
  model: ModelState,
  contributions: readonly Contribution[],
  falls: readonly Pos[],
): CommitAction["sent"] {
  const first = (model.head + 1) * ENTRIES_PER_COMMIT;
  const landing = contributions.filter(({ pos }) => !falls.includes(pos));
  const ran = new Set(
    contributions
      .filter(({ kind, pos }) => pos === 0 && kind !== "derivation")
      .map(({ event }) => event),
  );
  return landing
    .flatMap(({ sends }) => sends ?? [])
    .map((send, at) => ({ ...send, pos: first + at, ended: ran.has(send.event) }));
}

/** Each attempt gives what it sends an id of its own. */
function sendsOf({ cascades = {} }: Configuration, model: ModelState, event: string) {
  const sent = cascades[event];
  return sent === undefined ? [] : [{ stream: sent.stream, event: `${sent.event}@${model.head}` }];
}

/** Entries that a configuration has appended and nobody has ended. */
export function unended({ entries }: ModelState): readonly Entry[] {
  return entries.filter(isPending);
}
