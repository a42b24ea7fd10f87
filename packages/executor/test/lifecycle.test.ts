import { beforeEach, describe, expect, test } from "vitest";
import { seededRandom, StorageError, type HolderId, type SpaceId } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { createTestServer } from "@tidemark/memory-engine/testing";
import { PatternRegistry } from "@tidemark/runtime";
import { ExecutorHost } from "../src/index.js";
import type { TenureHooks } from "../src/tenure/binding.js";
import { TenureParts } from "../src/tenure/parts.js";
import { chain, counter, lab } from "./support/patterns.js";
import { createHost, createWorld, nodeKey, tenureOptions, type World } from "./support/world.js";

beforeEach(() => lab.runs.clear());

const io = (): StorageError => new StorageError("disk on fire", { kind: "io" });

function engineOf(w: World) {
  const engine = w.t.engines.get(w.space);
  if (engine === undefined) throw new Error("the space has no store");
  return engine;
}

const lease = (w: World) => engineOf(w).lease.current();

/** A tenure that goes on. */
const HOOKS: TenureHooks = {
  wake: () => undefined,
  live: () => true,
  staying: () => true,
  onYield: () => undefined,
  confirmLease: () => true,
  leaseLives: () => true,
};

/** When a holder asked for the lease, and whether it got it. */
function asked(w: World, holder: string): { readonly at: number; readonly got: boolean }[] {
  const table = engineOf(w).lease;
  const acquire = table.acquire.bind(table);
  const seen: { readonly at: number; readonly got: boolean }[] = [];
  Object.assign(table, {
    acquire: (who: HolderId, ttlMs: number) => {
      const got = acquire(who, ttlMs);
      if (who === holder) seen.push({ at: w.t.clock.monotonic(), got });
      return got;
    },
  });
  return seen;
}

describe("initialization", () => {
  test("[EX-T8] renewal begins with the acquire and covers all of it", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    w.t.gates.hold("activate:after-lease");
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.t.clock.advance(60_000);
    expect(lease(w)).toMatchObject({ holder: w.host.holder, live: true });
    expect(w.host.isActive(w.space)).toBe(false);
    w.t.gates.open();
    await w.settle();
    expect(w.naming(e1)).toBe(1);
    expect(w.host.spaceStats(w.space).lease.lost).toBe(0);
    await w.stop();
  });

  test("[EX-T9] a lease that ran out under it is found before the launch: it parks, and matching demand starts anew after the backoff", async () => {
    const w = await createWorld({ patterns: [counter], policy2: { activationBackoffMs: 400 } });
    const piece = await w.create(counter);
    const tries = asked(w, w.host.holder);
    w.t.gates.hold("activate:after-lease");
    const e1 = await w.fire(w.owner, piece, "inc");
    // Work that no timer could interrupt.
    w.t.clock.spend(20_000);
    w.t.gates.release("activate:after-lease");
    await w.t.run();
    expect(w.host.isActive(w.space)).toBe(false);
    expect(w.naming(e1)).toBe(0);
    expect(lease(w)).toBeUndefined();
    const at = w.t.clock.monotonic();
    await w.settle(5_000);
    expect(tries.map((one) => one.at)).toEqual([tries[0]?.at, at + 400]);
    expect(w.naming(e1)).toBe(1);
    expect(w.host.spaceStats(w.space).lease.lost).toBe(1);
    await w.stop();
  });

  test("[EX-T10] a renewal that throws invalidates it: the await ends, nothing is served, timer and lease go", async () => {
    const w = await createWorld({ patterns: [counter], policy2: { activationBackoffMs: 400 } });
    const piece = await w.create(counter);
    w.t.gates.hold("activate:after-lease");
    const e1 = await w.fire(w.owner, piece, "inc");
    w.t.gates.fail("lease:before-renew", io);
    await w.t.clock.advance(6_000);
    // The outstanding await goes on until its end.
    expect(w.t.gates.waiting("activate:after-lease")).toBe(1);
    w.t.gates.release("activate:after-lease");
    await w.t.run();
    expect([w.host.isActive(w.space), w.naming(e1)]).toEqual([false, 0]);
    expect(lease(w)).toBeUndefined();
    // The backoff, and nothing else of the space.
    expect([w.t.clock.pendingTimers(), w.host.held(w.space)]).toEqual([1, 1]);
    await w.settle(5_000);
    expect(w.naming(e1)).toBe(1);
    await w.stop();
  });

  test("[EX-T12] a stop waits for it, serves nothing any more, and leaves no lease", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    w.t.gates.hold("activate:after-lease");
    const e1 = await w.fire(w.owner, piece, "inc");
    let stopped = false;
    const stopping = w.host.stop().then(() => (stopped = true));
    await w.t.run();
    expect(stopped).toBe(false);
    w.t.gates.open();
    await w.t.run();
    await stopping;
    expect([w.naming(e1), lease(w)]).toEqual([0, undefined]);
    expect(w.t.clock.pendingTimers()).toBe(0);
    await w.t.stop();
  });

  test("[EX-T13] a warm notice that arrives during it, or during its cleanup, is its successor's obligation", async () => {
    const w = await createWorld({ patterns: [counter, chain] });
    const piece = await w.create(counter);
    const other = await w.create(chain);
    w.t.gates.hold("activate:after-lease");
    w.host.warm(w.space, []);
    await w.t.run();
    w.host.warm(w.space, [nodeKey(piece, "double")]);
    w.t.clock.spend(20_000);
    w.t.gates.hold("dispose:before");
    w.t.gates.release("activate:after-lease");
    await w.t.run();
    expect(w.t.gates.waiting("dispose:before")).toBe(1);
    w.host.warm(w.space, [nodeKey(other, "x")]);
    w.t.gates.open();
    await w.settle(5_000);
    expect([w.value(piece, "double"), w.value(other, "x")]).toEqual([0, 10]);
    await w.stop();
  });

  test("[EX-T14] a stop ends a backoff that is pending", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    w.t.gates.fail("activate:after-lease", io, { times: 10 });
    await w.fire(w.owner, piece, "inc");
    const before = w.t.gates.arrivals("activate:after-lease");
    expect(w.t.clock.pendingTimers()).toBe(1);
    await w.host.stop();
    expect(w.t.clock.pendingTimers()).toBe(0);
    await w.t.clock.advance(60_000);
    expect(w.t.gates.arrivals("activate:after-lease")).toBe(before);
    await w.t.stop();
  });
});

