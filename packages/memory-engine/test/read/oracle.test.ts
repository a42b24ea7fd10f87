import {
  applyOperation,
  canonicalJson,
  isTidemarkError,
  type JsonValue,
  type PatchOp,
  type ScopeKey,
  type ValueOperation,
} from "@tidemark/protocol";
import { createArbitraries } from "@tidemark/protocol/testing";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Engine } from "../../src/index.js";
import { A1, ANA, at, doc, S } from "../../src/testing/harness.js";
import { fileHarness, memoryHarness } from "../support/harness.js";

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 60);
const SEED = process.env["FUZZ_SEED"] === undefined ? undefined : Number(process.env["FUZZ_SEED"]);
/** A receipt's first value may be a row of its own, which nobody who reads it may notice. */
const IDS = ["a", "b", "receipt:c"];
const SCOPES: readonly ScopeKey[] = [S, "user:x" as ScopeKey];

interface Step {
  readonly id: string;
  readonly scopeKey: ScopeKey;
  readonly op: ValueOperation;
}

type Values = ReadonlyMap<string, JsonValue | undefined>;

const { operation, json } = createArbitraries(fc);
const SHAPE = { n: 0, list: [], text: "" };

/** A patch that fits a document of the usual shape. */
const fitting: fc.Arbitrary<PatchOp> = fc.oneof(
  fc.record({
    op: fc.constant("increment" as const),
    path: fc.constant(["n"]),
    value: fc.integer({ min: 1, max: 9 }),
    ifAbsent: fc.constant(SHAPE),
  }),
  fc.record({
    op: fc.constant("append" as const),
    path: fc.constant(["list"]),
    value: json,
    ifAbsent: fc.constant(SHAPE),
  }),
  fc.record({
    op: fc.constant("splice" as const),
    path: fc.constant(["text"]),
    index: fc.constant(0),
    remove: fc.nat(1),
    insert: fc.constantFrom("é", "x".repeat(1_500), ""),
    ifAbsent: fc.constant(SHAPE),
  }),
);
const usual: fc.Arbitrary<ValueOperation> = fc.record({
  op: fc.constant("patch" as const),
  value: fc.array(fitting, { minLength: 1, maxLength: 2 }),
});
const step: fc.Arbitrary<Step> = fc.record({
  id: fc.constantFrom(...IDS),
  scopeKey: fc.constantFrom(...SCOPES),
  op: fc.oneof(
    { arbitrary: usual, weight: 12 },
    { arbitrary: fc.constant<ValueOperation>({ op: "delete" }), weight: 1 },
    { arbitrary: fc.constant<ValueOperation>({ op: "set", value: SHAPE }), weight: 2 },
    { arbitrary: operation, weight: 2 },
  ),
});
const commits = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 25,
});

/** The plainest store: a list of what everything was after each commit. */
function apply(before: Values, steps: readonly Step[]): Values | undefined {
  const after = new Map(before);
  try {
    for (const { id, scopeKey, op } of steps) {
      const key = `${scopeKey} ${id}`;
      after.set(key, applyOperation(after.get(key), op));
    }
    return after;
  } catch (error) {
    if (isTidemarkError(error)) return undefined;
    throw error;
  }
}

function commit(engine: Engine, steps: readonly Step[]): boolean {
  try {
    engine.transact((tx) => {
      for (const { id, scopeKey, op } of steps) tx.write({ id: doc(id), scopeKey, op });
      // What a derived commit sets of a receipt is stored otherwise.
      if (steps.length === 1) tx.commit({ class: "derived" });
      else tx.commit({ class: "authored", principal: ANA, session: A1 });
    });
    return true;
  } catch (error) {
    if (isTidemarkError(error)) return false;
    throw error;
  }
}

function snapshot(engine: Engine, seq?: number): Values {
  const values = new Map<string, JsonValue | undefined>();
  for (const id of IDS) {
    for (const scopeKey of SCOPES) {
      const options = seq === undefined ? {} : { at: at(seq) };
      const { value } = engine.read(doc(id), scopeKey, options);
      if (value !== undefined) values.set(`${scopeKey} ${id}`, value);
    }
  }
  return values;
}

/** As the store keeps it, JSON text, blind to the order of keys alone. */
const plain = (values: Values): readonly string[] =>
  [...values]
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${canonicalJson(value)}`]))
    .sort();

test("[ME-R13] whatever is committed, every value now and then equals that of a plain list of states", () => {
  let accepted = 0;
  fc.assert(
    fc.property(commits, fc.boolean(), fc.nat(24), (list, cold, cut) => {
      const harness = cold ? fileHarness() : memoryHarness();
      try {
        const engine = harness.open(cold ? { cacheBytes: 1 } : {});
        const states: Values[] = [new Map()];
        for (const steps of list) {
          const next = apply(states.at(-1) ?? new Map(), steps);
          expect(commit(engine, steps)).toBe(next !== undefined);
          if (next !== undefined) states.push(next);
        }
        accepted += states.length - 1;
        expect(engine.head()).toBe(states.length - 1);
        states.forEach((state, seq) => expect(plain(snapshot(engine, seq))).toEqual(plain(state)));
        const policy = { pruneAfterMs: 0, pruneAfterCommits: Math.min(cut, states.length) };
        const { horizon } = engine.prune(policy);
        const again = harness.reopens ? harness.open() : engine;
        states.forEach((state, seq) => {
          if (seq >= horizon) expect(plain(snapshot(again, seq))).toEqual(plain(state));
        });
        expect(plain(snapshot(again))).toEqual(plain(states.at(-1) ?? new Map()));
        const fed = again.commitsSince(horizon);
        expect(fed.map(({ seq }) => seq)).toEqual(
          states.map((_, seq) => seq).filter((seq) => seq > horizon),
        );
      } finally {
        harness.dispose();
      }
    }),
    { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: SEED }) },
  );
  expect(accepted).toBeGreaterThan(4 * RUNS);
}, 120_000);
