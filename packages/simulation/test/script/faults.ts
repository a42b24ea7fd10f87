import { CONFIGURATIONS, type Configuration } from "../../src/model/configuration.js";
import type { Script, ScriptStep } from "../../src/script/step.js";
import type { Planted } from "../simulator/mutations/load-mutated.js";
import { MUTATIONS } from "../simulator/mutations/mutations.js";

/** A fault of the product that the trace alone tells: no oracle of values, no lease ledger, no client looks on. */
export interface TracedFault extends Planted {
  /** What goes wrong with it, and the rule it stands for. */
  readonly breaks: string;
  /** The script that meets it: one of the choice by its situation, or one that was written for it. */
  readonly script: string | Script;
  /** What the model says where the run parts from it. */
  readonly says: RegExp;
  /** One of those that every test run plants. */
  readonly quick?: true;
}

/** A fault of the simulator's own list. */
function known(name: string, script: TracedFault["script"], says: RegExp): TracedFault {
  const mutation = MUTATIONS.find((each) => each.name === name);
  if (mutation === undefined) throw new Error(`no planted fault is named "${name}"`);
  const { breaks, file, find, replace } = mutation;
  return { name, breaks, file, find, replace, script, says };
}

const WAITING = CONFIGURATIONS.find(
  ({ name }) => name === "a cascade into a stream that waits",
) as Configuration;

const append = (stream: string, event: string, orders = {}): ScriptStep => ({
  do: "append",
  stream,
  event,
  orders,
  refused: false,
});

/**
 * What a cascade sent ends in its wave, above an earlier entry of its stream whose handler still waits; the stream's
 * frontier stays between an earlier entry and that one. Then streams are compacted.
 */
const ENDED_AHEAD: Script = {
  situation: "compaction beside what ended ahead of its turn",
  configuration: WAITING,
  steps: [
    { do: "start", process: "p" },
    { do: "ask", process: "p" },
    append("y", "e0"),
    { do: "hold", process: "p", gate: "wave:before-commit" },
    append("x", "e1", { sends: {} }),
    { do: "reached", process: "p", gate: "wave:before-commit" },
    append("y", "e2", { waits: true }),
    { do: "release", process: "p", gate: "wave:before-commit" },
    { do: "compact" },
    { do: "let", stream: "y" },
  ],
};

const CUT = CONFIGURATIONS.find(
  ({ name }) => name === "cycles that the deadline cuts",
) as Configuration;

/**
 * The deadline cuts a cycle while a later event's body waits; its wave is raced, and what it carried is queued behind
 * that body. The body goes back too, and sweeps the queue, in a cycle that somebody's write began.
 */
const SWEPT: Script = {
  situation: "a body that goes back sweeps what arrived before it",
  configuration: CUT,
  steps: [
    { do: "start", process: "p" },
    { do: "ask", process: "p" },
    { do: "hold", process: "p", gate: "feed:before-apply" },
    append("x", "e1"),
    { do: "reached", process: "p", gate: "feed:before-apply" },
    append("x", "e3"),
    { do: "hold", process: "p", gate: "seal:before", event: "e3" },
    { do: "release", process: "p", gate: "feed:before-apply" },
    { do: "reached", process: "p", gate: "seal:before" },
    { do: "write", stream: "x" },
    { do: "advance", ms: 101 },
    { do: "write", stream: "y" },
    { do: "release", process: "p", gate: "seal:before" },
  ],
};

/** Scripts that no way of the exploration is: they are played without a fault too. */
export const OWN_SCRIPTS: readonly Script[] = [ENDED_AHEAD, SWEPT];

const RACED = "commit: a part goes back, W stays, before the commit";
const DUPLICATE = "pass over: a duplicate, idle";
const COPY = "begin a copy: begins, with sealed work";
const LAPSED = "renew: lost: it ran out, before the commit";
const REFUSED = "commit refused: its row ran out, before the commit";
const TAKEN = "resume: another took its row, activating";
const THROWN = "seal: its error, before the seal";