describe("teardown", () => {
  test("[EX-T11] observers, a disposer and a release that throw skip nothing of it, and the space is served again", async () => {
    const policy2 = { parkedRuntimeRetentionMs: 0 };
    const w = await createWorld({ patterns: [counter], policy2 });
    const piece = await w.create(counter);
    const served = w.t.server.space(w.space);
    const onDemand = served.onDemand.bind(served);
    let closed = 0;
    Object.assign(served, {
      onDemand: (fn: Parameters<typeof onDemand>[0]) => {
        const subscription = onDemand(fn);
        const close = (): never => {
          subscription.close();
          closed += 1;
          throw new Error("an observer that cannot be closed");
        };
        return { close };
      },
    });
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    const { release } = engineOf(w).lease;
    let released = 0;
    Object.assign(engineOf(w).lease, {
      release: () => {
        released += 1;
        throw io();
      },
    });
    w.t.gates.fail("dispose:before", io);
    await w.owner.call("space.close", { space: w.space });
    await w.t.clock.advance(40_000);
    expect([closed, released, w.host.isActive(w.space)]).toEqual([1, 1, false]);
    expect(w.reports.filter((one) => one.kind === "tenure-failed")).toHaveLength(3);
    expect(w.t.clock.pendingTimers()).toBe(0);
    Object.assign(engineOf(w).lease, { release });
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect(w.naming(e1)).toBe(1);
    await w.stop();
  });
});

