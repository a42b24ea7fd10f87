import { isLive, isPending, markedPrefix, type Entry, type ModelState } from "./state.js";

/** What holds in every state, whatever the steps are: each says what is wrong, or nothing. */
type Invariant = (state: ModelState, before: ModelState) => string | undefined;

const INVARIANTS: Readonly<Record<string, Invariant>> = {
  "exactly once": exactlyOnce,
  "arrival order": arrivalOrder,
  "honest W": honestWatermark,
  "tenure safety": tenureSafety,
  "nothing lands on what it never saw": seesWhatItChanges,
  "the frontier is the marked prefix": frontiers,
  "nothing is lost": nothingLost,
};

/** A broken invariant. */
export interface Broken {
  readonly invariant: string;
  readonly what: string;
}

/** The first invariant that a state breaks. */
export function brokenBy(state: ModelState, before: ModelState): Broken | undefined {
  for (const [invariant, holds] of Object.entries(INVARIANTS)) {
    const what = holds(state, before);
    if (what !== undefined) return { invariant, what };
  }
  return undefined;
}

/** One event, one effect, in the commit that marks it; none for what failed, dropped or was passed over. */
function exactlyOnce({ entries }: ModelState): string | undefined {
  const effects = new Map<string, number>();
  for (const entry of entries) {
    const own = entry.effects ?? [];
    const due = entry.end === "consequence" ? 1 : 0;
    if (own.length !== due || own.some((seq) => seq !== entry.endedAt)) {
      return `${entry.event} at ${entry.seq} ended as ${entry.end ?? "nothing"} with ${own.length} effects`;
    }
    const key = `${entry.stream} ${entry.event}`;
    effects.set(key, (effects.get(key) ?? 0) + own.length);
  }
  const doubled = [...effects].find(([, count]) => count > 1);
  return doubled && `${doubled[0]} had its effects ${doubled[1]} times`;
}

/** Within a stream by arrival; across streams too, but for what a race sent back (R16) and what is passed over. */
function arrivalOrder({ entries }: ModelState): string | undefined {
  for (const [at, later] of entries.entries()) {
    if (later.endedAt === undefined || later.sent || later.end === "duplicate") continue;
    const passed = entries.slice(0, at).find((earlier) => {
      if (earlier.sent && earlier.stream !== later.stream) return false;
      const behind = (earlier.endedAt ?? Number.POSITIVE_INFINITY) > (later.endedAt ?? 0);
      return behind && (earlier.stream === later.stream || !earlier.raced);
    });
    if (passed)
      return `${later.event} at ${later.seq} ended before ${passed.event} at ${passed.seq}`;
  }
  return undefined;
}

/** W covers what has ended and what was derived, rises, and stays below the head. */
function honestWatermark(state: ModelState, before: ModelState): string | undefined {
  const { watermark, head, entries, underived } = state;
  if (watermark < before.watermark) return `W fell from ${before.watermark} to ${watermark}`;
  if (watermark > head) return `W ${watermark} is above the head ${head}`;
  const open = entries.find((entry) => isPending(entry) && entry.seq <= watermark);
  if (open) return `W ${watermark} covers ${open.event} at ${open.seq}, which has no end`;
  const owed =
    underived === "unseen" ? undefined : underived.find(({ cause }) => cause <= watermark);
  return (
    owed && `W ${watermark} covers ${owed.cause}, and what it changed at ${owed.seq} is not derived`
  );
}

/** Every derived commit is that of the one live holder, and of work done under that very row. */
function tenureSafety(state: ModelState, before: ModelState): string | undefined {
  const { derived } = state;
  const taken = takenLive(state, before);
  if (taken) return taken;
  if (derived === undefined || derived === before.derived) return undefined;
  const { seq, holder, rowHolder, live, reign, made } = derived;
  if (!live) return `${holder} derived ${seq} under a row that had run out`;
  if (rowHolder !== holder)
    return `${holder} derived ${seq} under the row of ${rowHolder ?? "nobody"}`;
  if (made.some((each) => each.reign !== reign))
    return `commit ${seq} carries work from before a lapse`;
  return undefined;
}

/** What a process takes was nobody's; a thief takes what he likes. */
function takenLive({ lease, processes }: ModelState, before: ModelState): string | undefined {
  if (!isLive(before) || lease === undefined || lease.holder === before.lease?.holder)
    return undefined;
  const ours = Object.values(processes).some(({ holder }) => holder === lease.holder);
  return ours ? `${lease.holder} took the live row of ${before.lease?.holder}` : undefined;
}

function seesWhatItChanges(
  { derived, changes }: ModelState,
  before: ModelState,
): string | undefined {
  if (derived === undefined || derived === before.derived) return undefined;
  for (const { kind, stream, basis } of derived.made) {
    if (kind !== "handling") continue;
    const unseen = changes.find(
      ({ seq, tenure, races }) =>
        seq > basis && seq < derived.seq && tenure !== derived.tenure && races.includes(stream),
    );
    if (unseen)
      return `commit ${derived.seq} lands on ${stream} over ${unseen.seq}, which it never saw`;
  }
  return undefined;
}

function frontiers(state: ModelState): string | undefined {
  for (const stream of new Set(state.entries.map((entry: Entry) => entry.stream))) {
    const frontier = state.frontiers[stream] ?? 0;
    const prefix = markedPrefix(state, stream);
    if (frontier > 0 && frontier > prefix && pendingBelow(state, stream, frontier)) {
      return `the frontier of ${stream} is ${frontier}; its marked prefix ends at ${prefix}`;
    }
    if (prefix > frontier)
      return `the frontier of ${stream} is ${frontier}, below its marked prefix ${prefix}`;
  }
  return undefined;
}

/** What goes has ended, and its stream's frontier has passed it. */
function nothingLost(state: ModelState, before: ModelState): string | undefined {
  if (state.entries.length >= before.entries.length) return undefined;
  const left = new Set(state.entries.map(({ pos }) => pos));
  const lost = before.entries.find(
    (entry) =>
      !left.has(entry.pos) &&
      (isPending(entry) || entry.seq > (before.frontiers[entry.stream] ?? 0)),
  );
  return lost && `${lost.event} at ${lost.seq} is gone`;
}

/** What was compacted away leaves a frontier above every entry. */
function pendingBelow({ entries }: ModelState, stream: string, frontier: number): boolean {
  return entries.some(
    (entry) => entry.stream === stream && entry.seq <= frontier && isPending(entry),
  );
}
