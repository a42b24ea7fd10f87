import type { InstanceKey } from "@tidemark/protocol";
import { isTidemarkError } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import { World } from "../../src/testing/index.js";

const num = (value: unknown): number => Number(value ?? 0);

function world(): World {
  const w = new World({ clock: new VirtualClock() });
  w.scheduler.checkLiveness();
  return w;
}

test("[SC-D2] demand is counted: work goes on until the last demander leaves", async () => {
  const w = world();
  w.set("a", 1);
  const node = w.computed("n", (read) => num(read("a")));
  w.watch("n");
  w.watch("n");
  w.watch("n", false);
  await w.scheduler.settle();
  expect([node.live, w.get("n")]).toEqual([true, 1]);
  w.watch("n", false);
  w.set("a", 2);
  await w.scheduler.settle();
  expect([node.live, w.get("n")]).toEqual([false, 1]);
  const { demandRootEnters, demandRootLeaves } = w.scheduler.stats;
  expect([demandRootEnters, demandRootLeaves]).toEqual([1, 1]);
});

test("[SC-D3] demand for a key that nobody writes yet reaches the writer that comes", async () => {
  const w = world();
  w.watch("n");
  await w.scheduler.idle();
  const node = w.computed("n", () => 5);
  await w.scheduler.idle();
  expect([node.live, w.get("n")]).toEqual([true, 5]);
});

test("[SC-D3] a reader follows a writer that registers after it read", async () => {
  const w = world();
  w.computed("reader", (read) => num(read("late")) + 1);
  w.watch("reader");
  await w.scheduler.settle();
  expect(w.get("reader")).toBe(1);
  w.computed("late", () => 41);
  await w.scheduler.settle();
  expect(w.get("reader")).toBe(42);
});

test("[SC-D7] a document is stale until its writer has run for what stands, and not without one", async () => {
  const w = world();
  const isStale = (key: string): boolean => w.scheduler.isStale(key as InstanceKey);
  w.set("a", 1);
  expect([isStale("a"), isStale("n")]).toEqual([false, false]);
  w.computed("mid", (read) => num(read("a")));
  const node = w.computed("n", (read) => num(read("mid")));
  expect([isStale("mid"), isStale("n")]).toEqual([true, true]);
  w.watch("n");
  await w.scheduler.settle();
  expect([isStale("mid"), isStale("n")]).toEqual([false, false]);
  // What is above what moved is stale too, with nobody there to run it.
  w.watch("n", false);
  w.set("a", 2);
  await w.scheduler.settle();
  expect([isStale("mid"), isStale("n"), isStale("a")]).toEqual([true, true, false]);
  w.scheduler.unregister(node);
  expect(isStale("n")).toBe(false);
});

test("[SC-D5] what a demanded node reads is live with it and no longer", async () => {
  const w = world();
  w.setAll({ flag: true, a: 1 });
  const input = w.computed("input", (read) => num(read("a")));
  w.computed("top", (read) => (read("flag") === true ? num(read("input")) : 0));
  w.watch("top");
  await w.scheduler.settle();
  expect(input.live).toBe(true);
  w.set("flag", false);
  await w.scheduler.settle();
  expect(input.live).toBe(false);
  w.ran();
  w.set("a", 2);
  await w.scheduler.settle();
  expect(w.ran()).toEqual([]);
  w.set("flag", true);
  await w.scheduler.settle();
  expect(w.get("top")).toBe(2);
});

test("[SC-D6] a cycle that nothing demands any more does not keep itself alive", async () => {
  const w = world();
  w.computed("a", (read) => (num(read("b")) > 0 ? 1 : 0));
  w.computed("b", (read) => (num(read("a")) > 0 ? 1 : 0));
  w.computed("top", (read) => num(read("a")));
  w.watch("top");
  await w.scheduler.settle();
  expect(w.scheduler.stats.live).toBe(3);
  w.watch("top", false);
  expect(w.scheduler.stats.live).toBe(0);
});

test("[SC-N1] an identity or a key that is taken is refused, and nothing of the refused node stays", () => {
  const w = world();
  w.computed("n", () => 1);
  for (const name of ["n", "m"]) {
    let error: unknown;
    try {
      w.computed(name, () => 2, { key: "n" });
    } catch (thrown) {
      error = thrown;
    }
    expect(isTidemarkError(error, "registration")).toBe(true);
  }
  expect(w.scheduler.stats.nodes).toBe(1);
});