describe("a lapse", () => {
  async function standing(): Promise<{
    w: World;
    piece: Awaited<ReturnType<World["create"]>>;
    clock: ReturnType<VirtualClock["child"]>;
  }> {
    const clock = new VirtualClock();
    const child = clock.child({ name: "host" });
    const w = await createWorld({ patterns: [counter], clock, hostClock: child });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    return { w, piece, clock: child };
  }

  test("[EX-T15] that took nothing costs nothing: the tenure goes on under the row it asked for again", async () => {
    const { w, piece, clock } = await standing();
    const before = w.t.gates.arrivals("activate:after-lease");
    clock.suspend();
    await w.t.clock.advance(20_000);
    expect(lease(w)?.live).toBe(false);
    clock.resume();
    await w.t.clock.advance(1);
    expect(w.host.spaceStats(w.space).lease).toEqual({ held: 1, lost: 1 });
    expect(lease(w)).toMatchObject({ holder: w.host.holder, live: true });
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect([w.naming(e1), w.value(piece, "double")]).toEqual([1, 2]);
    expect(w.t.gates.arrivals("activate:after-lease")).toBe(before);
    await w.stop();
  });

  test("[EX-T15] what a rival delivered meanwhile is not delivered again, and its W is taken over", async () => {
    const { w, piece, clock } = await standing();
    clock.suspend();
    await w.t.clock.advance(20_000);
    const rival = createHost(w.t, { patterns: [counter] }, [], 11);
    rival.start();
    const e1 = await w.fire(w.owner, piece, "inc");
    const e2 = await w.fire(w.owner, piece, "bump");
    await w.settle();
    expect([w.naming(e1), w.naming(e2)]).toEqual([1, 1]);
    const stopping = rival.stop();
    await w.t.clock.advance(6_000);
    await stopping;
    const watermark = w.watermark();
    lab.runs.clear();
    clock.resume();
    await w.settle();
    const e3 = await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect([w.naming(e1), w.naming(e2), w.naming(e3)]).toEqual([1, 1, 1]);
    expect([w.value(piece, "count"), w.value(piece, "double")]).toEqual([3, 6]);
    expect([lab.runs.get("inc"), lab.runs.get("bump")]).toEqual([1, undefined]);
    expect(w.watermark()).toBeGreaterThan(watermark);
    expect(w.host.spaceStats(w.space).lease.lost).toBe(1);
    await w.stop();
  });

  test("[EX-T15] what was read of the store before it is not queued after it", async () => {
    const w = await createWorld({ patterns: [counter], started: false });
    const piece = await w.create(counter);
    const e1 = await w.fire(w.owner, piece, "inc");
    const one = "server/one" as HolderId;
    const parts = new TenureParts(tenureOptions(w.t, w.space, [counter]));
    engineOf(w).lease.acquire(one, 60_000);
    parts.enter(HOOKS);
    w.t.gates.hold("drain:before-queue");
    const cycle = parts.loop.cycle();
    await w.t.run();
    expect(w.t.gates.waiting("drain:before-queue")).toBe(1);
    expect(parts.uncommitted).toBe(false);
    // The lease lapses and comes back: what happened meanwhile is in the store, not in that scan.
    const rival = createHost(w.t, { patterns: [counter] }, [], 11);
    parts.resume();
    w.t.gates.open();
    await cycle;
    expect([parts.drain.inFlight, w.naming(e1), lab.runs.get("inc")]).toEqual([0, 0, undefined]);
    engineOf(w).lease.release(one);
    rival.start();
    await w.settle();
    expect(lab.runs.get("inc")).toBe(1);
    expect(w.naming(e1)).toBe(1);
    const stopping = rival.stop();
    await w.t.clock.advance(10_000);
    await stopping;
    await w.stop();
  });

  test("[EX-T16] whose row a rival holds by then leaves the space to it, without another attempt", async () => {
    const { w, piece, clock } = await standing();
    const tries = asked(w, w.host.holder);
    clock.suspend();
    await w.t.clock.advance(20_000);
    const rival = createHost(w.t, { patterns: [counter] }, [], 11);
    rival.start();
    await w.t.run();
    expect(lease(w)?.holder).toBe(rival.holder);
    clock.resume();
    await w.t.clock.advance(60_000);
    expect(tries.map((one) => one.got)).toEqual([false]);
    expect(w.host.isActive(w.space)).toBe(false);
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect(w.naming(e1)).toBe(1);
    const stopping = rival.stop();
    await w.t.clock.advance(6_000);
    await stopping;
    await w.stop();
  });

  test("[EX-T17] that aborts a wave ends the tenure at the first refused commit, though the row came back", async () => {
    const { w, piece, clock } = await standing();
    const before = w.t.gates.arrivals("wave:before-commit");
    w.t.gates.hold("wave:before-commit");
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.t.run();
    const tries = asked(w, w.host.holder);
    clock.suspend();
    await w.t.clock.advance(20_000);
    w.t.gates.open();
    clock.resume();
    await w.t.run();
    // No timer has fired yet: the refusal was the first sign.
    expect(w.host.spaceStats(w.space).lease.lost).toBe(1);
    expect([w.host.isActive(w.space), w.naming(e1)]).toEqual([false, 0]);
    expect(w.t.gates.arrivals("wave:before-commit")).toBe(before + 1);
    expect(tries.map((one) => one.got)).toEqual([true]);
    await w.settle(5_000);
    expect([w.naming(e1), w.value(piece, "double")]).toEqual([1, 2]);
    await w.stop();
  });

  test("[EX-T17] so does one that a renewal finds under an open wave: the row that came back commits nothing of it", async () => {
    const { w, piece, clock } = await standing();
    w.t.gates.hold("wave:before-commit");
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.t.run();
    clock.suspend();
    await w.t.clock.advance(20_000);
    clock.resume();
    await w.t.clock.advance(1);
    // Lost, asked for again, and had: the wave is over all the same.
    expect(w.host.spaceStats(w.space).lease).toEqual({ held: 1, lost: 1 });
    w.t.gates.open();
    await w.t.run();
    expect([w.host.isActive(w.space), w.naming(e1)]).toEqual([false, 0]);
    await w.settle(5_000);
    expect([w.naming(e1), w.value(piece, "double")]).toEqual([1, 2]);
    await w.stop();
  });

  test("[EX-H18] that aborted a wave is looked at like any other park: over a rival that came meanwhile, with one attempt", async () => {
    const { w, piece, clock } = await standing();
    w.t.gates.hold("wave:before-commit");
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.t.run();
    clock.suspend();
    await w.t.clock.advance(20_000);
    w.t.gates.open();
    clock.resume();
    await w.t.run();
    const tries = asked(w, w.host.holder);
    const rival = createHost(w.t, { patterns: [counter] }, [], 11);
    rival.start();
    await w.t.clock.advance(60_000);
    expect(tries.map((one) => one.got)).toEqual([false]);
    expect([w.naming(e1), lease(w)?.holder]).toEqual([1, rival.holder]);
    const stopping = rival.stop();
    await w.t.clock.advance(6_000);
    await stopping;
    await w.stop();
  });

  test("[EX-T18] a renewal that throws is a loss: the wave aborts, and a fresh tenure does the work once", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    const e1 = await w.fire(w.owner, piece, "inc");
    w.t.gates.fail("lease:before-renew", io);
    await w.t.clock.advance(6_000);
    w.t.gates.open();
    await w.t.run();
    expect(w.naming(e1)).toBe(0);
    await w.settle(5_000);
    expect([w.naming(e1), w.value(piece, "double")]).toEqual([1, 2]);
    expect(w.host.spaceStats(w.space).lease.lost).toBe(1);
    await w.stop();
  });
});

