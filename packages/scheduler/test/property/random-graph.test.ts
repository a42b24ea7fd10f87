import { VirtualClock } from "@tidemark/protocol/testing";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { World, type Reader } from "../../src/testing/index.js";

/*
 * Sources s0..s3 and computeds c0..c9, each of which may read sources and computeds of lower number, some of them only
 * where a condition says so. Whatever happens, demanded values equal a recomputation from nothing, and every run saw
 * values of one moment.
 */

interface Formula {
  readonly always: readonly string[];
  /** Read only while the first of `always` is odd. */
  readonly whenOdd: readonly string[];
  readonly modulo: number;
}

type Step =
  | { readonly do: "write"; readonly source: number; readonly value: number }
  | { readonly do: "writeMany"; readonly values: readonly number[] }
  | { readonly do: "demand"; readonly node: number; readonly on: boolean }
  | { readonly do: "read"; readonly node: number }
  | { readonly do: "settle"; readonly steps: number | undefined }
  | { readonly do: "event"; readonly reads: number; readonly writes: number }
  | { readonly do: "replace"; readonly node: number };

const SOURCES = 4;
const NODES = 10;

const formula = (index: number): fc.Arbitrary<Formula> => {
  const inputs = [
    ...Array.from({ length: SOURCES }, (_, i) => `s${i}`),
    ...Array.from({ length: index }, (_, i) => `c${i}`),
  ];
  return fc.record({
    always: fc.array(fc.constantFrom(...inputs), { minLength: 1, maxLength: 4 }),
    whenOdd: fc.array(fc.constantFrom(...inputs), { maxLength: 3 }),
    modulo: fc.constantFrom(2, 3, 7, 1_000),
  });
};

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("write" as const),
    source: fc.nat(SOURCES - 1),
    value: fc.nat(5),
  }),
  fc.record({
    do: fc.constant("writeMany" as const),
    values: fc.array(fc.nat(5), { minLength: SOURCES, maxLength: SOURCES }),
  }),
  fc.record({ do: fc.constant("demand" as const), node: fc.nat(NODES - 1), on: fc.boolean() }),
  fc.record({ do: fc.constant("read" as const), node: fc.nat(NODES - 1) }),
  fc.record({
    do: fc.constant("settle" as const),
    steps: fc.option(fc.nat(4), { nil: undefined }),
  }),
  fc.record({
    do: fc.constant("event" as const),
    reads: fc.nat(NODES - 1),
    writes: fc.nat(SOURCES - 1),
  }),
  fc.record({ do: fc.constant("replace" as const), node: fc.nat(NODES - 1) }),
);

const program = fc.record({
  formulas: fc.tuple(...Array.from({ length: NODES }, (_, i) => formula(i))),
  steps: fc.array(step, { minLength: 10, maxLength: 40 }),
});

function evaluate(f: Formula, read: (key: string) => number): number {
  const first = read(f.always[0] ?? "s0");
  let sum = first;
  for (const key of f.always.slice(1)) sum += read(key);
  if (first % 2 === 1) for (const key of f.whenOdd) sum += 31 * read(key);
  return sum % f.modulo;
}

class Model {
  readonly clock = new VirtualClock();
  readonly w: World;
  readonly formulas: readonly Formula[];
  readonly demanded = new Map<string, number>();
  /** Runs since the inputs last moved, per node. */
  readonly runs = new Map<string, number>();
  glitches = 0;

  constructor(formulas: readonly Formula[]) {
    this.formulas = formulas;
    this.w = new World({ clock: this.clock });
    this.w.scheduler.checkLiveness();
    this.w.setAll(Object.fromEntries(Array.from({ length: SOURCES }, (_, i) => [`s${i}`, i])));
    for (let i = 0; i < NODES; i++) this.register(i);
  }

  register(index: number): void {
    const f = this.formulas[index] as Formula;
    const name = `c${index}`;
    this.w.computed(name, (read) => {
      this.runs.set(name, (this.runs.get(name) ?? 0) + 1);
      return evaluate(f, (key) => this.#observe(read, key));
    });
  }

  /** What a run reads must be what a recomputation of this very moment gives. */
  #observe(read: Reader, key: string): number {
    const value = Number(read(key) ?? 0);
    if (value !== this.naive(key)) this.glitches++;
    return value;
  }

  naive(key: string): number {
    if (key.startsWith("s")) return Number(this.w.get(key));
    return evaluate(this.formulas[Number(key.slice(1))] as Formula, (input) => this.naive(input));
  }

  check(): void {
    for (const [key, count] of this.demanded) {
      if (count > 0) expect([key, this.w.get(key)]).toEqual([key, this.naive(key)]);
    }
  }