test("[SC-N2] one action has a node per instance, found by its durable identity", async () => {
  const w = world();
  const ana = w.computed("n", () => 1, { key: "ana n", instance: "user:ana" });
  const bo = w.computed("n", () => 2, { key: "bo n", instance: "user:bo" });
  w.watch("ana n");
  await w.scheduler.settle();
  expect([ana.runs, bo.runs]).toEqual([1, 0]);
  expect(w.scheduler.node("n" as never, "user:bo" as never)).toBe(bo);
  w.scheduler.unregister(bo);
  w.scheduler.unregister(bo);
  expect(w.scheduler.node("n" as never, "user:bo" as never)).toBeUndefined();
});

test("[SC-O1] a parent that removes its child runs first, and the child does not run (SC-11)", async () => {
  const w = world();
  w.setAll({ keep: true, a: 1 });
  const parent = w.computed("parent", (read) => {
    if (read("keep") !== true) w.scheduler.unregister(child);
    return null;
  });
  const child = w.computed("child", (read) => num(read("a")), { parent });
  w.watch("child");
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["parent", "child"]);
  w.setAll({ a: 2, keep: false });
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["parent"]);
  expect(child.registered).toBe(false);
});

test("[SC-O1] a pull of a child runs its dirty parent first", () => {
  const w = world();
  w.setAll({ keep: true, a: 1 });
  const parent = w.computed("parent", (read) => {
    if (read("keep") !== true) w.scheduler.unregister(child);
    return null;
  });
  const child = w.computed("child", (read) => num(read("a")), { parent });
  expect(w.read("child")).toBe(1);
  w.ran();
  w.setAll({ a: 2, keep: false });
  w.read("child");
  expect(w.ran()).toEqual(["parent"]);
});

test("[SC-O2] unregistering takes the whole family along, and a gone parent takes no child", () => {
  const w = world();
  const parent = w.computed("p", () => 1);
  const child = w.computed("c", () => 2, { parent });
  const grandchild = w.computed("g", () => 3, { parent: child });
  w.watch("g");
  w.scheduler.unregister(parent);
  expect([parent, child, grandchild].map((node) => node.registered)).toEqual([false, false, false]);
  expect(w.scheduler.stats).toMatchObject({ nodes: 0, edges: 0, ports: 0, live: 0 });
  expect(() => w.computed("late", () => 4, { parent })).toThrow("unregistered");
});

test("[SC-O3] a node that unregisters itself still tells what it changed", async () => {
  const w = world();
  w.computed("reader", (read) => num(read("once")));
  w.watch("reader");
  await w.scheduler.settle();
  const once = w.computed("once", () => {
    w.scheduler.unregister(once);
    return 7;
  });
  await w.scheduler.settle();
  expect(w.get("reader")).toBe(7);
});

test("[SC-K1] a node subscribed as clean does not run until one of its recorded inputs moves", async () => {
  const w = world();
  w.setAll({ a: { x: 1 }, b: 2, top: 3 });
  const mid = w.computed("mid", (read) => num(read("a", ["x"])));
  const top = w.computed("top", (read) => num(read("mid")) + num(read("b")));
  const whole = (key: string) => ({ key: key as InstanceKey, path: [], kind: "value" as const });
  w.watch("top");
  // The reader first: it must not stay marked for an input that turns out to be clean.
  w.scheduler.subscribeClean(top, [whole("mid"), whole("b")]);
  w.scheduler.subscribeClean(mid, [whole("a")]);
  expect((await w.scheduler.settle()).ran).toBe(0);
  expect([mid.current, top.current, mid.live]).toEqual([true, true, true]);
  w.set("a", { x: 1, y: 1 });
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["mid", "top"]);
  w.set("a", { x: 1, y: 2 });
  await w.scheduler.settle();
  expect(w.ran()).toEqual([]);
});

test("[SC-K2] among 10,000 recovered nodes only the dependents of what changed run", async () => {
  const w = new World({ clock: new VirtualClock() });
  for (let i = 0; i < 10_000; i++) {
    w.set(`s${i}`, i);
    const node = w.computed(`n${i}`, (read) => num(read(`s${i}`)));
    w.watch(`n${i}`);
    if (i % 4_000 === 7) continue;
    w.scheduler.subscribeClean(node, [{ key: `s${i}` as InstanceKey, path: [], kind: "value" }]);
  }
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["n7", "n4007", "n8007"]);
});

test("[SC-K3] rearm runs a node whatever its inputs say", async () => {
  const w = world();
  const node = w.computed("n", () => 1);
  w.watch("n");
  await w.scheduler.settle();
  w.scheduler.rearm(node);
  await w.scheduler.settle();
  expect(node.runs).toBe(2);
});