describe("a look at the store", () => {
  for (const times of [1, 2, 4]) {
    test(`[EX-T18] that throws ${times} times behind a renewal ends a tenure at the most, and no process`, async () => {
      const w = await createWorld({ patterns: [counter] });
      const piece = await w.create(counter);
      await w.open(w.owner, piece, ["double"]);
      await w.settle();
      const engine = engineOf(w);
      const dataVersion = engine.dataVersion.bind(engine);
      const renew = engine.lease.renew.bind(engine.lease);
      let left = 0;
      Object.assign(engine.lease, {
        renew: (who: HolderId, ttlMs: number) => {
          left = times;
          Object.assign(engine.lease, { renew });
          return renew(who, ttlMs);
        },
      });
      Object.assign(engine, {
        dataVersion: () => {
          left -= 1;
          if (left >= 0) throw io();
          return dataVersion();
        },
      });
      await w.t.clock.advance(30_000);
      const e1 = await w.fire(w.owner, piece, "inc");
      await w.settle(5_000);
      expect([w.naming(e1), w.value(piece, "double")]).toEqual([1, 2]);
      expect(lease(w)).toMatchObject({ holder: w.host.holder, live: true });
      await w.stop();
    });
  }
});

describe("the end of the last need", () => {
  for (const parkedRuntimeRetentionMs of [0, 1_000]) {
    test(`[EX-H9] a store that does not close, ${parkedRuntimeRetentionMs} ms after the park, costs nobody anything`, async () => {
      const policy2 = { idleParkMs: 100, parkedRuntimeRetentionMs };
      const w = await createWorld({ patterns: [counter], policy2 });
      const piece = await w.create(counter);
      await w.settle();
      const engine = engineOf(w);
      const close = engine.close.bind(engine);
      Object.assign(engine, {
        close: () => {
          close();
          throw io();
        },
      });
      w.host.warm(w.space, [nodeKey(piece, "double")]);
      await w.t.clock.advance(10_000);
      expect(w.reports.filter((one) => one.kind === "tenure-failed")).toHaveLength(1);
      expect(w.t.server.stats().openSpaces).toBe(0);
      w.host.warm(w.space, [nodeKey(piece, "double")]);
      await w.t.run();
      expect(w.host.isActive(w.space)).toBe(true);
      await w.stop();
    });
  }
});

