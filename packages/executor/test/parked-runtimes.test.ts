import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import {
  nodeIdFor,
  SPACE_SCOPE_KEY,
  StorageError,
  type Clock,
  type DocId,
  type HolderId,
  type SpaceId,
} from "@tidemark/protocol";
import type { Engine } from "@tidemark/memory-engine";
import { createTestServer } from "@tidemark/memory-engine/testing";
import { action, cell, computed, pattern } from "@tidemark/runtime";
import { ParkedRuntimes } from "../src/host/parked-runtimes.js";
import { SpaceStats } from "../src/stats/counters.js";
import type { KeptRuntime } from "../src/tenure/kept-runtime.js";
import { SpaceServer } from "../src/tenure/space-server.js";
import { lab } from "./support/patterns.js";
import { createWorld, nodeKey, tenureOptions, type World } from "./support/world.js";

beforeEach(() => lab.runs.clear());

const HOUR = 3_600_000;

/** Counts how often a piece of it is built. */
const tally = pattern({
  id: "tally",
  version: "1",
  build: () => {
    lab.ran("build");
    const n = cell("n", z.number(), { default: 0 });
    const double = computed("double", () => {
      lab.ran("double");
      return n.get() * 2;
    });
    const half = computed("half", () => {
      lab.ran("half");
      return n.get() / 2;
    });
    return { n, double, half, inc: action("inc", () => n.increment(1)) };
  },
});

interface Parked {
  readonly w: World;
  readonly piece: DocId;
  runtimes(): SpaceStats["parkedRuntimes"];
  visit(names?: readonly string[]): Promise<void>;
  leave(): Promise<void>;
}

async function world(policy2 = {}, dir?: string): Promise<Parked> {
  const w = await createWorld({
    patterns: [tally],
    policy2,
    ...(dir === undefined ? {} : { dir }),
  });
  const piece = await w.create(tally);
  return {
    w,
    piece,
    runtimes: () => w.host.spaceStats(w.space).parkedRuntimes,
    async visit(names = ["double"]) {
      await w.open(w.owner, piece, names);
      await w.settle();
    },
    async leave() {
      await w.owner.call("space.close", { space: w.space });
      await w.t.clock.advance(31_000);
      expect(w.host.isActive(w.space)).toBe(false);
    },
  };
}

