import { isTidemarkError } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import { World } from "../../src/testing/index.js";

const num = (value: unknown): number => Number(value ?? 0);

function feeding(clock: VirtualClock, passBudget = 20): World {
  const w = new World({ clock, passBudget });
  w.scheduler.checkLiveness();
  w.setAll({ start: 0, other: 0 });
  w.computed("A", (read) => num(read("start")) + num(read("B")) + 1);
  w.computed("B", (read) => num(read("A")) + 1);
  w.computed("C", (read) => num(read("other")) * 2);
  for (const key of ["A", "B", "C"]) w.watch(key);
  return w;
}

test("[SC-C1] a cycle stops within the pass budget, others complete, idle resolves (SC-07)", async () => {
  const clock = new VirtualClock();
  const w = feeding(clock);
  const first = await w.scheduler.settle();
  expect(first.state).toBe("budget");
  w.ran();
  w.setAll({ start: 1, other: 21 });
  await w.scheduler.idle();
  const ran = w.ran();
  expect(ran.filter((name) => name === "A").length).toBeLessThanOrEqual(22);
  expect(ran.filter((name) => name === "A").length).toBeGreaterThan(10);
  expect(ran.filter((name) => name === "C")).toHaveLength(1);
  expect(w.get("C")).toBe(42);
  expect(w.scheduler.busy()).toBe(false);
  expect(w.scheduler.stats.backingOff).toBe(1);
});

test("[SC-C2] the members are still dirty and go on after 50 ms, then twice that, up to 5 s (R15)", async () => {
  const clock = new VirtualClock();
  const delays: number[] = [];
  const w = feeding(clock);
  await w.scheduler.settle();
  for (let i = 0; i < 10; i++) {
    w.ran();
    const waited = clock.nextTimerIn() ?? 0;
    delays.push(waited);
    await clock.advance(waited - 1);
    await w.scheduler.settle();
    expect(w.ran()).toEqual([]);
    await clock.advance(1);
    await w.scheduler.settle();
    expect(w.ran().length).toBeGreaterThan(0);
  }
  expect(delays).toEqual([50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
});

test("[SC-C3] a cycle is reported once, with its path, however often it is cut", async () => {
  const clock = new VirtualClock();
  const w = feeding(clock);
  for (let i = 0; i < 5; i++) {
    await w.scheduler.settle();
    await clock.advance(10_000);
  }
  const cycles = w.reports.filter((report) => report.kind === "cycle");
  expect(cycles).toHaveLength(1);
  const path = cycles[0]?.kind === "cycle" ? cycles[0].path : [];
  expect([...path].sort()).toEqual(path[0] === "A" ? ["A", "A", "B"] : ["A", "B", "B"]);
  expect(path[0]).toBe(path.at(-1));
});

test("[SC-C4] an outsider's input ends the rest at once and starts the delays anew", async () => {
  const clock = new VirtualClock();
  const w = feeding(clock);
  await w.scheduler.settle();
  await clock.advance(50);
  await w.scheduler.settle();
  expect(clock.nextTimerIn()).toBe(100);
  w.ran();
  w.set("start", 5);
  await w.scheduler.settle();
  expect(w.ran().length).toBeGreaterThan(0);
  expect(clock.nextTimerIn()).toBe(50);
});

test("[SC-C5] a cycle that converges is not cut (WV-06)", async () => {
  const w = new World({ clock: new VirtualClock() });
  w.scheduler.checkLiveness();
  w.setAll({ fa: null, fb: null });
  w.computed("a", (read) => (read("b") === true ? null : (read("fa") ?? null)));
  w.computed("b", (read) => (read("a") === true ? null : (read("fb") ?? null)));
  w.watch("a");
  w.watch("b");
  await w.scheduler.idle();
  w.set("fa", true);
  expect((await w.scheduler.settle()).state).toBe("idle");
  expect([w.get("a"), w.get("b")]).toEqual([true, null]);
  expect(w.scheduler.stats.cuts).toBe(0);
});

test("[SC-C6] reading what a run below computes throws a CycleError that names the members (WV-06)", async () => {
  const w = new World({ clock: new VirtualClock() });
  const seen: unknown[] = [];
  w.computed("x", (read) => num(read("y")));
  w.computed("y", (read) => {
    try {
      return num(read("x"));
    } catch (error) {
      seen.push(error);
      throw error;
    }
  });
  expect(w.read("x")).toBe(0);
  expect(isTidemarkError(seen[0], "cycle")).toBe(true);
  expect((seen[0] as { details: unknown }).details).toEqual({ path: ["x", "y", "x"] });
  expect(w.reports.filter((report) => report.kind === "cycle")).toHaveLength(1);
});

test("[SC-C7] a slow chain that needs many passes converges without a notice (WV-07)", async () => {
  const w = new World({ clock: new VirtualClock(), passBudget: 3 });
  w.set("s0", 1);
  // Registered and demanded from the end, so that every link is found late.
  for (let i = 25; i >= 1; i--) {
    w.computed(`s${i}`, (read) => num(read(`s${i - 1}`)) + 1);
    w.watch(`s${i}`);
  }
  for (let round = 2; round < 102; round++) {
    w.set("s0", round);
    await w.scheduler.idle();
    expect(w.get("s25")).toBe(round + 25);
  }
  expect(w.reports).toEqual([]);
});

test("[SC-C8] a run that dirties itself from outside is bounded too", async () => {
  const clock = new VirtualClock();
  const w = new World({ clock, passBudget: 10 });
  w.set("n", 0);
  w.computed("spin", (read) => {
    const n = num(read("n"));
    w.set("n", n + 1);
    return n;
  });
  w.computed("calm", (read) => num(read("z")));
  w.watch("spin");
  w.watch("calm");
  await w.scheduler.idle();
  expect(w.ran().length).toBeLessThan(20);
  expect(w.get("calm")).toBe(0);
});

test("[SC-C9] a cycle takes one turn per pass, so others in the same settle go first", async () => {
  const w = feeding(new VirtualClock(), 20);
  await w.scheduler.settle();
  const ran = w.ran();
  expect(ran.indexOf("C")).toBeLessThan(6);
});