describe("activation", () => {
  test("[EX-H16] a store that does not open is a failure park, looked at again at a widening interval", async () => {
    let broken = 0;
    const opened: number[] = [];
    const clock = new VirtualClock();
    const w = await createWorld({
      patterns: [counter],
      clock,
      policy2: { activationBackoffMs: 100, activationBackoffCapMs: 1_600 },
      wrap: (engine) => {
        opened.push(clock.monotonic());
        if (broken <= 0) return engine;
        broken -= 1;
        engine.close();
        throw io();
      },
    });
    const piece = await w.create(counter);
    expect(w.t.server.closeIdle(w.space)).toBe(true);
    broken = 6;
    opened.length = 0;
    w.host.warm(w.space, [nodeKey(piece, "double")]);
    await w.settle(5_000);
    // Twice each time: for the look at its events, and for the activation.
    expect([...new Set(opened)]).toEqual([0, 100, 300, 700]);
    expect(w.value(piece, "double")).toBe(0);
    expect(w.reports.filter((one) => one.kind === "tenure-failed")).toHaveLength(3);
    await w.stop();
  });

  test("[EX-H17] a store that cannot be read for undelivered events is activated all the same", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    const { entries } = engineOf(w);
    const backlog = entries.backlog.bind(entries);
    let refused = 1;
    Object.assign(entries, {
      backlog: () => {
        if (refused-- > 0) throw io();
        return backlog();
      },
    });
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect(w.naming(e1)).toBe(1);
    await w.stop();
  });

  test("[EX-H19] a committed wave clears the streak: the next failure waits the first delay again", async () => {
    const w = await createWorld({
      patterns: [counter],
      policy2: { activationBackoffMs: 100, activationBackoffCapMs: 10_000 },
    });
    const piece = await w.create(counter);
    w.t.gates.fail("wave:before-commit", io, { times: 2 });
    const tries = asked(w, w.host.holder);
    const origin = w.t.clock.monotonic();
    await w.fire(w.owner, piece, "inc");
    await w.settle(2_000);
    expect(tries.map(({ at }) => at - origin)).toEqual([0, 100, 300]);
    const again = w.t.clock.monotonic();
    w.t.gates.fail("wave:before-commit", io);
    await w.fire(w.owner, piece, "inc");
    await w.settle(2_000);
    expect(tries.slice(3).map(({ at }) => at - again)).toEqual([100]);
    expect(w.value(piece, "count")).toBe(2);
    await w.stop();
  });

  test("[EX-H25] every tenure of a host holds its leases under the one name that the host was born with", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    const holders = new Set<string | undefined>();
    for (let round = 0; round < 2; round += 1) {
      await w.open(w.owner, piece, ["double"]);
      await w.settle();
      holders.add(lease(w)?.holder);
      await w.owner.call("space.close", { space: w.space });
      await w.t.clock.advance(40_000);
    }
    expect([...holders]).toEqual([w.host.holder]);
    expect(createHost(w.t, { patterns: [counter] }, [], 12).holder).not.toBe(w.host.holder);
    await w.stop();
  });

  test("[EX-H24] at boot the spaces with undelivered events are served, and no other", async () => {
    const t = createTestServer();
    const ana = await t.connected("ana");
    const spaces: SpaceId[] = [];
    for (const name of ["a", "b", "c"]) spaces.push(await t.space(name, ana));
    const [, b] = spaces;
    if (b === undefined) throw new Error("three spaces");
    await ana.append(b, "stream:nobody" as never, { eventId: "e1" as never });
    const host = new ExecutorHost({
      memory: t.server,
      stores: { list: () => spaces },
      patterns: new PatternRegistry([counter]),
      clock: t.clock,
      gates: t.gates,
      random: seededRandom(3),
    });
    host.start();
    await t.run();
    expect(host.activeSpaces()).toEqual([b]);
    const stopping = host.stop();
    await t.clock.advance(10_000);
    await stopping;
    await t.stop();
  });
});

