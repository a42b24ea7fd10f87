/**
 * Faults planted to see whether the simulator finds them. Each changes one place of a source as the test runner loads it;
 * no product source knows of them.
 */
export interface Mutation {
  readonly name: string;
  /** What goes wrong with it, and the fault class or rule it stands for. */
  readonly breaks: string;
  /** Source file under `packages`. */
  readonly file: string;
  /** What stands there: exactly once, so that a mutation which no longer fits its source says so. */
  readonly find: string;
  readonly replace: string;
  /** It must be found within so many seeds, counted from `from`. */
  readonly seeds: number;
  readonly from?: number;
  /** One of the handful that every test run plants. */
  readonly quick?: true;
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: "a duplicate of a consumed event runs again",
    breaks: "R1, exactly once",
    file: "executor/src/drain/drain.ts",
    find: 'if (decision.kind === "run") return false;',
    replace: "return false;",
    seeds: 10,
  },
  {
    name: "the last mark of a wave is dropped",
    breaks: "effects without a mark: the event runs again (fault class 8)",
    file: "executor/src/wave/batch.ts",
    find: "return [...marks.values()];",
    replace: "return [...marks.values()].slice(0, -1);",
    seeds: 3,
  },
  {
    name: "the first write of each run is dropped",
    breaks: "a mark without its effects (fault class 9)",
    file: "executor/src/wave/batch.ts",
    find: "kept.map(({ key, op }) => ({",
    replace: "kept.slice(1).map(({ key, op }) => ({",
    seeds: 3,
    quick: true,
  },
  {
    name: "the sender's later edit does not supersede",
    breaks: "seed 001 §3d, supersession",
    file: "executor/src/wave/plan.ts",
    find: ".filter((intrusion) => isBy(intrusion, firedBy))",
    replace: ".filter(() => false)",
    seeds: 40,
  },
  {
    name: "another session's later edit supersedes",
    breaks: "seed 001 §3d, the two open cases",
    file: "executor/src/wave/plan.ts",
    find: "intrusion.session === firedBy.session &&",
    replace: "intrusion.session !== undefined &&",
    seeds: 40,
  },
  {
    name: "consequences land without a look at what came meanwhile",
    breaks: "seed 001 §3d, per-document basis: lost updates",
    file: "executor/src/wave/plan.ts",
    find: "if (intrusions.length === 0) return { kept, dropped };",
    replace: "if (intrusions.length >= 0) return { kept, dropped };",
    seeds: 40,
  },
  {
    name: "W passes over an event that is held back",
    breaks: "W is honest (seed 001 §3, clamping)",
    file: "executor/src/loop/watermark.ts",
    find: "const head = floor === undefined ? coverage.input : min(coverage.input, below(floor));",
    replace: "const head = coverage.input;",
    seeds: 40,
  },
  {
    name: "the frontier passes a pending entry",
    breaks: "the contiguous marked prefix (fault class 10)",
    file: "events/src/watermark/frontier.ts",
    find: "if (entry.consequenced !== true && !marked.has(placeKey(entry))) return settled;",
    replace: "if (entry.consequenced !== true && !marked.has(placeKey(entry))) continue;",
    seeds: 40,
  },
  {
    name: "later events of a stream overtake a requeued one",
    breaks: "R16",
    file: "executor/src/wave/closure.ts",
    find: 'return heldStreams.has(delivery.stream) ? "stream-order" : undefined;',
    replace: "return undefined;",
    seeds: 60,
  },
  {
    name: "what read a withdrawn write lands",
    breaks: "seed 001 §3d, the withdrawn-read closure",
    file: "executor/src/wave/closure.ts",
    find: 'if (this.#readsFallen(contribution)) return "read-withdrawn";',
    replace: "",
    seeds: 60,
  },
  {
    name: "a derived commit asks for no lease",
    breaks: "one deriving committer (seed 001 §2; field fault LS-01)",
    file: "memory-engine/src/server/derived/commit.ts",
    find: "checkLease(tx, engine, holder);",
    replace: "",
    seeds: 40,
  },
  {
    name: "a live lease is taken",
    breaks: "seed 001 §2 (field fault LS-03)",
    file: "memory-engine/src/lease/lease.ts",
    find: 'eb("execution_lease.expires_at", "<=", p(3)),',
    replace: 'eb("execution_lease.expires_at", ">", p(3)),',
    seeds: 10,
    quick: true,
  },
  {
    name: "an echo never ends with its event",
    breaks: "speculation.md §Reconcile 2 (fault class 46)",
    file: "speculation/src/overlay/overlay.ts",
    find: "for (const eventId of eventIds) this.#endIntent(eventId);",
    replace: "",
    seeds: 3,
  },
  {
    name: "what was sent before an outage is not sent again",
    breaks: "no event is lost (speculation.md §Offline)",
    file: "client/src/queue/lane.ts",
    find: "for (const held of this.#items) held.sent = false;",
    replace: "",
    seeds: 10,
  },
  {
    name: "a cascade forgets who acted",
    breaks: "LT6, the actor is inherited (fault class 38)",
    file: "executor/src/wave/draft.ts",
    find: "...(actor?.user === undefined ? {} : { user: actor.user }),",
    replace: "",
    seeds: 3,
  },
  {
    name: "a parked space keeps renewing",
    breaks: "leaks: no timer is left (field fault RS-10)",
    file: "executor/src/tenure/lease-keeper.ts",
    find: "this.#timer?.cancel();\n    this.#timer = undefined;\n    const { lease, holder }",
    replace: "const { lease, holder }",
    seeds: 3,
  },
  {
    name: "a client forgets the watermark of its frames",
    breaks: "speculation.md §Reconcile 3 (fault class 45)",
    file: "client/src/replica/replica.ts",
    find: "this.#watermark = reset ? frame.watermark : max(this.#watermark, frame.watermark);",
    replace: "",
    seeds: 10,
  },
  {
    name: "two increments of a wave count as one",
    breaks: "final values of a wave (field fault VL-03)",
    file: "executor/src/wave/coalesce.ts",
    find: "value: first.value + second.value",
    replace: "value: first.value",
    seeds: 10,
  },
  {
    name: "a cascade that ran in its wave is not marked",
    breaks: "one entry, one completed delivery (seed 000 §4; field fault EV-01)",
    file: "executor/src/wave/batch.ts",
    find: "return end === undefined ? entry : { ...entry, mark: endFields(end) };",
    replace: "return entry;",
    seeds: 5,
    quick: true,
  },
  {
    name: "the guard is released at the seal",
    breaks: "at most one copy until the store has spoken (fault class 4)",
    file: "executor/src/drain/drain.ts",
    find: 'case "sealed":\n        this.#guard.set(key, "sealed");',
    replace: 'case "sealed":\n        this.#guard.release(key);',
    seeds: 40,
  },
  {
    name: "withdrawn derivations are not armed again",
    breaks: "seed 001 §3d, invalidation of withdrawn reads",
    file: "executor/src/loop/commit-step.ts",
    find: 'if (plan.fates.get(contribution.id)?.kind === "withdrawn") this.#rearmNode(contribution);',
    replace: "",
    seeds: 60,
  },
  {
    name: "a durable wave is told to nobody where its tenure then fails",
    breaks: "everybody sees what the store holds",
    file: "executor/src/loop/commit-step.ts",
    find: "verdict.release();",
    replace: "",
    seeds: 3,
  },
];