describe("an idle park", () => {
  test("[EX-I1] keeps its runtime, and the next tenure serves with it as it stands", async () => {
    const { w, piece, runtimes, visit, leave } = await world();
    await visit();
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.settle();
    await leave();
    expect(w.t.engines.get(w.space)?.lease.current()).toBeUndefined();
    expect(runtimes()).toEqual({ retained: 1, reused: 0, discarded: 0, held: 1 });
    lab.runs.clear();
    // Whose node it is the runtime knows: the store is not asked again.
    const asked = vi.spyOn(w.t.engines.get(w.space) as Engine, "pieceOf");
    await visit();
    expect(runtimes()).toEqual({ retained: 1, reused: 1, discarded: 0, held: 0 });
    expect([...lab.runs]).toEqual([]);
    const e2 = await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect(asked).not.toHaveBeenCalled();
    expect([w.value(piece, "n"), w.value(piece, "double")]).toEqual([2, 4]);
    expect([w.naming(e1), w.naming(e2)]).toEqual([1, 1]);
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await leave();
    await visit();
    expect(runtimes()).toEqual({ retained: 2, reused: 2, discarded: 0, held: 0 });
    await w.stop();
  });

  test("[EX-I2] with a retention or a limit of 0 none is kept", async () => {
    for (const policy of [{ parkedRuntimeRetentionMs: 0 }, { maxParkedRuntimes: 0 }]) {
      const { w, runtimes, visit, leave } = await world(policy);
      await visit();
      await leave();
      expect(runtimes()).toEqual({ retained: 0, reused: 0, discarded: 0, held: 0 });
      lab.runs.clear();
      await visit();
      expect(lab.runs.get("build")).toBe(1);
      await w.stop();
    }
  });

  test("[EX-I3] lets a runtime go when its time is over, and closes the store with it", async () => {
    const { w, runtimes, visit, leave } = await world({ parkedRuntimeRetentionMs: HOUR });
    await visit();
    await leave();
    expect(w.t.server.stats().openSpaces).toBe(1);
    await w.t.clock.advance(HOUR - 2_000);
    expect(runtimes().held).toBe(1);
    await w.t.clock.advance(2_000);
    expect(runtimes()).toEqual({ retained: 1, reused: 0, discarded: 1, held: 0 });
    expect(w.t.server.stats().openSpaces).toBe(0);
    expect(w.t.clock.pendingTimers()).toBe(0);
    await w.stop();
  });

  test("[EX-I3] turns down one that is past its time though its timer has not fired", async () => {
    const { w, runtimes, visit, leave } = await world({ parkedRuntimeRetentionMs: HOUR });
    await visit();
    await leave();
    // The process did nothing for two hours: the session is there before the overdue timer.
    w.t.clock.spend(2 * HOUR);
    await w.owner.call("space.open", { space: w.space, watches: [] });
    expect(runtimes()).toEqual({ retained: 1, reused: 0, discarded: 1, held: 0 });
    await w.stop();
  });

  test("[EX-I5] a commit of this process turns the kept runtime down, and the successor derives it", async () => {
    const { w, piece, runtimes, visit, leave } = await world();
    await visit();
    await leave();
    w.t.gates.hold("activate:after-lease");
    await w.open(w.owner, piece, ["double"]);
    await w.t.run();
    expect(runtimes().held).toBe(1);
    await w.write(w.owner, piece, "n", 7);
    expect(runtimes()).toEqual({ retained: 1, reused: 0, discarded: 1, held: 0 });
    w.t.gates.open();
    await w.settle();
    expect(w.value(piece, "double")).toBe(14);
    expect(runtimes().reused).toBe(0);
    await w.stop();
  });

  test("[EX-I5] so does a commit of another process, which this one's memory server never admitted", async () => {
    const dir = mkdtempSync(join(tmpdir(), "tidemark-"));
    const { w, piece, runtimes, visit, leave } = await world({}, dir);
    await visit();
    await leave();
    const other = createTestServer({ clock: w.t.clock, dir, seed: 9 });
    const ben = await other.connected("ben");
    other.server.space(w.space);
    await ben.call("space.open", { space: w.space, watches: [] });
    const answer = await ben.commit(w.space, {
      ops: [{ op: "set", id: nodeIdFor(piece, "n"), value: 7 }],
    });
    expect(answer).toMatchObject({ ok: true });
    expect(runtimes().held).toBe(1);
    await visit();
    expect(runtimes()).toEqual({ retained: 1, reused: 0, discarded: 1, held: 0 });
    expect(w.value(piece, "double")).toBe(14);
    await other.stop();
    await w.stop();
    rmSync(dir, { recursive: true });
  });

  test("[EX-I5] so does a commit that the feed has not told of", async () => {
    const { w, piece, runtimes, visit, leave } = await world();
    await visit();
    await leave();
    const id = nodeIdFor(piece, "n");
    w.t.engines.get(w.space)?.transact((tx) => {
      tx.write({ id, scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value: 7 } });
      tx.commit({ class: "system" });
    });
    expect(runtimes().held).toBe(1);
    await visit();
    expect(runtimes()).toEqual({ retained: 1, reused: 0, discarded: 1, held: 0 });
    expect(w.value(piece, "double")).toBe(14);
    await w.stop();
  });

  test("[EX-I8] keeps nothing where input came while it was under way", async () => {
    const { w, piece, runtimes, visit } = await world();
    await visit();
    w.t.gates.hold("park:before");
    await w.owner.call("space.close", { space: w.space });
    await w.t.clock.advance(40_000);
    await w.fire(w.owner, piece, "inc");
    w.t.gates.open();
    await w.settle();
    expect(w.value(piece, "n")).toBe(1);
    expect(runtimes()).toEqual({ retained: 0, reused: 0, discarded: 0, held: 0 });
    await w.stop();
  });

  test("[EX-I8] nor where the lease ran out under it, nor at any other end of a tenure", async () => {
    const { w, piece, runtimes, visit } = await world();
    await visit();
    w.t.gates.hold("park:before");
    w.t.gates.hold("lease:before-renew", { times: 10 });
    await w.owner.call("space.close", { space: w.space });
    await w.t.clock.advance(60_000);
    w.t.gates.open();
    await w.settle();
    await visit();
    w.t.gates.fail("wave:before-commit", () => new StorageError("disk on fire", { kind: "io" }));
    await w.fire(w.owner, piece, "inc");
    await w.settle(5_000);
    const stopping = w.host.stop();
    await w.t.clock.advance(10_000);
    await stopping;
    expect(runtimes()).toEqual({ retained: 0, reused: 0, discarded: 0, held: 0 });
    await w.t.stop();
  });

  test("[EX-I9] leaves all it demanded, warm demand included: what is served next is the successor's demand", async () => {
    const { w, piece, runtimes, visit, leave } = await world();
    w.host.warm(w.space, [nodeKey(piece, "half")]);
    await visit(["double"]);
    expect(w.host.spaceStats(w.space).demand.demandedWriters).toBe(2);
    await leave();
    expect(w.host.spaceStats(w.space).demand).toMatchObject({
      demandedRows: 0,
      demandedInstances: 0,
      demandedPairs: 0,
      demandedWriters: 0,
      demandRootEnters: 2,
      demandRootLeaves: 2,
    });
    lab.runs.clear();
    await visit(["double"]);
    await w.write(w.owner, piece, "n", 8);
    await w.settle();
    expect(runtimes().reused).toBe(1);
    expect([w.value(piece, "double"), w.value(piece, "half")]).toEqual([16, 0]);
    expect(lab.runs.get("half")).toBeUndefined();
    await w.stop();
  });

  test("[EX-I10] a dispose that hangs is abandoned at the deadline, and the space is served meanwhile", async () => {
    const { w, piece, runtimes, visit, leave } = await world({ parkedRuntimeRetentionMs: HOUR });
    await visit();
    await leave();
    w.t.gates.hold("dispose:before");
    await w.t.clock.advance(HOUR);
    expect(w.t.gates.waiting("dispose:before")).toBe(1);
    await visit();
    await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect(w.value(piece, "double")).toBe(2);
    await w.t.clock.advance(5_000);
    expect(w.host.spaceStats(w.space).disposeTimeouts).toBe(1);
    expect(runtimes()).toEqual({ retained: 1, reused: 0, discarded: 1, held: 0 });
    await w.stop();
  });

  test("[EX-I11] a host that closes lets its kept runtimes go: what was retained was reused, discarded or is held", async () => {
    const { w, runtimes, visit, leave } = await world();
    await visit();
    await leave();
    await visit();
    await leave();
    await w.stop();
    expect(runtimes()).toEqual({ retained: 2, reused: 1, discarded: 1, held: 0 });
  });

  test("[EX-I11] one that a tenure took and lost the lease with before it served counts as discarded", async () => {
    const { w, piece, runtimes, visit, leave } = await world();
    await visit();
    await leave();
    const engine = w.t.engines.get(w.space);
    if (engine === undefined) throw new Error("the space has no store");
    const renew = engine.lease.renew.bind(engine.lease);
    let refused = 1;
    Object.assign(engine.lease, {
      renew: (holder: HolderId, ttlMs: number) => (refused-- > 0 ? false : renew(holder, ttlMs)),
    });
    await w.open(w.owner, piece, ["double"]);
    await w.settle(5_000);
    expect(runtimes()).toEqual({ retained: 1, reused: 0, discarded: 1, held: 0 });
    expect(w.host.isActive(w.space)).toBe(true);
    await w.stop();
  });
});

