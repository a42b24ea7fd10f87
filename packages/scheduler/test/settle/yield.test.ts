import { VirtualClock } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import { World } from "../../src/testing/index.js";

function steps(options: { yielding: boolean; ms: number; count: number; onYield?: () => void }) {
  const clock = new VirtualClock();
  const w = new World({
    clock,
    yielding: options.yielding,
    ...(options.onYield === undefined ? {} : { onYield: options.onYield }),
  });
  for (let i = 0; i < options.count; i++) {
    w.computed(`n${i}`, () => {
      clock.spend(options.ms);
      return i;
    });
    w.watch(`n${i}`);
  }
  return { clock, w };
}

test("[SC-Y1] a serving settle meets its deadline within a step, and loses nothing (CY-01)", async () => {
  const { clock, w } = steps({ yielding: true, ms: 30, count: 40 });
  let fired = 0;
  clock.timer(100, () => (fired = clock.monotonic()));
  const cut = w.scheduler.settle({ deadlineAt: 100 });
  await clock.advance(100);
  const result = await cut;
  expect(result.state).toBe("deadline");
  expect(result.ran).toBeLessThanOrEqual(5);
  // The timer of an outsider ran in the middle, between two steps.
  expect(fired).toBeGreaterThan(0);
  expect(fired).toBeLessThanOrEqual(160);
  const rest = w.scheduler.settle();
  await clock.drain();
  await rest;
  expect(w.ran().sort()).toEqual(Array.from({ length: 40 }, (_, i) => `n${i}`).sort());
});

test("[SC-Y2] it yields once per spent slice, between steps, and tells before control leaves (CY-02, CY-03)", async () => {
  const told: number[] = [];
  const { clock, w } = steps({
    yielding: true,
    ms: 5,
    count: 12,
    onYield: () => told.push(w.log.length),
  });
  const settled = w.scheduler.settle();
  expect(w.log).toHaveLength(4);
  expect(told).toEqual([4]);
  await clock.drain();
  await settled;
  expect(told).toEqual([4, 8]);
  expect(w.scheduler.stats.yields).toBe(2);
});

test("[SC-Y2] every slice takes a step, also where the clock moves by more than a slice at once", async () => {
  const clock = new VirtualClock();
  // Each look at this clock is a slice later than the one before.
  const coarse = {
    now: () => clock.now(),
    monotonic: () => (clock.spend(20), clock.monotonic()),
    timer: clock.timer.bind(clock),
    immediate: clock.immediate.bind(clock),
  };
  const w = new World({ clock: coarse as never, yielding: true });
  for (let i = 0; i < 5; i++) {
    w.computed(`n${i}`, () => i);
    w.watch(`n${i}`);
  }
  void w.scheduler.settle();
  await clock.runImmediates();
  await clock.runImmediates();
  await clock.runImmediates();
  await clock.runImmediates();
  expect(w.log).toHaveLength(5);
});

test("[SC-Y3] who does not serve does not yield (CY-03)", async () => {
  const { clock, w } = steps({ yielding: false, ms: 50, count: 10 });
  const settled = w.scheduler.settle();
  expect(w.log).toHaveLength(10);
  expect(clock.pendingImmediates()).toBe(0);
  expect((await settled).ran).toBe(10);
});

test("[SC-Y4] the deadline is looked at between steps, and one step is made even when it is past", async () => {
  const { w } = steps({ yielding: false, ms: 10, count: 10 });
  expect((await w.scheduler.settle({ deadlineAt: 35 })).ran).toBe(4);
  expect(await w.scheduler.settle({ deadlineAt: 0 })).toEqual({ state: "deadline", ran: 1 });
});

test("[SC-Y5] settles take turns", async () => {
  const { clock, w } = steps({ yielding: true, ms: 20, count: 3 });
  const ends: string[] = [];
  const first = w.scheduler.settle().then(() => ends.push("first"));
  const second = w.scheduler.settle().then(() => ends.push("second"));
  await clock.drain();
  await Promise.all([first, second]);
  expect(ends).toEqual(["first", "second"]);
});

test("[SC-Y6] the owner is told once that there is work, and again only after a settle", async () => {
  let told = 0;
  const w = new World({ clock: new VirtualClock(), onWork: () => told++ });
  w.computed("a", (read) => read("n") ?? null);
  w.watch("a");
  w.scheduler.queueEvent({ id: "e", run: () => undefined });
  expect(told).toBe(1);
  await w.scheduler.settle();
  w.set("n", 1);
  w.set("n", 2);
  expect(told).toBe(2);
});
