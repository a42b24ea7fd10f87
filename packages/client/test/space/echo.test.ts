import { action, cell, computed, pattern } from "@tidemark/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { record, served, set, World } from "../support/world.js";

test("[CL-E1] a fired event shows at once, commits its append alone, and its echo retires with the consequence", async () => {
  const { world, space, piece } = await served();
  const seen = record(piece.get("count"));
  const doubles = record(piece.get("double"));
  const before = world.server.server.space(world.space).engine.head();
  const fired = piece.fire("inc");
  await fired.echoed;
  expect([piece.get("count").value, piece.get("double").value]).toEqual([1, 2]);
  await world.run();
  expect(world.server.server.space(world.space).engine.head()).toBe(before + 1);
  expect([world.stored("count"), space.queued, fired.outcome]).toEqual([undefined, 0, undefined]);
  expect(space.speculative).toBe(2);
  await world.serve({ events: [fired], writes: { count: set(1), double: set(2) } });
  expect(fired.outcome).toEqual({ kind: "consequenced" });
  expect(space.speculative).toBe(0);
  expect([seen, doubles]).toEqual([
    [0, 1],
    [0, 2],
  ]);
  expect(world.errors).toEqual([]);
});

test("[CL-E2] the value that the server made wins over the echo, in one step", async () => {
  const { world, piece, space } = await served();
  const fired = piece.fire("bump");
  await world.run();
  const seen = record(piece.get("count"));
  await world.serve({ events: [fired], writes: { count: set(4), double: set(8) } });
  expect([seen, piece.get("double").value, space.speculative]).toEqual([[1, 4], 8, 0]);
});

test("[CL-E3] an event that errored, dropped or was refused takes its echo along and says so", async () => {
  const { world, piece, space } = await served();
  for (const status of ["errored", "dropped", "refused", "needs-attention"] as const) {
    const fired = piece.fire("inc");
    await world.run();
    expect(piece.get("count").value).toBe(1);
    await world.serve({ events: [fired], status, error: "no luck" });
    expect(fired.outcome).toMatchObject({ kind: status, reason: "no luck" });
    await expect(fired.result()).rejects.toMatchObject({ kind: status, reason: "no luck" });
    expect([piece.get("count").value, space.speculative]).toEqual([0, 0]);
  }
});

test("[CL-E4] open echoes run anew on what arrives in the meantime, in order", async () => {
  const { world, piece } = await served();
  const b1 = world.client("ben", "t1");
  await world.run();
  const other = world.open(b1).piece;
  await world.run();
  const seen = record(piece.get("count"));
  const first = piece.fire("bump");
  const second = piece.fire("bump");
  await world.run();
  void other.set("count", 10);
  await world.run();
  expect([seen, piece.get("double").value]).toEqual([[0, 1, 2, 12], 24]);
  await world.serve({ events: [first], writes: { count: set(11), double: set(22) } });
  await world.serve({ events: [second], writes: { count: set(12), double: set(24) } });
  expect(seen).toEqual([0, 1, 2, 12]);
});

test("[CL-E5] an echo that throws is silent: the served outcome is the answer, and the echo tries again", async () => {
  const { world, piece } = await served();
  const b1 = world.client("ben", "t1");
  await world.run();
  const other = world.open(b1).piece;
  await world.run();
  const fired = piece.fire("failIfZero");
  await world.run();
  expect([piece.get("count").value, fired.outcome, world.errors]).toEqual([0, undefined, []]);
  void other.set("count", 5);
  await world.run();
  expect(piece.get("count").value).toBe(6);
  await world.serve({ events: [fired], writes: { count: set(6), double: set(12) } });
  expect(fired.outcome).toEqual({ kind: "consequenced" });
});

test("[CL-E6] what follows from an edit shows at once and stays until the server's value has come", async () => {
  const { world, piece, space } = await served();
  const doubles = record(piece.get("double"));
  const counts = record(piece.get("count"));
  void piece.set("count", 5);
  await world.run();
  expect([piece.get("count").value, piece.get("double").value]).toEqual([5, 10]);
  expect([world.stored("count"), world.stored("double")]).toEqual([5, 0]);
  expect(space.speculative).toBe(1);
  await world.serve({ writes: { double: set(10) } });
  expect([doubles, counts, space.speculative]).toEqual([[0, 10], [0, 5], 0]);
});

