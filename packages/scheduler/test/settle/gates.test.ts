import { VirtualClock } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import { World } from "../../src/testing/index.js";

const num = (value: unknown): number => Number(value ?? 0);

async function gated(gate: { throttleMs?: number; debounceMs?: number }) {
  const clock = new VirtualClock();
  let wakes = 0;
  const w: World = new World({
    clock,
    onWork: () => {
      wakes++;
    },
  });
  w.scheduler.checkLiveness();
  w.set("n", 0);
  const node = w.computed("slow", (read) => num(read("n")), { gate });
  w.computed("after", (read) => num(read("slow")) + num(read("m")));
  w.watch("after");
  await w.scheduler.settle();
  w.ran();
  wakes = 0;
  return { clock, w, node, wakes: () => wakes };
}

test("[SC-T1] throttled work stays dirty and runs once at the boundary with the last value (SC-12)", async () => {
  const { clock, w, node, wakes } = await gated({ throttleMs: 500 });
  for (let n = 1; n <= 3; n++) {
    w.set("n", n);
    expect((await w.scheduler.settle({ deadlineAt: clock.monotonic() })).state).toBe("deadline");
  }
  expect(w.ran()).toEqual([]);
  expect(node.current).toBe(false);
  expect(clock.pendingTimers()).toBe(1);
  await clock.advance(499);
  expect(w.ran()).toEqual([]);
  await clock.advance(1);
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["slow", "after"]);
  expect(w.get("after")).toBe(3);
  expect(wakes()).toBeLessThanOrEqual(4);
});

test("[SC-T2] a throttle that is taken off early lets the work run at once (SC-12)", async () => {
  const { clock, w, node } = await gated({ throttleMs: 500 });
  w.set("n", 7);
  await w.scheduler.settle({ deadlineAt: clock.monotonic() });
  w.scheduler.setGate(node, undefined);
  await w.scheduler.settle();
  expect(w.get("after")).toBe(7);
  expect(clock.pendingTimers()).toBe(0);
});

test("[SC-T3] debounced work runs once inputs have been quiet for long enough", async () => {
  const { clock, w } = await gated({ debounceMs: 100 });
  for (let n = 1; n <= 5; n++) {
    w.set("n", n);
    await w.scheduler.settle({ deadlineAt: clock.monotonic() });
    await clock.advance(60);
    await w.scheduler.settle({ deadlineAt: clock.monotonic() });
  }
  expect(w.ran()).toEqual([]);
  await clock.advance(40);
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["slow", "after"]);
  expect(w.get("after")).toBe(5);
});

test("[SC-T4] a gate holds idle until it opens, and neither others nor its reader's other inputs", async () => {
  const { clock, w } = await gated({ throttleMs: 500 });
  w.set("n", 1);
  let done = false;
  const idle = w.scheduler.idle().then(() => (done = true));
  await clock.drain();
  expect(done).toBe(false);
  w.set("m", 10);
  await clock.drain();
  expect(w.get("after")).toBe(10);
  await clock.advance(500);
  await idle;
  expect(w.get("after")).toBe(11);
});

test("[SC-T5] a gated input that comes out equal leaves its reader current without a run", async () => {
  const { clock, w } = await gated({ throttleMs: 500 });
  w.set("n", 1);
  await w.scheduler.settle({ deadlineAt: clock.monotonic() });
  w.set("n", 0);
  await clock.advance(500);
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["slow"]);
  const after = w.scheduler.node("after" as never, "space" as never);
  expect(after?.current).toBe(true);
});

test("[SC-T6] work that nobody demands any more leaves no timer", async () => {
  const { clock, w } = await gated({ throttleMs: 500 });
  w.set("n", 1);
  await w.scheduler.settle({ deadlineAt: clock.monotonic() });
  w.watch("after", false);
  expect(clock.pendingTimers()).toBe(0);
  expect(w.scheduler.busy()).toBe(false);
  w.watch("after");
  await clock.advance(500);
  await w.scheduler.settle();
  expect(w.get("after")).toBe(1);
});

test("[SC-T4] a gate that opens in the middle of a run moves nothing that the run has read", async () => {
  const { clock, w } = await gated({ debounceMs: 100 });
  w.computed("between", (read) => num(read("slow")));
  w.computed("twice", (read) => {
    const before = num(read("between"));
    clock.spend(60);
    return `${before} ${num(read("between"))} ${num(read("m"))}`;
  });
  w.watch("twice");
  await w.scheduler.settle();
  w.set("n", 1);
  clock.spend(50);
  w.set("m", 1);
  await w.scheduler.settle({ deadlineAt: clock.monotonic() });
  await clock.advance(200);
  await w.scheduler.idle();
  expect(w.get("twice")).toBe("1 1 1");
});

test("[SC-T6] whoever waits for a gated input goes on when that is unregistered", async () => {
  const { clock, w, node } = await gated({ throttleMs: 500 });
  w.set("n", 1);
  const idle = w.scheduler.idle();
  w.scheduler.unregister(node);
  await idle;
  expect(clock.pendingTimers()).toBe(0);
  expect(w.scheduler.node("after" as never, "space" as never)?.current).toBe(true);
});

test("[SC-T6] a settle does not wait for a gate that nobody demands any more", async () => {
  const { clock, w } = await gated({ throttleMs: 500 });
  w.set("n", 1);
  const idle = w.scheduler.idle();
  w.watch("after", false);
  await idle;
  expect(clock.pendingTimers()).toBe(0);
});

test("[SC-T1] work that a read found gated, and whose turn comes before the timer, leaves no timer", async () => {
  const { clock, w } = await gated({ throttleMs: 500 });
  w.set("n", 1);
  expect(w.read("slow")).toBe(0);
  clock.spend(500);
  expect((await w.scheduler.settle()).state).toBe("idle");
  expect([w.get("after"), clock.pendingTimers(), w.scheduler.busy()]).toEqual([1, 0, false]);
});

test("[SC-C1] a cycle through a node that waits for a gated input too is cut as any other", async () => {
  const clock = new VirtualClock();
  const w = new World({ clock, passBudget: 5 });
  w.set("start", 0);
  w.computed("A", (read) => num(read("start")) + num(read("B")) + num(read("C")) + 1);
  const slow = w.computed("B", (read) => num(read("A")) + 1, { gate: { throttleMs: 60_000 } });
  w.computed("C", (read) => num(read("A")) + 1);
  for (const key of ["B", "A", "C"]) w.watch(key);
  const settled = w.scheduler.settle();
  await clock.drain();
  expect(w.scheduler.stats.cuts).toBeGreaterThan(0);
  w.scheduler.unregister(slow);
  expect(w.scheduler.stats.held).toBe(0);
  await clock.advance(120_000);
  await settled;
  w.scheduler.dispose();
});
