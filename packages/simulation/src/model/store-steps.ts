import type { ActionOf } from "./action.js";
import type { Law } from "./law.js";
import { refused, type Stepped, went } from "./result.js";
import { type Change, isPending, type ModelState, type Tenure, type Underived } from "./state.js";

/** Entries of one commit share its seq; there is room for so many. */
export const ENTRIES_PER_COMMIT = 4_096;

/** An authored append: deduped above the frontier alone (seed 000 §4). */
export function append(state: ModelState, action: ActionOf<"append">, law: Law): Stepped {
  const { stream, event, admitted, asks } = action;
  const frontier = state.frontiers[stream] ?? 0;
  const same = state.entries.filter((entry) => entry.stream === stream && entry.event === event);
  const stands = same.some(({ seq }) => seq > frontier);
  if (stands && admitted && law.admissionDedupes) {
    return refused(
      `${event} stands above the frontier ${frontier} of ${stream} and was admitted again`,
    );
  }
  if (!admitted) {
    return stands
      ? went(state, "refused as a duplicate")
      : refused(`${event} was refused as a duplicate of nothing`);
  }
  const seq = state.head + 1;
  const pos = seq * ENTRIES_PER_COMMIT;
  const entry = { pos, seq, stream, event, ...(asks ? { asks } : {}) };
  const next = { ...state, head: seq, entries: [...state.entries, entry] };
  return went(next, same.length > 0 ? "of an id that was consumed" : "of a new id");
}

/** A commit of people, of the server itself, or of an answer from outside: it may race what waves hold. */
export function write(state: ModelState, { races, answer }: ActionOf<"write">): Stepped {
  const seq = state.head + 1;
  const next = {
    ...state,
    head: seq,
    changes: [...standing(state), { seq, races }],
    underived: owing(state.underived, { seq, cause: seq }),
    // No input: W comes over it by an advance (seed 001 §3, drain-settle).
    tail: answer ? [...state.tail, { seq, content: true }] : state.tail,
  };
  return went(next, "committed");
}

/** Consumed entries go, once their stream's frontier has passed them (R1, R30). */
export function compact(state: ModelState, { gone }: ActionOf<"compact">, law: Law): Stepped {
  for (const pos of gone) {
    const entry = state.entries.find((each) => each.pos === pos);
    if (entry === undefined) return refused(`compaction took ${pos}, which no entry has`);
    const consumed = !isPending(entry) && entry.seq <= (state.frontiers[entry.stream] ?? 0);
    if (!consumed && law.compactsTheConsumed) {
      return refused(
        `compaction took ${entry.event} at ${entry.seq}, which is not behind its frontier`,
      );
    }
  }
  return went(
    { ...state, entries: state.entries.filter(({ pos }) => !gone.includes(pos)) },
    "took entries",
  );
}

/** Time passes; what the row says of its holder is decided by nothing else (seed 001 §2). */
export function tick(state: ModelState, { by }: ActionOf<"tick">): Stepped {
  const next = { ...state, now: state.now + by };
  const { lease } = state;
  if (lease === undefined || state.now >= lease.until) return went(next, "no live row");
  return went(next, next.now < lease.until ? "the row stays live" : "the row runs out");
}

/** One more change that derivations owe. */
export function owing(owed: ModelState["underived"], more: Underived): ModelState["underived"] {
  return owed === "unseen" ? owed : [...owed, more];
}

/**
 * Changes that some tenure may still meet: what all have seen is forgotten, but for one that may have overwritten what an
 * open event is going to do (seed 001 §3d, supersession).
 */
export function standing(state: ModelState): readonly Change[] {
  const seen = Object.values(state.processes)
    .map(({ tenure }) => tenure)
    .filter((tenure): tenure is Tenure => tenure !== undefined)
    .flatMap((tenure) => [tenure.seen, ...basesOf(tenure)]);
  if (seen.length === 0) return [];
  const lowest = Math.min(...seen);
  const oldest = state.entries.find(isPending)?.seq ?? state.head;
  return state.changes.filter(
    ({ seq, races }) => seq > lowest || (seq > oldest && races.includes("*")),
  );
}

function basesOf({ running, wave, closing }: Tenure): readonly number[] {
  const made = [...wave, ...(closing?.contributions ?? []), ...(running ? [running] : [])];
  return made.map(({ basis }) => basis);
}