test("[CL-E7] a reload forgets the echo and shows the store, then the consequence", async () => {
  const { world, a1, piece } = await served();
  const fired = piece.fire("inc");
  await world.run();
  a1.drop();
  const again = world.client("alice", "s1");
  await world.run();
  const reopened = world.open(again);
  await world.run();
  expect([reopened.piece.get("count").value, again.speculative]).toEqual([0, 0]);
  await world.serve({ events: [fired], writes: { count: set(1), double: set(2) } });
  expect(reopened.piece.get("count").value).toBe(1);
});

test("[CL-E8] echoes of what an echo sent end with their root, whatever ids the server minted", async () => {
  const { world, piece, space } = await served();
  const fired = piece.fire("relay");
  await world.run();
  expect(piece.get("count").value).toBe(1);
  await world.serve({ events: [fired], writes: { count: set(1), double: set(2) } });
  expect([piece.get("count").value, space.speculative]).toEqual([1, 0]);
});

test("[CL-E9] a handler's echo reads a computed as of now, its own earlier echoes included", async () => {
  const { world, piece } = await served();
  piece.fire("inc");
  piece.fire("fromDouble");
  await world.run();
  expect(piece.get("count").value).toBe(3);
});

test("[CL-E10] a list is shown without doubles or gaps at every step of append, frame and end", async () => {
  const { world, piece } = await served();
  void piece.set("items", ["x", "y"]);
  await world.run();
  await world.serve({});
  const seen = record(piece.get("items"));
  const z = piece.fire("add", "z");
  const w = piece.fire("add", "w");
  await world.run();
  await world.serve({ events: [z], writes: { items: set(["x", "y", "z"]) } });
  await world.serve({ events: [w], writes: { items: set(["x", "y", "z", "w"]) } });
  expect(seen).toEqual([
    ["x", "y"],
    ["x", "y", "z"],
    ["x", "y", "z", "w"],
  ]);
});

test("[CL-E11] subscribers see values of one moment: no frame or echo is ever half shown", async () => {
  const { world, piece } = await served();
  const pairs: (readonly [unknown, unknown])[] = [];
  const look = (): void => void pairs.push([piece.get("count").value, piece.get("double").value]);
  piece.get("count").subscribe(look);
  piece.get("double").subscribe(look);
  for (let n = 1; n <= 3; n += 1) {
    const fired = piece.fire("inc");
    await world.run();
    await world.serve({ events: [fired], writes: { count: set(n), double: set(2 * n) } });
  }
  void piece.set("count", 50);
  await world.run();
  expect(pairs.length).toBeGreaterThan(4);
  for (const [count, double] of pairs) expect(double).toBe(2 * (count as number));
  expect(pairs.map(([count]) => count as number)).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 50, 50]);
});

test("[CL-E12] a user's or session's own cell that was never written reads as its default, not as pending", async () => {
  const { world, piece } = await served();
  expect([piece.get("draft").value, piece.get("draft").pending]).toEqual(["", false]);
  piece.fire("type", "hello");
  await world.run();
  expect(piece.get("draft").value).toBe("hello");
  const a2 = world.client("alice", "s2");
  await world.run();
  const other = world.open(a2).piece;
  await world.run();
  expect(other.get("draft").value).toBe("");
});

test("[CL-E13] a subscriber that throws keeps nobody else from being told", async () => {
  const { world, piece } = await served();
  let told = 0;
  piece.get("count").subscribe((value) => {
    if (value !== 0) throw new Error("mine");
  });
  piece.get("count").subscribe(() => (told += 1));
  piece.fire("inc");
  await world.run();
  expect(told).toBe(2);
  expect(world.errors).toMatchObject([{ message: "mine" }]);
});

/** A pattern that counts its own runs in this process. */
function counting(): {
  readonly runs: { computed: number; handler: number };
  readonly module: ReturnType<typeof build>;
} {
  const runs = { computed: 0, handler: 0 };
  return { runs, module: build(runs) };
}

