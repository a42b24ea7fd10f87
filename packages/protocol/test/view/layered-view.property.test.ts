import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  applyOperation,
  type Held,
  type InstanceKey,
  type JsonValue,
  LayeredView,
  seq,
  type ValueOperation,
  type ViewLayer,
} from "../../src/index.js";
import { createArbitraries } from "../../src/testing/index.js";

const KEYS = ["space node:a", "space node:b", "space node:c"] as unknown as readonly InstanceKey[];
const { json, operation } = createArbitraries(fc);

type Ops = readonly (readonly [InstanceKey, readonly ValueOperation[]])[];
type Step =
  | { readonly kind: "push"; readonly ops: Ops }
  | { readonly kind: "remove"; readonly at: number }
  | { readonly kind: "cover"; readonly at: number }
  | { readonly kind: "replace"; readonly at: number; readonly ops: Ops }
  | { readonly kind: "base"; readonly key: InstanceKey; readonly value: JsonValue | undefined };

const key = fc.constantFrom(...KEYS);
const ops = fc
  .dictionary(key, fc.array(operation, { minLength: 1, maxLength: 2 }), { maxKeys: 3 })
  .map((entries) => Object.entries(entries) as unknown as Ops);
const at = fc.nat({ max: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("push" as const), ops }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom<"remove" | "cover">("remove", "cover"), at }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("replace" as const), at, ops }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("base" as const),
      key,
      value: fc.option(json, { nil: undefined }),
    }),
  },
);

/** Replays every layer over the base from scratch: what the view must show. */
class Oracle {
  readonly base = new Map<InstanceKey, Held>();
  layers: { readonly layer: ViewLayer; coveredAt?: number }[] = [];

  visible(key: InstanceKey): Held | undefined {
    const base = this.base.get(key);
    let shown = base;
    for (const { layer, coveredAt } of this.layers) {
      if (coveredAt !== undefined && base !== undefined && base.seq >= coveredAt) continue;
      shown = replay(shown, layer.ops.get(key) ?? []);
    }
    return shown;
  }
}

function replay(below: Held | undefined, list: readonly ValueOperation[]): Held | undefined {
  let state: { value: JsonValue | undefined } | undefined = below;
  try {
    for (const op of list) {
      if (state === undefined && op.op === "patch") continue;
      state = { value: applyOperation(state?.value, op) };
    }
  } catch {
    return below;
  }
  return state === undefined ? undefined : { seq: seq(0), ...below, value: state.value };
}

function apply(step: Step, view: LayeredView, oracle: Oracle, now: number): void {
  if (step.kind === "base") {
    oracle.base.set(step.key, { value: step.value, seq: seq(now), coverClass: "derived" });
    return;
  }
  if (step.kind === "push") {
    const layer = { ops: new Map(step.ops) };
    view.push(layer);
    oracle.layers.push({ layer });
    return;
  }
  const index = step.at % Math.max(1, oracle.layers.length);
  const target = oracle.layers[index];
  if (target === undefined) return;
  if (step.kind === "remove") {
    view.remove(target.layer);
    oracle.layers.splice(index, 1);
  } else if (step.kind === "cover") {
    const coveredAt = Math.max(0, now + 1 - (step.at % 6));
    view.cover(target.layer, seq(coveredAt));
    target.coveredAt = coveredAt;
  } else {
    const layer = { ops: new Map(step.ops) };
    view.replace(target.layer, layer);
    oracle.layers[index] = { layer };
  }
}

test("[PR-L8] every visible value equals a replay from scratch, after every step", () => {
  let patched = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const oracle = new Oracle();
      const view = new LayeredView(oracle.base);
      steps.forEach((each, now) => {
        apply(each, view, oracle, now);
        for (const key of KEYS) {
          expect(view.get(key)).toEqual(oracle.visible(key));
          expect(view.has(key)).toBe(oracle.layers.some(({ layer }) => layer.ops.has(key)));
          if (view.get(key) !== oracle.base.get(key)) patched += 1;
        }
        expect(view.layers()).toEqual(oracle.layers.map(({ layer }) => layer));
      });
    }),
    { numRuns: 400 },
  );
  expect(patched).toBeGreaterThan(1000);
});
