import { VirtualClock } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import { World } from "../../src/testing/index.js";

function world(): World {
  const made = new World({ clock: new VirtualClock() });
  made.scheduler.checkLiveness();
  return made;
}

const num = (value: unknown): number => Number(value ?? 0);

test("[SC-P1] an unchanged output stops there: 3 runs of parity, 2 of its watcher (SC-01)", async () => {
  const w = world();
  w.set("n", 0);
  w.computed("parity", (read) => num(read("n")) % 2);
  w.computed("watcher", (read) => num(read("parity")));
  w.watch("watcher");
  await w.scheduler.settle();
  w.set("n", 1);
  await w.scheduler.settle();
  w.ran();
  w.set("n", 3);
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["parity"]);
  w.set("n", 4);
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["parity", "watcher"]);
});

test("[SC-P2] a node follows the inputs of its last run and no others (SC-02)", async () => {
  const w = world();
  w.setAll({ flag: false, a: 1, b: 2 });
  w.computed("out", (read) => (read("flag") === true ? num(read("b")) : num(read("a"))));
  w.watch("out");
  await w.scheduler.settle();
  w.set("flag", true);
  await w.scheduler.settle();
  w.ran();
  w.set("a", 10);
  await w.scheduler.settle();
  expect(w.ran()).toEqual([]);
  w.set("b", 20);
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["out"]);
  expect(w.get("out")).toBe(20);
});

test("[SC-D1] undemanded work sleeps, idle does not wait for it, demand runs it once (SC-03)", async () => {
  const w = world();
  w.set("a", 0);
  w.computed("double", (read) => num(read("a")) * 2);
  for (let i = 1; i <= 5; i++) w.set("a", i);
  await w.scheduler.idle();
  expect(w.ran()).toEqual([]);
  w.watch("double");
  await w.scheduler.idle();
  expect(w.ran()).toEqual(["double"]);
  expect(w.get("double")).toBe(10);
});

test("[SC-P3] the join of a diamond runs once and never sees a mixed pair (SC-05, WV-09)", async () => {
  const w = world();
  w.set("x", 0);
  const mixed: unknown[] = [];
  w.computed("doubled", (read) => num(read("x")) * 2);
  w.computed("tripled", (read) => num(read("x")) * 3);
  w.computed("join", (read) => {
    const pair = [num(read("doubled")), num(read("tripled"))] as const;
    if (pair[0] * 3 !== pair[1] * 2) mixed.push(pair);
    return pair[0] + pair[1];
  });
  w.watch("join");
  await w.scheduler.settle();
  for (let x = 1; x <= 1_000; x++) {
    w.ran();
    w.set("x", x);
    await w.scheduler.settle();
    expect(w.ran()).toEqual(["doubled", "tripled", "join"]);
  }
  expect(mixed).toEqual([]);
  expect(w.get("join")).toBe(5_000);
});

test("[SC-P4] own writes are no trigger, an outsider's write is, a withdrawal is not (SC-06)", async () => {
  const w = world();
  w.set("tick", 1);
  w.computed("k", (read) => {
    const own = num(read("k"));
    return own + num(read("tick"));
  });
  w.watch("k");
  await w.scheduler.idle();
  expect(w.ran()).toEqual(["k"]);
  w.set("k", 100);
  await w.scheduler.idle();
  expect(w.ran()).toEqual(["k"]);
  expect(w.get("k")).toBe(101);
  w.withdraw("k", 7);
  await w.scheduler.idle();
  expect(w.ran()).toEqual([]);
});

test("[SC-P4] the echo of a node's own last value does not run it again", async () => {
  const w = world();
  w.computed("k", (read) => (num(read("k")) > 0 ? 5 : 1));
  w.watch("k");
  await w.scheduler.idle();
  w.ran();
  w.withdraw("k", undefined);
  w.set("k", 1);
  await w.scheduler.idle();
  expect(w.ran()).toEqual([]);
});

test("[SC-P5] a chain of eight found only by running is whole after one idle (SC-08)", async () => {
  const w = world();
  w.set("l0", 1);
  for (let i = 1; i <= 8; i++) w.computed(`l${i}`, (read) => num(read(`l${i - 1}`)) + 1);
  w.watch("l8");
  await w.scheduler.idle();
  expect(w.get("l8")).toBe(9);
  expect(w.ran()).toHaveLength(8);
});

test("[SC-P6] a chain of 10,000 never-run nodes fits the stack, forwards and when it changes", async () => {
  const w = new World({ clock: new VirtualClock() });
  w.set("n0", 0);
  for (let i = 1; i <= 10_000; i++) w.computed(`n${i}`, (read) => num(read(`n${i - 1}`)) + 1);
  w.watch("n10000");
  await w.scheduler.idle();
  expect(w.get("n10000")).toBe(10_000);
  expect(w.reports).toEqual([]);
  w.ran();
  w.set("n0", 1);
  await w.scheduler.idle();
  expect(w.get("n10000")).toBe(10_001);
  expect(w.ran()).toHaveLength(10_000);
});

test("[SC-P6] a handler's read pulls 10,000 dormant nodes without recursion", () => {
  const w = new World({ clock: new VirtualClock() });
  w.setAll({ n0: 0, s: 0 });
  for (let i = 1; i <= 10_000; i++) {
    w.computed(`n${i}`, (read) => num(read("s")) + num(read(`n${i - 1}`)) + 1);
  }
  expect(w.read("n10000")).toBe(10_000);
  w.ran();
  w.set("s", 1);
  expect(w.read("n10000")).toBe(20_000);
  expect(w.ran()).toHaveLength(10_000);
});