describe("a kept runtime", () => {
  async function kept(): Promise<{ w: World; piece: DocId; runtime: KeptRuntime }> {
    const w = await createWorld({ patterns: [tally], started: false });
    const piece = await w.create(tally);
    await w.open(w.owner, piece, ["double"]);
    const server = new SpaceServer(tenureOptions(w.t, w.space, [tally]));
    const running = server.run();
    await w.t.run();
    await w.owner.call("space.close", { space: w.space });
    await w.t.clock.advance(31_000);
    const { kept: runtime } = await running;
    if (runtime === undefined) throw new Error("the park offered nothing");
    return { w, piece, runtime };
  }

  test("[EX-I6] never commits: what it closes is refused and taints it", async () => {
    const { w, piece, runtime } = await kept();
    let taints = 0;
    runtime.watch(() => (taints += 1));
    const parts = runtime.take();
    const head = w.head();
    const key = nodeKey(piece, "n");
    parts.scheduler.notify([{ key, before: 0, after: 3 }], "external");
    expect(taints).toBe(0);
    parts.scheduler.pull(nodeKey(piece, "double"));
    expect(taints).toBe(1);
    expect(parts.accumulator.open.isEmpty).toBe(true);
    expect(w.head()).toBe(head);
    expect(runtime.fits(w.t.server.space(w.space))).toBe(false);
    await w.stop();
  });

  test("[EX-I6] a refusal while the park is under way keeps it from being offered", async () => {
    const { w, piece, runtime } = await kept();
    const parts = runtime.take();
    let live = true;
    const hooks = {
      wake: () => undefined,
      live: () => live,
      staying: () => live,
      onYield: () => undefined,
      confirmLease: () => true,
      leaseLives: () => true,
    };
    parts.enter(hooks);
    await parts.loop.cycle();
    expect(parts.atRest).toBe(true);
    live = false;
    parts.scheduler.notify([{ key: nodeKey(piece, "n"), before: 0, after: 3 }], "external");
    parts.scheduler.pull(nodeKey(piece, "double"));
    expect(parts.atRest).toBe(false);
    await w.stop();
  });

  test("[EX-I7] is tainted by a document it loads, by a commit it is told of, and by work that wakes it", async () => {
    const load = await kept();
    let taints = 0;
    const told = (): void => void (taints += 1);
    load.runtime.watch(told);
    load.runtime.take().replica.get(nodeKey(load.piece, "nobody read this"));
    expect(taints).toBe(1);
    await load.w.stop();

    const commit = await kept();
    commit.runtime.watch(told);
    await commit.w.write(commit.w.owner, commit.piece, "n", 1);
    expect(taints).toBe(2);
    await commit.w.stop();

    const work = await kept();
    work.runtime.watch(told);
    work.runtime.take().scheduler.queueEvent({ id: "x", run: () => undefined });
    expect(taints).toBe(3);
    await work.w.stop();
  });

  test("[EX-I3] is over when its timer fires, though the clock may say a fraction less", async () => {
    const { w, runtime } = await kept();
    const stats = new SpaceStats();
    const timers: (() => void)[] = [];
    let now = 0.1;
    const clock: Clock = {
      now: () => now,
      monotonic: () => now,
      immediate: (fn) => w.t.clock.immediate(fn),
      timer: (_ms, fn) => {
        timers.push(fn);
        return { cancel: () => undefined };
      },
    };
    const parked = pool(w, () => stats, { clock });
    parked.keep(runtime);
    now = HOUR;
    timers.at(-1)?.();
    expect(stats.parkedRuntimes).toEqual({ retained: 1, reused: 0, discarded: 1, held: 0 });
    await w.stop();
  });

  test("[EX-I7] is disposed at once where it was tainted before the host took it", async () => {
    const { w, piece, runtime } = await kept();
    await w.write(w.owner, piece, "n", 1);
    const stats = new SpaceStats();
    const parked = pool(w, () => stats);
    parked.keep(runtime);
    expect(stats.parkedRuntimes).toEqual({ retained: 1, reused: 0, discarded: 1, held: 0 });
    await w.stop();
  });

  function pool(
    w: World,
    stats: (space: SpaceId) => SpaceStats,
    { clock = w.t.clock }: { readonly clock?: Clock } = {},
  ): ParkedRuntimes {
    return new ParkedRuntimes({
      clock,
      retentionMs: HOUR,
      limit: 8,
      stats,
      onDisposed: () => undefined,
    });
  }
});