const NEW: readonly TracedFault[] = [
  {
    name: "the drain takes up the last arrival first",
    breaks: "R16, arrival order",
    file: "executor/src/drain/drain.ts",
    find: "for (const [at, entry] of pending.entries()) {\n      const visible",
    replace: "for (const [at, entry] of [...pending].reverse().entries()) {\n      const visible",
    script: RACED,
    says: /taken up before e1, which arrived earlier/u,
    quick: true,
  },
  {
    name: "W moves with a wave that gave something back",
    breaks: "seed 001 §3, W covers what is derived",
    file: "executor/src/wave/commit-wave.ts",
    find: 'if (fate.kind !== "lands") return from;',
    replace: 'if (fate.kind !== "lands") return to;',
    script: RACED,
    says: /with a wave that gave something back/u,
  },
  {
    name: "what a wave carried stays in flight where it went back",
    breaks: "seed 000 §4, every entry ends",
    file: "executor/src/drain/drain.ts",
    find: 'this.#guard.release(key);\n    if (fate?.kind === "lands" || !wasNotice)',
    replace:
      'if (fate?.kind === "lands") this.#guard.release(key);\n    if (fate?.kind === "lands" || !wasNotice)',
    script: RACED,
    says: /nothing proved that/u,
  },
  {
    name: "admission takes an id that stands",
    breaks: "seed 000 §4, admission dedupes",
    file: "memory-engine/src/server/admission/append.ts",
    find: "{ frontier: NOTHING_CONSUMED, standing }",
    replace: "{ frontier: NOTHING_CONSUMED, standing: undefined }",
    script: THROWN,
    says: /and was admitted again/u,
  },
  {
    name: "admission refuses an id that was consumed",
    breaks: "R1, dedupe ends at the frontier",
    file: "memory-engine/src/stream/entries.ts",
    find: "this.#q.duplicate.get(eventId, state.no, lastPosOf(state.frontier))",
    replace: "this.#q.duplicate.get(eventId, state.no, 0)",
    script: DUPLICATE,
    says: /refused as a duplicate of nothing/u,
  },
  {
    name: "no frontier is written",
    breaks: "seed 000 §4, the contiguous marked prefix",
    file: "executor/src/wave/batch.ts",
    find: "frontiers: at === last ? frontiersOf(parts, context) : [],",
    replace: "frontiers: [],",
    script: RACED,
    says: /the frontier of .* stayed/u,
  },
  {
    name: "a duplicate is marked as what was done",
    breaks: "R1, one consequence an event",
    file: "executor/src/drain/drain.ts",
    find: '{ kind: "succeeded" }, { duplicate: decision.mark }',
    replace: '{ kind: "succeeded" }',
    script: DUPLICATE,
    says: /nothing proved that/u,
  },
  {
    name: "an event is marked without its receipt",
    breaks: "R33, the receipt rides with the mark",
    file: "executor/src/wave/batch.ts",
    find: "const writes = coalesceWrites(landingWrites(landings));",
    replace:
      'const writes = coalesceWrites(landingWrites(landings)).filter(({ key }) => !key.includes("receipt:"));',
    script: RACED,
    says: /marked as done without what it did/u,
  },
  {
    name: "a wave is written though its tenure has ended",
    breaks: "seed 001 §2, what a lapse takes",
    file: "executor/src/loop/commit-step.ts",
    find: 'if (!this.#options.leaseHeld()) throw new TenureEnd("lapse");',
    replace: "",
    script: LAPSED,
    says: /the tenure of . is over/u,
  },
  {
    name: "a lapse takes nothing",
    breaks: "seed 001 §2, what a lapse takes",
    file: "executor/src/tenure/space-server.ts",
    find: 'if (aborts) return this.end("lapse");',
    replace: "",
    script: LAPSED,
    says: /the tenure of . is over/u,
    quick: true,
  },
  {
    name: "what the feed brings arms no derivation",
    breaks: "seed 001 §3, W covers what is derived",
    file: "executor/src/loop/loop.ts",
    find: 'scheduler.notify(changes, "external");',
    replace: "",
    script: "write: committed, idle",
    says: /a demanded derivation has not taken in/u,
  },
  {
    name: "W passes what was swept from the queue",
    breaks: "seed 001 §3, W stays below what is not taken up",
    file: "executor/src/drain/drain.ts",
    find: "if (place !== undefined) this.#lower(place.seq);",
    replace: "",
    script: SWEPT,
    says: /W went to \d+ with a wave|nothing proved that/u,
  },
  {
    name: "compaction goes past the frontier",
    breaks: "R1, R30, compaction stays at or below the frontier",
    file: "memory-engine/src/compaction/compact.ts",
    find: '.where("pos", "<=", p(2))',
    replace: ".where(sql<boolean>`${p(2)} >= 0`)",
    script: ENDED_AHEAD,
    says: /which is not behind its frontier/u,
  },
];

/** Exactly once, arrival order, honest W, tenure safety, compaction and marks: each has several. */
export const TRACED: readonly TracedFault[] = [
  ...NEW,
  known(
    "a duplicate of a consumed event runs again",
    DUPLICATE,
    /a consumed entry and was queued/u,
  ),
  known(
    "consequences land without a look at what came meanwhile",
    RACED,
    /which its wave never saw/u,
  ),
  known("the frontier passes a pending entry", ENDED_AHEAD, /its marked prefix ends at/u),
  known("a live lease is taken", "crash: before the commit, before the commit", /holds live/u),
  known("a cascade that ran in its wave is not marked", COPY, /nobody had written meanwhile/u),
  known("the first send of each run is lost", COPY, /nobody had written meanwhile/u),
  known(
    "W takes in whatever has come in",
    "give back: after it ran, before the seal",
    /nothing proved that/u,
  ),
  known("what a predecessor left pending is not asked for", RACED, /nothing proved that/u),
  known("an event that failed is marked as consequenced", THROWN, /done without what it did/u),
  known("a lease that ran out is renewed", REFUSED, /a row that is not its live one/u),
  known("a commit does not name the events that it ends", RACED, /names \[\]/u),
  known("a derived commit asks for no lease", REFUSED, /committed under a row that ran out/u),
  known("a lease is given back whoever holds it", TAKEN, /under its own live row/u),
  known("a holder goes on as long as its own clock says", TAKEN, /knows that it has lost/u),
];
