import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyOperation,
  getAt,
  instanceKey,
  jsonEqual,
  SPACE_SCOPE_KEY,
  type ActionId,
  type DocId,
  type EventId,
  type Held,
  type InstanceKey,
  type JsonValue,
  type Path,
  type Principal,
  type Seq,
  type SessionId,
  type ValueOperation,
} from "@tidemark/protocol";
import { WaveAccumulator, type Draft } from "../../src/wave/accumulator.js";
import type { Contribution } from "../../src/wave/contribution.js";
import { planWave, type Intrusion, type PlanView } from "../../src/wave/plan.js";

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 400);
const SHARED = ["s0", "s1"];
const OUTPUTS = ["o0", "o1", "o2"];
const FIELDS = ["a", "b"];
const STREAMS = ["stream:x", "stream:y"];
const BASIS = 10 as Seq;

const key = (name: string): InstanceKey => instanceKey(`node:${name}` as DocId, SPACE_SCOPE_KEY);
const INITIAL: JsonValue = { a: 1, b: 1, list: [] };

type Step =
  | { readonly kind: "derive"; readonly out: string; readonly from: string; readonly field: string }
  | {
      readonly kind: "handle";
      readonly stream: string;
      readonly does: "set" | "bump" | "increment" | "append" | "copy";
      readonly doc: string;
      readonly field: string;
      readonly from: string;
    };

type Strike = { readonly doc: string; readonly op: ValueOperation; readonly mine: boolean };

const docs = fc.constantFrom(...SHARED, ...OUTPUTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("derive" as const),
    out: fc.constantFrom(...OUTPUTS),
    from: docs,
    field: fc.constantFrom(...FIELDS),
  }),
  fc.record({
    kind: fc.constant("handle" as const),
    stream: fc.constantFrom(...STREAMS),
    does: fc.constantFrom("set", "bump", "increment", "append", "copy"),
    doc: fc.constantFrom(...SHARED),
    field: fc.constantFrom(...FIELDS),
    from: docs,
  }),
);
const operation: fc.Arbitrary<ValueOperation> = fc.oneof(
  fc.constantFrom(...FIELDS).map((field) => patchOf({ op: "replace", path: [field], value: 70 })),
  fc.constantFrom(...FIELDS).map((field) => patchOf({ op: "increment", path: [field], value: 5 })),
  fc.constant(patchOf({ op: "append", path: ["list"], value: "rival" })),
  fc.constant<ValueOperation>({ op: "set", value: { a: 90, b: 90, list: ["whole"] } }),
  fc.constant<ValueOperation>({ op: "delete" }),
);
const strike: fc.Arbitrary<Strike> = fc.record({ doc: docs, op: operation, mine: fc.boolean() });

function patchOf(patch: Extract<ValueOperation, { op: "patch" }>["value"][number]): ValueOperation {
  return { op: "patch", value: [patch] };
}

const ANA = "did:key:ana" as Principal;
const TAB = "ana1" as SessionId;

/** A store that nothing holds but this map, and the wave over it. */
class Bench {
  readonly stored = new Map<InstanceKey, Held>();
  readonly accumulator: WaveAccumulator;
  readonly seenByReads = new Map<
    number,
    { key: InstanceKey; path: Path; value: JsonValue | undefined }[]
  >();

  constructor() {
    for (const name of [...SHARED, ...OUTPUTS])
      this.stored.set(key(name), { value: INITIAL, seq: 1 as Seq });
    const { stored } = this;
    this.accumulator = new WaveAccumulator({
      seq: BASIS,
      get: (at) => stored.get(at) ?? { value: undefined, seq: 0 as Seq },
      accept: (at, value, seq) => void stored.set(at, { value, seq }),
    });
  }