describe("the host's runtimes", () => {
  test("[EX-I4] beyond the limit the longest-kept goes first, and a use counts as a new beginning", async () => {
    const w = await createWorld({ patterns: [tally], policy2: { maxParkedRuntimes: 2 } });
    const spaces: SpaceId[] = [];
    for (const name of ["a", "b", "c"]) spaces.push(await w.t.space(name, w.owner));
    const visit = async (space: SpaceId): Promise<void> => {
      await w.owner.call("space.open", { space, watches: [] });
      await w.settle();
      await w.owner.call("space.close", { space });
      await w.t.clock.advance(31_000);
    };
    const [a, b, c] = spaces as [SpaceId, SpaceId, SpaceId];
    await visit(a);
    await visit(b);
    await visit(a);
    await visit(c);
    const held = spaces.map((space) => w.host.spaceStats(space).parkedRuntimes);
    expect(held.map((one) => one.held)).toEqual([1, 0, 1]);
    expect(held.map((one) => one.discarded)).toEqual([0, 1, 0]);
    expect(w.host.stats().parkedRuntimes).toEqual({
      retained: 4,
      reused: 1,
      discarded: 1,
      held: 2,
    });
    await w.stop();
  });

  test("[EX-I12] many spaces parked leave the limit's worth of stores open, and one timer", async () => {
    const w = await createWorld({ patterns: [tally], policy2: { maxParkedRuntimes: 3 } });
    const spaces: SpaceId[] = [];
    for (let at = 0; at < 12; at += 1) spaces.push(await w.t.space(`s${at}`, w.owner));
    for (const space of spaces) await w.owner.call("space.open", { space, watches: [] });
    await w.t.run();
    for (const space of spaces) await w.owner.call("space.close", { space });
    await w.t.clock.advance(31_000);
    // Beside the kept ones the world's own, which nobody has served.
    expect(w.t.server.stats().openSpaces).toBe(4);
    expect(w.t.clock.pendingTimers()).toBe(1);
    await w.t.clock.advance(600_000);
    expect(w.t.server.stats().openSpaces).toBe(1);
    expect(w.t.clock.pendingTimers()).toBe(0);
    await w.stop();
  });
});
