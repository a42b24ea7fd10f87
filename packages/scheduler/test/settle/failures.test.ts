import { VirtualClock } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import { World } from "../../src/testing/index.js";
import type { RetryClass } from "../../src/index.js";

const num = (value: unknown): number => Number(value ?? 0);

test("[SC-F1] a throwing node keeps its last value, others go on, its reads arm it again (R32, WV-08)", async () => {
  const w = new World({ clock: new VirtualClock() });
  w.set("a", 0);
  w.computed("n", (read) => {
    if (read("a") === 1) throw new Error("one");
    return num(read("a")) * 10;
  });
  w.computed("m", (read) => num(read("a")) + 1);
  w.watch("n");
  w.watch("m");
  await w.scheduler.settle();
  w.set("a", 1);
  expect((await w.scheduler.settle()).state).toBe("idle");
  expect([w.get("n"), w.get("m")]).toEqual([0, 2]);
  expect(w.reports).toEqual([
    { kind: "action-failed", action: "n", instance: "space", error: new Error("one") },
  ]);
  expect(w.scheduler.stats.failures).toBe(1);
  w.set("a", 2);
  await w.scheduler.settle();
  expect(w.get("n")).toBe(20);
});

test("[SC-F1] a run that throws out of the contract keeps its subscriptions", async () => {
  const w = new World({ clock: new VirtualClock() });
  w.set("a", 0);
  let broken = false;
  w.computed("n", (read) => num(read("a")), {
    outcome: (outcome) => {
      if (broken) throw new Error("broken runtime");
      return outcome;
    },
  });
  w.watch("n");
  await w.scheduler.settle();
  broken = true;
  w.set("a", 1);
  await w.scheduler.settle();
  broken = false;
  w.set("a", 2);
  await w.scheduler.settle();
  expect(w.ran()).toHaveLength(3);
});

async function failing(retry: RetryClass, failures: number) {
  const w = new World({ clock: new VirtualClock() });
  w.scheduler.checkLiveness();
  w.set("a", 0);
  let left = failures;
  w.computed("n", (read) => num(read("a")), {
    outcome: (outcome) =>
      left-- > 0 ? { ...outcome, changes: [], failed: new Error(retry), retry } : outcome,
  });
  w.computed("sibling", (read) => num(read("a")));
  w.watch("n");
  w.watch("sibling");
  const result = await w.scheduler.settle();
  const tries = w.ran().filter((name) => name === "n").length;
  w.set("a", 1);
  left = 0;
  await w.scheduler.settle();
  return { w, result, tries, rearmed: w.ran().includes("n") };
}

test("[SC-R1] a transient failure is tried 10 times, then is quiet until its next input (SC-13)", async () => {
  const { w, tries, rearmed } = await failing("transient", Number.POSITIVE_INFINITY);
  expect(tries).toBe(10);
  expect(rearmed).toBe(true);
  expect(w.reports).toMatchObject([{ kind: "retry-exhausted", action: "n", tries: 10 }]);
});

test("[SC-R1] a transient failure that passes is not reported", async () => {
  const { w, tries, result } = await failing("transient", 3);
  expect([tries, result.state, w.reports]).toEqual([4, "idle", []]);
});

test("[SC-R2] a stale basis does not spend the budget of 10 (SC-13)", async () => {
  const { w, tries } = await failing("stale", 30);
  expect([tries, w.reports]).toEqual([31, []]);
});

test("[SC-R3] a permanent failure is not tried again, and its reads stay subscribed (SC-13)", async () => {
  const { tries, rearmed } = await failing("none", 5);
  expect([tries, rearmed]).toEqual([1, true]);
});

test("[SC-R4] a run that is never ready is tried 5 times, then waits for an input (WV-05)", async () => {
  const { w, tries, rearmed } = await failing("not-ready", Number.POSITIVE_INFINITY);
  expect([tries, rearmed]).toEqual([5, true]);
  expect(w.get("sibling")).toBe(1);
});

test("[SC-R5] a retry lands on a later pass, behind the others of this one", async () => {
  const w = new World({ clock: new VirtualClock() });
  let fails = 1;
  w.computed("n", () => 1, {
    outcome: (outcome) =>
      fails-- > 0
        ? { ...outcome, changes: [], failed: new Error("x"), retry: "transient" }
        : outcome,
  });
  w.computed("late", (read) => num(read("early")) + 1);
  w.computed("early", () => 1);
  for (const key of ["n", "late", "early"]) w.watch(key);
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["n", "late", "early", "n"]);
});

test("[SC-R6] a dormant node that is not ready runs once per pass, however often it is read", () => {
  const w = new World({ clock: new VirtualClock() });
  w.computed("n", () => 1, {
    outcome: (outcome) => ({ ...outcome, changes: [], retry: "not-ready" }),
  });
  w.computed("reader", (read) => {
    for (let i = 0; i < 100; i++) read("n");
    return null;
  });
  w.read("reader");
  expect(w.ran()).toEqual(["reader", "n"]);
});