  run(one: Step, at: number): Contribution | undefined {
    const draft = one.kind === "derive" ? this.#derive(one) : this.#handle(one, at);
    const seen = draft.reads.map((read) => ({
      key: read.key,
      path: read.path,
      value: this.#look(read.key, read.path),
    }));
    const before = this.accumulator.view.get(draft.writes[0]?.key ?? key("s0"))?.value;
    try {
      for (const write of draft.writes) applyOperation(before, write.op);
    } catch {
      return undefined;
    }
    const { contribution } = this.accumulator.seal(draft);
    this.seenByReads.set(contribution.id, seen);
    return contribution;
  }

  #look(at: InstanceKey, path: Path): JsonValue | undefined {
    const value = this.accumulator.view.get(at)?.value;
    return value === undefined ? undefined : getAt(value, path);
  }

  #derive(one: Extract<Step, { kind: "derive" }>): Draft {
    const from = key(one.from);
    const seen = this.#look(from, [one.field]);
    return {
      kind: "derivation",
      action: `t/${one.out}@p` as ActionId,
      instance: SPACE_SCOPE_KEY,
      reads: [{ key: from, path: [one.field], kind: "value", seq: 1 as Seq }],
      elided: [],
      writes: [
        { key: key(one.out), op: { op: "set", value: { a: seen ?? null, b: 0, list: [] } } },
      ],
      sends: [],
    };
  }

  #handle(one: Extract<Step, { kind: "handle" }>, at: number): Draft {
    const target = key(one.doc);
    const reads =
      one.does === "bump"
        ? [{ key: target, path: [one.field] }]
        : one.does === "copy"
          ? [{ key: key(one.from), path: [one.field] }]
          : [];
    const seen = reads[0] === undefined ? 0 : this.#look(reads[0].key, reads[0].path);
    const value = typeof seen === "number" ? seen + 1 : 1;
    const path = [one.field];
    const op =
      one.does === "increment"
        ? patchOf({ op: "increment", path, value: 1 })
        : one.does === "append"
          ? patchOf({ op: "append", path: ["list"], value: at })
          : patchOf({ op: "replace", path, value });
    return {
      kind: "event-handler",
      action: "t/h@p" as ActionId,
      instance: SPACE_SCOPE_KEY,
      reads: reads.map((read) => ({ ...read, kind: "value" as const, seq: 1 as Seq })),
      elided: [],
      writes: [{ key: target, op }],
      sends: [],
      delivery: {
        stream: one.stream as DocId,
        eventId: `e${at}` as EventId,
        place: { seq: (2 + at) as Seq, index: 0 },
        firedBy: { user: ANA, session: TAB },
        end: { kind: "succeeded" },
      },
    };
  }
}

/** The strikes that can be made, in order, on a copy of the store. */
function intrude(bench: Bench, strikes: readonly Strike[]) {
  const heads = new Map([...bench.stored].map(([at, held]) => [at, held.value]));
  const list: (Intrusion & { readonly key: InstanceKey })[] = [];
  for (const { doc, op, mine } of strikes) {
    try {
      heads.set(key(doc), applyOperation(heads.get(key(doc)), op));
    } catch {
      continue;
    }
    const seq = (BASIS + 1 + list.length) as Seq;
    const by = mine ? { principal: ANA, session: TAB } : {};
    list.push({ key: key(doc), seq, op, authored: true, ...by });
  }
  const view: PlanView = {
    intrusions: (at, after) => list.filter((one) => one.key === at && one.seq > after),
    head: (at) => list.filter((one) => one.key === at).at(-1)?.seq ?? (1 as Seq),
    read: (at) => ({ value: heads.get(at), seq: 1 as Seq }),
  };
  return { view, list, heads };
}