function build(runs: { computed: number; handler: number }) {
  return pattern({
    id: "counting",
    version: "1",
    build: () => {
      const n = cell("n", z.number(), { default: 0 });
      const other = cell("other", z.number(), { default: 0 });
      const plus = computed("plus", () => {
        runs.computed += 1;
        return n.get() + 1;
      });
      const up = action("up", () => {
        runs.handler += 1;
        n.set(n.get() + 1);
      });
      return { n, other, plus, up };
    },
  });
}

async function setupCounting() {
  const world = new World();
  const a1 = world.client("alice", "s1");
  await world.found(a1);
  world.open(a1);
  await world.run();
  await world.serve({ writes: { double: set(0) } });
  const { runs, module } = counting();
  const space = a1.open(world.space);
  const { piece } = space.create(module, {}, { cause: "counting" });
  world.piece = piece.id;
  await world.run();
  await world.serve({ writes: { plus: set(1) } });
  runs.computed = 0;
  return { world, space, piece, runs };
}

test("[CL-E14] frames alone make the client derive nothing", async () => {
  const { world, piece, runs, space } = await setupCounting();
  for (let n = 1; n <= 5; n += 1) {
    await world.serve({ writes: { n: set(n), plus: set(n + 1) } });
  }
  expect([piece.get("plus").value, runs.computed, space.speculative]).toEqual([6, 0, 0]);
});

test("[CL-E15] a standing echo is not retired and derived again as W moves: runs stay bounded", async () => {
  const { world, piece, runs, space } = await setupCounting();
  void piece.set("n", 7);
  await world.run();
  const before = runs.computed;
  expect(before).toBeLessThanOrEqual(2);
  // W covers the edit, and the server never serves "plus".
  for (let n = 0; n < 20; n += 1) await world.serve({ writes: { other: set(n) } });
  expect(piece.get("plus").value).toBe(8);
  expect(runs.computed).toBe(before);
  expect(space.speculative).toBe(1);
});

test("[CL-E16] an open echo is run again only when something it read has moved", async () => {
  const { world, piece, runs } = await setupCounting();
  piece.fire("up");
  await world.run();
  expect(runs.handler).toBe(1);
  for (let n = 0; n < 5; n += 1) await world.serve({ writes: { other: set(n) } });
  expect(runs.handler).toBe(1);
  await world.serve({ writes: { n: set(40) } });
  expect([runs.handler, piece.get("n").value, piece.get("plus").value]).toEqual([2, 41, 42]);
});

test("[CL-E16] an echo that only adds is not run again when what it adds to has moved", async () => {
  let runs = 0;
  const world = new World();
  const a1 = world.client("alice", "s1");
  await world.found(a1);
  const adding = pattern({
    id: "adding",
    version: "1",
    build: () => {
      const n = cell("n", z.number(), { default: 0 });
      const add = action("add", () => {
        runs += 1;
        n.increment();
      });
      return { n, add };
    },
  });
  const { piece } = a1.open(world.space).create(adding, {}, { cause: "adding" });
  world.piece = piece.id;
  await world.run();
  await world.serve({ writes: { n: set(0) } });
  piece.fire("add");
  piece.fire("add");
  await world.run();
  expect([runs, piece.get("n").value]).toEqual([2, 2]);
  await world.serve({ writes: { n: set(40) } });
  expect([runs, piece.get("n").value]).toEqual([2, 42]);
});

test("[CL-E17] an asynchronous handler echoes within its budget, and holds nothing up beyond it", async () => {
  const world = new World();
  const a1 = world.client("alice", "s1");
  await world.found(a1);
  const slow = pattern({
    id: "slow",
    version: "1",
    build: () => {
      const n = cell("n", z.number(), { default: 0 });
      const soon = action("soon", async (ctx) => {
        await Promise.resolve();
        ctx.cell(n).set(1);
      });
      const never = action("never", () => new Promise(() => undefined));
      return { n, soon, never };
    },
  });
  const { piece } = a1.open(world.space).create(slow, {}, { cause: "slow" });
  await world.run();
  await piece.fire("soon").echoed;
  expect(piece.get("n").value).toBe(1);
  const stuck = piece.fire("never");
  await world.run();
  void piece.set("n", 5);
  await world.run();
  expect(piece.get("n").value).toBe(1);
  await world.clock.advance(50);
  expect(piece.get("n").value).toBe(5);
  await stuck.echoed;
});
