/**
 * Faults planted to see whether the simulator finds them. Each changes one place of a source as the test runner loads it;
 * no product source knows of them.
 *
 * Left out is what a second guard of the product keeps from showing: later events of a stream overtaking a requeued one
 * and readers of a withdrawn write (they race on the same document), an echo that outlives its event (the watermarks
 * sweep it).
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
  /** What finds it: the first seed from 1 on, or a plan under `plans/` that has the race which it takes. */
  readonly seed: number | string;
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
    seed: 5,
  },
  {
    name: "the first write of each run is dropped",
    breaks: "a mark without its effects (fault class 9)",
    file: "executor/src/wave/batch.ts",
    find: "for (const { key, op } of writes) landing.push(",
    replace: "for (const { key, op } of writes.slice(1)) landing.push(",
    seed: 1,
    quick: true,
  },
  {
    name: "the sender's later edit does not supersede",
    breaks: "seed 001 §3d, supersession",
    file: "executor/src/wave/plan.ts",
    find: ".filter((intrusion) => isBy(intrusion, firedBy))",
    replace: ".filter(() => false)",
    seed: 17,
  },
  {
    name: "another session's later edit supersedes",
    breaks: "seed 001 §3d, the two open cases",
    file: "executor/src/wave/plan.ts",
    find: "intrusion.session === firedBy.session &&\n    intrusion.principal === firedBy.user",
    replace: "intrusion.session !== undefined",
    seed: "edited-by-two-mid-wave.json",
  },
  {
    name: "consequences land without a look at what came meanwhile",
    breaks: "seed 001 §3d, per-document basis: lost updates",
    file: "executor/src/wave/plan.ts",
    find: "if (intrusions.length === 0) return { kept, dropped };",
    replace: "if (intrusions.length >= 0) return { kept, dropped };",
    seed: "edited-by-two-mid-wave.json",
  },
  {
    name: "W passes over an event that is held back",
    breaks: "W is honest (seed 001 §3, clamping)",
    file: "executor/src/loop/watermark.ts",
    find: "const head = floor === undefined ? coverage.input : min(coverage.input, below(floor));",
    replace: "const head = coverage.input;",
    seed: 11,
  },
  {
    name: "the frontier passes a pending entry",
    breaks: "the contiguous marked prefix (fault class 10)",
    file: "events/src/watermark/frontier.ts",
    find: "if (entry.consequenced !== true && !marked.has(placeKey(entry))) return settled;",
    replace: "if (entry.consequenced !== true && !marked.has(placeKey(entry))) return entry.seq;",
    seed: 21,
  },
  {
    name: "a live lease is taken",
    breaks: "seed 001 §2 (field fault LS-03)",
    file: "memory-engine/src/lease/lease.ts",
    find: 'eb("execution_lease.expires_at", "<=", p(3)),',
    replace: 'eb("execution_lease.expires_at", ">", p(3)),',
    seed: 2,
    quick: true,
  },
  {
    name: "what was sent before an outage is not sent again",
    breaks: "no event is lost (speculation.md §Offline)",
    file: "client/src/queue/lane.ts",
    find: "for (const held of this.#items) held.sent = false;",
    replace: "",
    seed: 21,
  },
  {
    name: "a cascade forgets who acted",
    breaks: "LT6, the actor is inherited (fault class 38)",
    file: "executor/src/wave/draft.ts",
    find: "...(actor?.user === undefined ? {} : { user: actor.user }),",
    replace: "",
    seed: 1,
  },
  {
    name: "a parked space keeps renewing",
    breaks: "leaks: no timer is left (field fault RS-10)",
    file: "executor/src/tenure/lease-keeper.ts",
    find: "this.#timer?.cancel();\n    this.#timer = undefined;\n    const { lease, holder }",
    replace: "const { lease, holder }",
    seed: 1,
  },
  {
    name: "a client forgets the watermark of its frames",
    breaks: "speculation.md §Reconcile 3 (fault class 45)",
    file: "client/src/replica/replica.ts",
    find: "this.#watermark = reset ? frame.watermark : max(this.#watermark, frame.watermark);",
    replace: "",
    seed: 1,
  },
  {
    name: "two increments of a wave count as one",
    breaks: "final values of a wave (field fault VL-03)",
    file: "executor/src/wave/coalesce.ts",
    find: "value: first.value + second.value",
    replace: "value: first.value",
    seed: 1,
  },
  {
    name: "a cascade that ran in its wave is not marked",
    breaks: "one entry, one completed delivery (seed 000 §4; field fault EV-01)",
    file: "executor/src/wave/batch.ts",
    find: "return end === undefined ? entry : { ...entry, mark: endFields(end) };",
    replace: "return entry;",
    seed: 1,
    quick: true,
  },
  {
    name: "a durable wave is told to nobody where its tenure then fails",
    breaks: "everybody sees what the store holds",
    file: "executor/src/loop/commit-step.ts",
    find: "verdict.release();",
    replace: "",
    seed: 1,
  },
  {
    name: "a layer stays in the view after its slot is gone",
    breaks: "speculation.md §Reconcile (fault class 46)",
    file: "speculation/src/overlay/overlay.ts",
    find: "if (stood) for (const entry of slot?.entries ?? []) this.#pull(entry);",
    replace: "",
    seed: 1,
  },
  {
    name: "a patch of a frame is applied twice",
    breaks: "R26, a patch has one base",
    file: "client/src/replica/replica.ts",
    find: "applyPatch(held.value, ops)",
    replace: "applyPatch(applyPatch(held.value, ops), ops)",
    seed: 1,
  },
  {
    name: "a frame leaves out the rows beyond its third",
    breaks: "protocol.md §4, a frame is whole",
    file: "memory-engine/src/server/push/evaluate.ts",
    find: "if (text === undefined) continue;",
    replace: "if (text === undefined || rows.length >= 3) continue;",
    seed: 1,
  },
  {
    name: "the first send of each run is lost",
    breaks: "LT1, a send is durable with its run",
    file: "executor/src/wave/batch.ts",
    find: "contribution.sends.map((entry) => {",
    replace: "contribution.sends.slice(1).map((entry) => {",
    seed: 1,
  },
  {
    name: "W takes in whatever has come in",
    breaks: "W is honest (seed 001 §3)",
    file: "executor/src/loop/watermark.ts",
    find: "return max(coverage.watermark, coverage.proven);",
    replace: "return max(coverage.watermark, coverage.input);",
    seed: 2,
  },
  {
    name: "what a predecessor left pending is not asked for",
    breaks: "no event is lost over a restart (seed 000 §4)",
    file: "executor/src/drain/drain.ts",
    find: "this.#pending = 0;\n    this.#floor = FIRST;\n    this.arm();",
    replace:
      "this.#pending = 0;\n    this.#floor = FIRST;\n    this.#armed = true;\n    this.#askStore = false;",
    seed: 2,
  },
  {
    name: "a session resumes after what it did not get",
    breaks: "R26, resume by cursor",
    file: "client/src/space/space-link.ts",
    find: "seq: position() }",
    replace: "seq: position() + 1 }",
    seed: 1,
  },
  {
    name: "an event that failed is marked as consequenced",
    breaks: "R14, the end that is told is the end there was",
    file: "executor/src/wave/batch.ts",
    find: "delivery.duplicate ?? markFor(place, delivery.end)",
    replace: 'delivery.duplicate ?? markFor(place, { kind: "succeeded" })',
    seed: 2,
  },
  {
    name: "a later patch of a wave replaces an earlier one",
    breaks: "final values of a wave (seed 001 §3)",
    file: "executor/src/wave/coalesce.ts",
    find: 'if (standing === undefined || write.op.op !== "patch") {',
    replace: "if (write !== undefined) {",
    seed: 1,
  },
  {
    name: "the event key forgets who acted",
    breaks: "seed 000 §4, one key an actor, event and stream",
    file: "runtime/src/frame/event-scope.ts",
    find: "actor: principal ?? null",
    replace: "actor: null",
    seed: 1,
  },
  {
    name: "a lease that ran out is renewed",
    breaks: "seed 001 §2, a tenure ends with its lease",
    file: "memory-engine/src/lease/lease.ts",
    find: '.where("holder", "=", p(2))\n      .where("expires_at", ">", p(3)),',
    replace: '.where("holder", "=", p(2)).where("expires_at", "!=", p(3)),',
    seed: 1,
  },
  {
    name: "a commit does not name the events that it ends",
    breaks: "seed 001 §3, consequenceOf",
    file: "executor/src/wave/batch.ts",
    find: "return [...consequencesOf(marks), ...ended];",
    replace: "return ended;",
    seed: 1,
  },
  {
    name: "a derived commit asks for no lease",
    breaks: "seed 001 §2, the row is checked where the wave is written (field fault LS-01)",
    file: "memory-engine/src/server/derived/commit.ts",
    find: "if (lease !== undefined && lease.live && lease.holder === holder) return;",
    replace: "if (lease !== undefined) return;",
    seed: 2,
  },
  {
    name: "a lease is given back whoever holds it",
    breaks: "seed 001 §2, only one's own row is released (field fault LS-01)",
    file: "memory-engine/src/lease/lease.ts",
    find: 'db.deleteFrom("execution_lease").where("space", "=", p(0)).where("holder", "=", p(1)),',
    replace:
      'db.deleteFrom("execution_lease").where("space", "=", p(0)).where("expires_at", "!=", p(1)),',
    seed: 25,
  },
  {
    name: "a holder goes on as long as its own clock says",
    breaks: "seed 001 §2, the store's clock alone judges liveness (field fault LS-03)",
    file: "executor/src/tenure/lease-keeper.ts",
    find: "if (!lease.renew(holder, ttlMs)) {",
    replace:
      "if (!lease.renew(holder, ttlMs) && (lease.current()?.expiresAt ?? 0) <= clock.now()) {",
    seed: 4,
  },
  {
    name: "a store remembers what was rolled back",
    breaks: "a transaction that fails at its end was never there (conformance, store failures)",
    file: "memory-engine/src/commit/group.ts",
    find: "if (this.#wrote) this.#store.forget();\n      throw error;\n    }\n  }\n\n  #inBatch",
    replace: "throw error;\n    }\n  }\n\n  #inBatch",
    seed: 33,
  },
  {
    name: "an append is acknowledged though its transaction failed",
    breaks: "no event is lost (seed 000 §4)",
    file: "memory-engine/src/server/space/intake.ts",
    find: "return this.#deps.engine.batch(() => group.map((job) => attempt(job)));",
    replace:
      "const done: Outcome<unknown>[] = []; try { this.#deps.engine.batch(() => { for (const job of group) done.push(attempt(job)); }); } catch { return done; } return done;",
    seed: 3,
  },
  {
    name: "an answer lands on whatever is asked by then",
    breaks: "seed 001 §5, an answer counts for the request that is selected",
    file: "executor/src/effects/completion.ts",
    find: 'if (memo?.key !== key) return "stale";',
    replace: 'if (memo === undefined) return "stale";',
    seed: 53,
  },
  {
    name: "an append asks for no right",
    breaks: "protocol.md §2, append authority",
    file: "memory-engine/src/server/admission/append.ts",
    find: "if (!mayAppend(acl.acl, envelope.principal, stream)) {",
    replace: "if (!mayAppend(acl.acl, envelope.principal, stream) && stream === space) {",
    seed: 12,
  },
  {
    name: "an event is fired in whose name its sender likes",
    breaks: "protocol.md §2, firedAt is the envelope's (conformance, ADM)",
    file: "events/src/entry/admission.ts",
    find: "if (field === undefined) return undefined;",
    replace: 'if (field !== "clientSeq") return undefined;',
    seed: 12,
  },
];