  async apply(s: Step): Promise<void> {
    const { w } = this;
    switch (s.do) {
      case "write":
        this.runs.clear();
        w.set(`s${s.source}`, s.value);
        return;
      case "writeMany":
        this.runs.clear();
        w.setAll(Object.fromEntries(s.values.map((value, i) => [`s${i}`, value])));
        return;
      case "demand":
        this.#demand(`c${s.node}`, s.on);
        return;
      case "read":
        expect(Number(w.read(`c${s.node}`))).toBe(this.naive(`c${s.node}`));
        return;
      case "settle":
        await this.#settle(s.steps);
        return;
      case "event":
        w.scheduler.queueEvent({
          id: "e",
          run: () => {
            const value = Number(w.read(`c${s.reads}`));
            expect(value).toBe(this.naive(`c${s.reads}`));
            this.runs.clear();
            w.set(`s${s.writes}`, value % 6);
          },
        });
        return;
      case "replace": {
        const handle = w.scheduler.node(`c${s.node}` as never, "space" as never);
        if (handle !== undefined) w.scheduler.unregister(handle);
        this.runs.delete(`c${s.node}`);
        this.register(s.node);
        return;
      }
    }
  }

  #demand(key: string, on: boolean): void {
    const count = this.demanded.get(key) ?? 0;
    if (!on && count === 0) return;
    this.demanded.set(key, count + (on ? 1 : -1));
    this.w.watch(key, on);
  }

  async #settle(steps: number | undefined): Promise<void> {
    if (steps === undefined) {
      await this.w.scheduler.idle();
      this.check();
      return;
    }
    // A deadline in the past: one step each.
    for (let i = 0; i < steps; i++) await this.w.scheduler.settle({ deadlineAt: -1 });
  }

  get ranTwice(): string[] {
    return [...this.runs].filter(([, count]) => count > 1).map(([name]) => name);
  }
}

const runs = Number(process.env["FUZZ_RUNS"] ?? 300);
const seed = process.env["FUZZ_SEED"];
const settings = { numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) };

test("[SC-X1] settled values equal a recomputation, no run saw a mix, none ran twice for one change, liveness is exact", async () => {
  let didRun = 0;
  await fc.assert(
    fc.asyncProperty(program, async ({ formulas, steps }) => {
      const model = new Model(formulas);
      for (const s of steps) {
        await model.apply(s);
        expect(model.ranTwice).toEqual([]);
      }
      await model.w.scheduler.idle();
      model.check();
      expect(model.glitches).toBe(0);
      expect(model.ranTwice).toEqual([]);
      expect(model.w.reports).toEqual([]);
      didRun += model.w.scheduler.stats.runs;
    }),
    settings,
  );
  expect(didRun).toBeGreaterThan(runs);
});

const tangled = fc.record({
  edges: fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { minLength: 4, maxLength: 20 }),
  flips: fc.array(
    fc.oneof(
      fc.record({ demand: fc.nat(7), on: fc.boolean() }),
      fc.record({ toggle: fc.nat(19) }),
      fc.record({ replace: fc.nat(7) }),
    ),
    { minLength: 5, maxLength: 40 },
  ),
});

test("[SC-D4] liveness equals the reference rebuild after every change, cycles included", async () => {
  await fc.assert(
    fc.asyncProperty(tangled, async ({ edges, flips }) => {
      const w = new World({ clock: new VirtualClock(), passBudget: 3 });
      w.scheduler.checkLiveness();
      const on = edges.map(() => true);
      const add = (index: number): void => {
        w.computed(`c${index}`, (read) => {
          read("go");
          edges.forEach(([from, to], i) => {
            if (to !== index || on[i] !== true) return;
            try {
              read(`c${from}`);
            } catch {
              // A cycle: what matters here is the edge.
            }
          });
          return index;
        });
      };
      for (let i = 0; i < 8; i++) add(i);
      const demanded = new Map<number, number>();
      let go = 0;
      for (const flip of flips) {
        if ("demand" in flip) {
          const count = demanded.get(flip.demand) ?? 0;
          if (!flip.on && count === 0) continue;
          demanded.set(flip.demand, count + (flip.on ? 1 : -1));
          w.watch(`c${flip.demand}`, flip.on);
        } else if ("toggle" in flip) {
          if (on[flip.toggle] !== undefined) on[flip.toggle] = !on[flip.toggle];
          w.set("go", ++go);
        } else {
          const handle = w.scheduler.node(`c${flip.replace}` as never, "space" as never);
          if (handle !== undefined) w.scheduler.unregister(handle);
          add(flip.replace);
        }
        await w.scheduler.settle();
      }
      for (const [node, count] of demanded) {
        for (let i = 0; i < count; i++) w.watch(`c${node}`, false);
      }
      expect(w.scheduler.stats.live).toBe(0);
      expect(w.scheduler.busy()).toBe(false);
    }),
    settings,
  );
});
