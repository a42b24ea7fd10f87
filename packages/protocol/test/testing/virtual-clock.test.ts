import { expect, test } from "vitest";
import type { Clock } from "../../src/index.js";
import { VirtualClock } from "../../src/testing/index.js";

async function microtasks(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await Promise.resolve();
}

test("[PR-X1] timers fire by due time, then in the order set, and time stands at their instant", async () => {
  const clock = new VirtualClock({ start: 1000 });
  const seen: [string, number, number][] = [];
  const note = (name: string) => () => void seen.push([name, clock.now(), clock.monotonic()]);
  clock.timer(20, note("late"));
  clock.timer(10, note("first"));
  clock.timer(10, note("second"));
  clock.timer(31, note("not yet"));
  clock.timer(5, note("cancelled")).cancel();
  await clock.advance(30);
  expect(seen).toEqual([
    ["first", 1010, 10],
    ["second", 1010, 10],
    ["late", 1020, 20],
  ]);
  expect([clock.now(), clock.pendingTimers(), clock.nextTimerIn()]).toEqual([1030, 1, 1]);
});

test("[PR-X1] every microtask and immediate runs between two timers, however long the chain", async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  clock.timer(10, () => {
    seen.push("timer 1");
    void microtasks(500).then(() => {
      seen.push("chain");
      clock.immediate(() => {
        seen.push("immediate");
        void microtasks(500).then(() => seen.push("chain of the immediate"));
      });
      clock.immediate(() => seen.push("second immediate"));
    });
  });
  clock.timer(10, () => seen.push("timer 2"));
  await clock.advance(10);
  expect(seen).toEqual([
    "timer 1",
    "chain",
    "immediate",
    "chain of the immediate",
    "second immediate",
    "timer 2",
  ]);
});

test("[PR-X1] a timer set by a timer fires within the same advance when it is due", async () => {
  const clock = new VirtualClock();
  const ticks: number[] = [];
  const tick = (): void => {
    ticks.push(clock.monotonic());
    clock.timer(10, tick);
  };
  clock.timer(10, tick);
  await clock.advance(35);
  expect(ticks).toEqual([10, 20, 30]);
});

test("[PR-X1] draining runs what is runnable and does not move time", async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  clock.timer(0, () => seen.push("timer"));
  clock.immediate(() => clock.immediate(() => seen.push("nested")));
  clock.immediate(() => seen.push("cancelled")).cancel();
  expect(clock.pendingImmediates()).toBe(1);
  await clock.drain();
  expect([seen, clock.monotonic()]).toEqual([["nested"], 0]);
  await clock.advance(0);
  expect(seen).toEqual(["nested", "timer"]);
});

test("[PR-X1] running immediates runs those that were queued, and not those they queue", async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  clock.immediate(() => {
    seen.push("a");
    clock.immediate(() => seen.push("later"));
  });
  clock.immediate(() => seen.push("b"));
  expect(await clock.runImmediates()).toBe(2);
  expect(seen).toEqual(["a", "b"]);
  expect(await clock.runImmediates()).toBe(1);
});

test("[PR-X1] moving to the next timer goes as far as that timer and no further", async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  clock.timer(50, () => seen.push("a"));
  clock.timer(50, () => seen.push("b"));
  expect(await clock.advanceToNextTimer(49)).toBe(false);
  expect(clock.monotonic()).toBe(0);
  expect(await clock.advanceToNextTimer()).toBe(true);
  expect([seen, clock.monotonic()]).toEqual([["a", "b"], 50]);
  expect(await clock.advanceToNextTimer()).toBe(false);
});

test("[PR-X1] two callers that move time at once take turns", async () => {
  const clock = new VirtualClock();
  const fired: number[] = [];
  for (const ms of [10, 20, 30]) clock.timer(ms, () => fired.push(clock.monotonic()));
  await Promise.all([clock.advance(15), clock.advance(15), clock.drain()]);
  expect([fired, clock.monotonic()]).toEqual([[10, 20, 30], 30]);
});

test("[PR-X2] spent time fires nothing, and what fell due meanwhile fires at the next move", async () => {
  const clock = new VirtualClock();
  const seen: [string, number][] = [];
  clock.timer(30, () => seen.push(["b", clock.monotonic()]));
  clock.timer(10, () => seen.push(["a", clock.monotonic()]));
  clock.spend(50);
  await clock.drain();
  expect([seen, clock.monotonic(), clock.nextTimerIn()]).toEqual([[], 50, 0]);
  await clock.advance(0);
  expect(seen).toEqual([
    ["a", 50],
    ["b", 50],
  ]);
});

test("[PR-X2] a callback that spends past the target leaves time there", async () => {
  const clock = new VirtualClock();
  clock.timer(10, () => clock.spend(100));
  await clock.advance(20);
  expect(clock.monotonic()).toBe(110);
});

function setAll(clock: Clock, seen: string[], name: string): void {
  clock.timer(10, () => seen.push(`${name} timer`));
  clock.immediate(() => seen.push(`${name} immediate`));
}

test("[PR-X3] a killed process runs nothing any more and can set nothing", async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  const [a, b] = [clock.child({ name: "a" }), clock.child({ name: "b" })];
  setAll(a, seen, "a");
  setAll(b, seen, "b");
  a.kill();
  setAll(a, seen, "a again");
  a.resume();
  expect([a.alive, clock.pendingTimers(), clock.pendingImmediates()]).toEqual([false, 1, 1]);
  await clock.advance(20);
  expect(seen).toEqual(["b immediate", "b timer"]);
});

test("[PR-X3] a process that dies in its own callback runs no later one", async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  const child = clock.child();
  child.timer(10, () => child.kill());
  child.timer(10, () => seen.push("after death"));
  await clock.advance(10);
  expect(seen).toEqual([]);
});

test("[PR-X3] a suspended process's callbacks wait, and run in order after it resumes", async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  const child = clock.child();
  child.suspend();
  setAll(child, seen, "child");
  child.timer(5, () => seen.push("child early timer"));
  setAll(clock, seen, "root");
  await clock.advance(20);
  expect(seen).toEqual(["root immediate", "root timer"]);
  expect([clock.pendingTimers(), clock.nextTimerIn()]).toEqual([2, undefined]);
  child.resume();
  await clock.advance(0);
  expect(seen.slice(2)).toEqual(["child immediate", "child early timer", "child timer"]);
});

test("[PR-X3] a wall offset moves what `now` says, and no timer", async () => {
  const clock = new VirtualClock({ start: 0 });
  const child = clock.child({ wallOffset: 500 });
  const seen: number[] = [];
  child.timer(10, () => seen.push(child.now()));
  child.setWallOffset(-5000);
  await clock.advance(10);
  expect(seen).toEqual([-4990]);
  expect([child.monotonic(), clock.now()]).toEqual([10, 10]);
});

test("[PR-X4] immediates that queue themselves for ever are an error, not a hang", async () => {
  const clock = new VirtualClock({ maxImmediates: 100 });
  const again = (): void => void clock.immediate(again);
  again();
  await expect(clock.drain()).rejects.toThrow("without time moving");
});

test("[PR-X4] what a callback throws rejects the call that ran it, and the clock goes on", async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  clock.timer(10, () => {
    throw new Error("boom");
  });
  clock.timer(20, () => seen.push("later"));
  await expect(clock.advance(30)).rejects.toThrow("boom");
  await clock.advance(30);
  expect(seen).toEqual(["later"]);
});