describe("planWave against a replay in commit order", () => {
  test("[EX-W11] whatever the races: what lands would have come out the same had it run on top of them", () => {
    let landedOverIntrusions = 0;
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 12 }),
        fc.array(strike, { maxLength: 4 }),
        (steps, strikes) => {
          const bench = new Bench();
          const sealed = steps.flatMap((one, at) => bench.run(one, at) ?? []);
          const { view, list, heads } = intrude(bench, strikes);
          const plan = planWave(sealed, view);
          const replayed = new Map(heads);
          for (const contribution of sealed) {
            const fate = plan.fates.get(contribution.id);
            if (fate?.kind !== "lands") continue;
            // A derivation never lands on an intruded document.
            if (contribution.kind === "derivation") {
              for (const { key: at } of fate.writes)
                expect(list.some((one) => one.key === at)).toBe(false);
            }
            const written = new Set(fate.writes.map((write) => write.key));
            for (const seen of bench.seenByReads.get(contribution.id) ?? []) {
              const intruded = list.some((one) => one.key === seen.key);
              // A read of a document it did not write is as of the batch: the intrusion is next input.
              if (intruded && !written.has(seen.key)) continue;
              const now = replayed.get(seen.key);
              const value = now === undefined ? undefined : getAt(now, seen.path);
              expect(jsonEqual(value, seen.value)).toBe(true);
            }
            for (const { key: at, op } of fate.writes) {
              if (list.some((one) => one.key === at)) landedOverIntrusions += 1;
              replayed.set(at, applyOperation(replayed.get(at), op));
            }
          }
          const seq = (BASIS + 100) as Seq;
          bench.accumulator.accept(bench.accumulator.close(), plan, seq);
          for (const [at, value] of replayed) {
            if (list.some((one) => one.key === at)) continue;
            expect(bench.accumulator.view.get(at)?.value).toEqual(value);
          }
          expect(bench.accumulator.layers).toBe(0);
        },
      ),
      { numRuns: RUNS },
    );
    expect(landedOverIntrusions).toBeGreaterThan(0);
  });

  test("[EX-W12] without intrusions everything lands, and nothing else is ever taken back without a cause", () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 12 }),
        fc.array(strike, { maxLength: 3 }),
        (steps, strikes) => {
          const bench = new Bench();
          const sealed = steps.flatMap((one, at) => bench.run(one, at) ?? []);
          const { view, list } = intrude(bench, strikes);
          const plan = planWave(sealed, view);
          const fell = sealed.filter(({ id }) => plan.fates.get(id)?.kind !== "lands");
          if (list.length === 0) expect(fell).toEqual([]);
          const taken = new Set([...fell.map(({ id }) => id), ...plan.lost.keys()]);
          for (const contribution of fell) {
            const fate = plan.fates.get(contribution.id) as { readonly reason: string };
            expect(hasCause(contribution, fate.reason, sealed, taken, list)).toBe(true);
          }
        },
      ),
      { numRuns: RUNS },
    );
  });

  test("[EX-W13] per stream, nothing lands past an event that went back", () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 12 }),
        fc.array(strike, { maxLength: 4 }),
        (steps, strikes) => {
          const bench = new Bench();
          const sealed = steps.flatMap((one, at) => bench.run(one, at) ?? []);
          const plan = planWave(sealed, intrude(bench, strikes).view);
          const held = new Set<string>();
          for (const { id, delivery } of sealed) {
            if (delivery === undefined) continue;
            const lands = plan.fates.get(id)?.kind === "lands";
            expect(lands && held.has(delivery.stream)).toBe(false);
            if (!lands) held.add(delivery.stream);
          }
        },
      ),
      { numRuns: RUNS },
    );
  });
});

function hasCause(
  fallen: Contribution,
  reason: string,
  sealed: readonly Contribution[],
  taken: ReadonlySet<number>,
  list: readonly { readonly key: InstanceKey }[],
): boolean {
  const earlier = sealed.filter(({ id }) => id < fallen.id && taken.has(id));
  switch (reason) {
    case "raced":
    case "inapplicable":
      return fallen.writes.some(({ key: at }) => list.some((one) => one.key === at));
    case "read-withdrawn":
      return earlier.some((one) =>
        one.writes.some(({ key: at }) => fallen.reads.some((read) => read.key === at)),
      );
    case "stream-order":
      return earlier.some((one) => one.delivery?.stream === fallen.delivery?.stream);
    default:
      return false;
  }
}