describe("a warm request", () => {
  test("[EX-H20] to an active space adds demand at once, and its idle park answers it", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.owner.call("space.open", { space: w.space, watches: [] });
    await w.settle();
    w.host.warm(w.space, [nodeKey(piece, "double")]);
    await w.settle();
    expect(w.value(piece, "double")).toBe(0);
    const before = w.t.gates.arrivals("activate:after-lease");
    await w.owner.call("space.close", { space: w.space });
    await w.t.clock.advance(600_000);
    expect(w.host.isActive(w.space)).toBe(false);
    expect(w.t.gates.arrivals("activate:after-lease")).toBe(before);
    await w.stop();
  });

  test("[EX-H21] that races a park is carried into the successor; one whose tenure failed is handed back", async () => {
    const w = await createWorld({ patterns: [counter, chain] });
    const piece = await w.create(counter);
    const other = await w.create(chain);
    w.host.warm(w.space, []);
    await w.settle();
    w.t.gates.hold("park:before");
    await w.t.clock.advance(40_000);
    expect(w.t.gates.waiting("park:before")).toBe(1);
    w.host.warm(w.space, [nodeKey(piece, "double")]);
    w.t.gates.open();
    w.t.gates.fail("wave:before-commit", io);
    await w.settle(5_000);
    expect(w.value(piece, "double")).toBe(0);
    await w.t.clock.advance(60_000);
    expect(w.host.isActive(w.space)).toBe(false);
    w.host.warm(w.space, [nodeKey(other, "x")]);
    await w.settle();
    expect(w.value(other, "x")).toBe(10);
    await w.stop();
  });

  test("[EX-H23] on a rival's lease waits for the next activation, and is taken up by it", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    const tries = asked(w, w.host.holder);
    engineOf(w).lease.acquire("rival" as HolderId, 15_000);
    w.host.warm(w.space, [nodeKey(piece, "double")]);
    await w.t.clock.advance(60_000);
    expect(tries.map((one) => one.got)).toEqual([false]);
    await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect(w.value(piece, "double")).toBe(2);
    await w.stop();
  });
});

describe("what waits for time", () => {
  test("[EX-H22] an armed gate and a cycle that backs off hold a park off", async () => {
    const w = await createWorld({ patterns: [counter], started: false });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["double"]);
    const parts = new TenureParts(tenureOptions(w.t, w.space, [counter]));
    engineOf(w).lease.acquire("server/one" as HolderId, 60_000);
    const told = { wakes: 0 };
    parts.enter({ ...HOOKS, wake: () => void (told.wakes += 1) });
    const rest = async (): Promise<boolean> => {
      let end = await parts.loop.cycle();
      for (let at = 0; at < 10 && end.again; at += 1) end = await parts.loop.cycle();
      return end.atRest;
    };
    expect(await rest()).toBe(true);
    const node = parts.scheduler.node(`counter/double@${piece}` as never, "space" as never);
    if (node === undefined) throw new Error("double is no node");
    parts.scheduler.setGate(node, { throttleMs: 5_000 });
    await w.write(w.owner, piece, "count", 2);
    const waiting = rest();
    await w.t.clock.advance(200);
    expect(await waiting).toBe(false);
    expect(parts.atRest).toBe(false);
    told.wakes = 0;
    await w.t.clock.advance(5_000);
    expect(told.wakes).toBeGreaterThan(0);
    expect(await rest()).toBe(true);
    expect(w.value(piece, "double")).toBe(4);
    expect(parts.atRest).toBe(true);
    await w.stop();
  });
});
