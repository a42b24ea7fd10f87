import type { InstanceKey, JsonValue } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import { World } from "../../src/testing/index.js";

function world(): World {
  const w = new World({ clock: new VirtualClock() });
  w.scheduler.checkLiveness();
  return w;
}

async function ranAfter(w: World, change: () => void): Promise<string[]> {
  await w.scheduler.settle();
  w.ran();
  change();
  await w.scheduler.settle();
  return w.ran().sort();
}

test("[SC-I1] a change wakes the readers of the paths it touched, above and below, and no others", async () => {
  const w = world();
  w.set("doc", { a: { x: 1, y: 2 }, b: 3 });
  const paths = { whole: [], a: ["a"], ax: ["a", "x"], ay: ["a", "y"], b: ["b"], none: ["c", "d"] };
  for (const [name, path] of Object.entries(paths)) {
    w.computed(name, (read) => read("doc", path) ?? null);
    w.watch(name);
  }
  const to = (value: JsonValue) => ranAfter(w, () => w.set("doc", value));
  expect(await to({ a: { x: 9, y: 2 }, b: 3 })).toEqual(["a", "ax", "whole"]);
  expect(await to({ a: { x: 9, y: 2 }, b: 4 })).toEqual(["b", "whole"]);
  expect(await to({ a: { x: 9, y: 2 }, b: 4, c: { d: 1 } })).toEqual(["none", "whole"]);
  expect(await to({ a: 1, b: 4, c: { d: 1 } })).toEqual(["a", "ax", "ay", "whole"]);
  expect(await to({ b: 4, c: { d: 1 }, a: 1 })).toEqual([]);
});

test("[SC-I2] a read of the outline sees keys, length and type, not values (ADM-03)", async () => {
  const w = world();
  w.set("doc", { list: [1, 2], map: { k: 1 } });
  w.computed("length", (read) => {
    const list = read("doc", ["list"], "shape");
    return Array.isArray(list) ? list.length : 0;
  });
  w.computed("keys", (read) => Object.keys((read("doc", ["map"], "shape") ?? {}) as object));
  w.watch("length");
  w.watch("keys");
  const to = (value: JsonValue) => ranAfter(w, () => w.set("doc", value));
  expect(await to({ list: [1, 3], map: { k: 2 } })).toEqual([]);
  expect(await to({ list: [1, 3, 4], map: { k: 2 } })).toEqual(["length"]);
  expect(await to({ list: [1, 3, 4], map: { j: 2 } })).toEqual(["keys"]);
});

