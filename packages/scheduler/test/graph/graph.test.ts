import { isTidemarkError } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { createGraph, type Computed, type Source } from "../../src/index.js";

test("[SC-G2] an error is cached: both reads throw the same one, and the next input clears it", () => {
  const g = createGraph();
  const a = g.source(1);
  let runs = 0;
  const c = g.computed(() => {
    runs++;
    if (a.get() === 1) throw new Error("one");
    return a.get();
  });
  const errors = [0, 1].map(() => {
    try {
      c.get();
      return undefined;
    } catch (error) {
      return error;
    }
  });
  expect(errors[0]).toBeInstanceOf(Error);
  expect(errors[0]).toBe(errors[1]);
  expect(runs).toBe(1);
  a.set(2);
  expect(c.get()).toBe(2);
});

test("[SC-G3] a chain of 10,000 is brought up to date without overflowing the stack", () => {
  const g = createGraph();
  const a = g.source(0);
  const chain: Computed<number>[] = [];
  let last: { get(): number } = a;
  for (let i = 0; i < 10_000; i++) {
    const input = last;
    const node = g.computed(() => input.get() + 1);
    node.get();
    chain.push(node);
    last = node;
  }
  const seen: number[] = [];
  const stop = g.effect(() => void seen.push(last.get()));
  a.set(1);
  a.set(2);
  expect(seen).toEqual([10_000, 10_001, 10_002]);
  // Letting go of the end lets go of all of it, without recursion too.
  stop();
  expect(edgesOf(a)).toBe(0);
});

test("[SC-G4] a computed that needs itself gets a CycleError that names the way round, and recovers", () => {
  const g = createGraph();
  const closed = g.source(true);
  const a: Computed<number> = g.computed(() => b.get() + 1, { name: "a" });
  const b: Computed<number> = g.computed(() => (closed.get() ? a.get() : 1), { name: "b" });
  let error: unknown;
  try {
    a.get();
  } catch (thrown) {
    error = thrown;
  }
  expect(isTidemarkError(error, "cycle")).toBe(true);
  expect((error as { details: unknown }).details).toEqual({ path: ["a", "b", "a"] });
  closed.set(false);
  expect([b.get(), a.get()]).toEqual([1, 2]);
  closed.set(true);
  expect(() => b.get()).toThrow("Cycle");
});

test("[SC-G5] an effect that keeps writing what it reads is stopped with a CycleError", () => {
  const g = createGraph({ maxRuns: 10 });
  const a = g.source(0);
  let runs = 0;
  expect(() =>
    g.effect(() => {
      runs++;
      a.set(a.get() + 1);
    }),
  ).toThrow("Cycle");
  expect(runs).toBe(10);
});

test("[SC-G6] errors of effects reach the writer after every other effect ran", () => {
  const g = createGraph();
  const a = g.source(0);
  const seen: number[] = [];
  g.effect(() => {
    if (a.get() === 1) throw new Error("first");
  });
  g.effect(() => {
    if (a.get() === 1) throw new Error("second");
  });
  g.effect(() => void seen.push(a.get()));
  expect(() => a.set(1)).toThrow(AggregateError);
  expect(seen).toEqual([0, 1]);
  a.set(2);
  expect(seen).toEqual([0, 1, 2]);
});

test("[SC-G7] an inner effect that was subscribed first is disposed by its owner before it runs again", () => {
  const g = createGraph();
  const a = g.source(0);
  const log: string[] = [];
  g.effect(() => {
    g.effect(() => void log.push(`inner ${a.get()}`));
    log.push(`outer ${a.get()}`);
  });
  log.length = 0;
  a.set(1);
  expect(log).toEqual(["inner 1", "outer 1"]);
});

test("[SC-G8] what nobody listens to holds nothing: 10,000 effects leave no edge behind (WV-11)", () => {
  const g = createGraph();
  const flag = g.source(true);
  const x = g.source(0);
  const y = g.source(0);
  for (let i = 0; i < 10_000; i++) {
    const c = g.computed(() => (flag.get() ? x.get() : y.get()));
    const stop = g.effect(() => void c.get());
    stop();
  }
  const kept = g.computed(() => (flag.get() ? x.get() : y.get()));
  const stop = g.effect(() => void kept.get());
  for (let i = 0; i < 10_000; i++) flag.set(i % 2 === 1);
  expect([flag, x, y].map(edgesOf)).toEqual([1, 1, 0]);
  stop();
  kept.dispose();
  expect([flag, x, y].map(edgesOf)).toEqual([0, 0, 0]);
});

function edgesOf(source: Source<unknown>): number {
  let count = 0;
  let edge = (source as unknown as { subs?: { nextSub?: unknown } }).subs;
  for (; edge !== undefined; edge = edge.nextSub as typeof edge) count++;
  return count;
}

test("[SC-G9] equality is the caller's: a computed with its own stops changes that are none", () => {
  const g = createGraph();
  const a = g.source({ n: 1 }, { equals: (p, q) => p.n === q.n });
  const rounded = g.computed(() => a.get().n / 10, {
    equals: (p, q) => Math.floor(p) === Math.floor(q),
  });
  let runs = 0;
  g.effect(() => {
    runs++;
    rounded.get();
  });
  a.set({ n: 1 });
  a.set({ n: 9 });
  expect(runs).toBe(1);
  a.set({ n: 10 });
  expect(runs).toBe(2);
});

test("[SC-G10] two graphs do not see each other", () => {
  const g = createGraph();
  const h = createGraph();
  const a = g.source(1);
  const b = h.computed(() => a.get());
  expect(b.get()).toBe(1);
  a.set(2);
  expect(b.get()).toBe(1);
});