test("[SC-I3] a write that says where it wrote looks at no other of 10,000 readers", async () => {
  const w = new World({ clock: new VirtualClock() });
  const rows: Record<string, number> = {};
  for (let i = 0; i < 10_000; i++) rows[`r${i}`] = i;
  w.set("doc", rows);
  for (let i = 0; i < 10_000; i++) {
    w.computed(`n${i}`, (read) => read("doc", [`r${i}`]) ?? null);
    w.watch(`n${i}`);
  }
  await w.scheduler.settle();
  w.ran();
  let looked = 0;
  const counted = new Proxy(
    { ...rows, r77: -1 },
    {
      getOwnPropertyDescriptor(target, key) {
        looked++;
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
    },
  );
  w.set("doc", counted, [["r77"]]);
  await w.scheduler.settle();
  expect(w.ran()).toEqual(["n77"]);
  // One look to find the change; the run's own read takes the other.
  expect(looked).toBeLessThanOrEqual(3);
});

test("[SC-I3] without a hint, branches that are the same object are skipped", async () => {
  const w = world();
  const left = { deep: { x: 1 } };
  w.set("doc", { left, right: { y: 1 } });
  let touched = 0;
  const watched = new Proxy(left, {
    getOwnPropertyDescriptor(target, key) {
      touched++;
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
  w.set("doc", { left: watched, right: { y: 1 } });
  w.computed("l", (read) => read("doc", ["left", "deep", "x"]) ?? null);
  w.computed("r", (read) => read("doc", ["right", "y"]) ?? null);
  w.watch("l");
  w.watch("r");
  await w.scheduler.settle();
  touched = 0;
  expect(await ranAfter(w, () => w.set("doc", { left: watched, right: { y: 2 } }))).toEqual(["r"]);
  expect(touched).toBe(0);
});

test("[SC-I4] segments are data: `__proto__` and `constructor` are keys like any other", async () => {
  const w = world();
  w.set("doc", {});
  w.computed("c", (read) => read("doc", ["constructor"]) === undefined);
  w.watch("c");
  await w.scheduler.settle();
  expect(w.get("c")).toBe(true);
  const own = JSON.parse('{"__proto__":1}') as JsonValue;
  w.computed("p", (read) => read("doc", ["__proto__"]) ?? null);
  w.watch("p");
  expect(await ranAfter(w, () => w.set("doc", own))).toEqual(["p"]);
  expect(w.get("p")).toBe(1);
});

test("[SC-I5] ports, documents, edges and nodes return to where they were (WV-11)", async () => {
  const w = world();
  w.setAll({ flag: true, x: 1, y: 2 });
  w.computed("n", (read) => (read("flag") === true ? (read("x") ?? 0) : (read("y") ?? 0)));
  w.watch("n");
  await w.scheduler.settle();
  const before = w.scheduler.stats;
  for (let i = 0; i < 10_000; i++) {
    w.set("flag", i % 2 === 1);
    await w.scheduler.settle();
  }
  const { nodes, edges, ports, documents, live } = w.scheduler.stats;
  expect({ nodes, edges, ports, documents, live }).toMatchObject({
    nodes: before.nodes,
    edges: before.edges,
    ports: before.ports,
    documents: before.documents,
    live: before.live,
  });
});

test("[SC-I5] a list node that makes 10,000 children and drops them leaves nothing (WV-11)", async () => {
  const w = new World({ clock: new VirtualClock() });
  w.set("list", []);
  const made = new Map<string, ReturnType<World["computed"]>>();
  const list = w.computed("all", (read) => {
    const items = (read("list") ?? []) as readonly string[];
    const wanted = new Set(items);
    for (const [item, handle] of made) {
      if (wanted.has(item)) continue;
      w.scheduler.unregister(handle);
      made.delete(item);
    }
    for (const item of items) {
      if (made.has(item)) continue;
      made.set(
        item,
        w.computed(`child ${item}`, (get) => get("list", [0]) ?? null, { parent: list }),
      );
      w.watch(`child ${item}`);
    }
    return items.length;
  });
  w.watch("all");
  await w.scheduler.settle();
  const before = w.scheduler.stats;
  const items = Array.from({ length: 10_000 }, (_, i) => `i${i}`);
  w.set("list", items);
  await w.scheduler.settle();
  expect(w.scheduler.stats.nodes).toBe(before.nodes + 10_000);
  w.set("list", []);
  await w.scheduler.settle();
  for (const item of items) w.watch(`child ${item}`, false);
  const { nodes, edges, ports, documents, live, queued } = w.scheduler.stats;
  expect({ nodes, edges, ports, documents, live, queued }).toEqual({
    nodes: before.nodes,
    edges: before.edges,
    ports: before.ports,
    documents: before.documents,
    live: before.live,
    queued: 0,
  });
});

test("[SC-I6] after a withdrawn branch change the node follows the branch that holds (WV-11)", async () => {
  const w = world();
  w.setAll({ flag: false, x: 1, y: 2 });
  w.computed("n", (read) => (read("flag") === true ? (read("x") ?? 0) : (read("y") ?? 0)));
  w.watch("n");
  await w.scheduler.settle();
  w.set("flag", true);
  await w.scheduler.settle();
  w.withdraw("flag", false);
  await w.scheduler.settle();
  w.set("y", 3);
  await w.scheduler.settle();
  expect(w.get("n")).toBe(3);
});

test("[SC-I7] notifying of a document nobody reads costs nothing and keeps nothing", () => {
  const w = world();
  w.scheduler.notify([{ key: "space nobody" as InstanceKey, before: 1, after: 2 }], "external");
  expect(w.scheduler.stats.documents).toBe(0);
});
