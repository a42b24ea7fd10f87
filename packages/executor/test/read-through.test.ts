import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { userScopeKey } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { action, cell, computed, pattern } from "@tidemark/runtime";
import { counter, lab } from "./support/patterns.js";
import { createHost, createWorld, type World } from "./support/world.js";

beforeEach(() => lab.runs.clear());

/** A count of one's own, beside a shared one. */
const desk = pattern({
  id: "desk",
  version: "1",
  build: () => {
    const shared = cell("shared", z.number(), { default: 0 });
    const mine = cell("mine", z.number(), { scope: "user", default: 0 });
    const twice = computed("twice", () => shared.get() * 2);
    const inc = action("inc", () => {
      mine.set(mine.get() + 1);
      shared.increment(1);
    });
    return { shared, mine, twice, inc };
  },
});

const counts = (w: World) => {
  const { storeReads, storeRefreshes } = w.host.spaceStats(w.space);
  return { storeReads, storeRefreshes };
};

describe("store read-through", () => {
  test("[EX-B8] off, nothing is counted", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["double"]);
    await w.write(w.owner, piece, "count", 2);
    await w.settle();
    expect(w.value(piece, "double")).toBe(4);
    expect(counts(w)).toEqual({ storeReads: 0, storeRefreshes: 0 });
    await w.stop();
  });

  test("[EX-B8] on, a miss is a read, a write that the feed reports of a held document a refresh, and an own commit none", async () => {
    const w = await createWorld({ patterns: [counter], policy2: { storeReadThrough: true } });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    const before = counts(w);
    // The piece, the cell it never saw written, and the output that it wrote.
    expect(before).toEqual({ storeReads: 3, storeRefreshes: 0 });
    await w.write(w.owner, piece, "count", 2);
    await w.settle();
    expect(w.value(piece, "double")).toBe(4);
    expect(counts(w)).toEqual({ storeReads: 3, storeRefreshes: 1 });
    // What nobody holds is not read for having been written.
    const other = await w.create(counter, "other");
    await w.write(w.owner, other, "count", 9);
    await w.settle();
    expect(counts(w)).toEqual({ storeReads: 3, storeRefreshes: 1 });
    await w.stop();
  });

  async function standing(): Promise<{
    w: World;
    piece: Awaited<ReturnType<World["create"]>>;
    clock: ReturnType<VirtualClock["child"]>;
  }> {
    const clock = new VirtualClock();
    const child = clock.child({ name: "host" });
    const w = await createWorld({
      patterns: [desk],
      clock,
      hostClock: child,
      policy2: { storeReadThrough: true },
    });
    const piece = await w.create(desk);
    await w.open(w.owner, piece, ["twice"]);
    await w.settle();
    return { w, piece, clock: child };
  }

  test("[EX-B9] on, a user's instance is read under a live lease alone: a lapse that is found there ends the tenure, and withholds it", async () => {
    const { w, piece, clock } = await standing();
    w.t.gates.hold("handler:before-run");
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.t.run();
    clock.suspend();
    await w.t.clock.advance(20_000);
    w.t.gates.open();
    clock.resume();
    await w.t.run();
    // The read found it: no commit had to be refused first.
    const { lease, waves } = w.host.spaceStats(w.space);
    expect(lease.lost).toBe(1);
    expect(w.t.server.stats().refused["lease"]).toBeUndefined();
    expect(w.naming(e1)).toBe(0);
    await w.settle(5_000);
    expect(w.host.spaceStats(w.space).waves).toBeGreaterThan(waves);
    expect(w.naming(e1)).toBe(1);
    expect(w.value(piece, "mine", userScopeKey(w.owner.identity.did))).toBe(1);
    await w.stop();
  });

  test("[EX-B9] what is shared is read without asking, and a rival's lease withholds what is not", async () => {
    const { w, piece, clock } = await standing();
    w.t.gates.hold("handler:before-run");
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.t.run();
    clock.suspend();
    await w.t.clock.advance(20_000);
    w.t.gates.open();
    const rival = createHost(w.t, { patterns: [desk] }, [], 11);
    rival.start();
    await w.t.run();
    clock.resume();
    await w.settle();
    expect(w.host.isActive(w.space)).toBe(false);
    expect([w.naming(e1), w.value(piece, "shared")]).toEqual([1, 1]);
    const stopping = rival.stop();
    await w.t.clock.advance(10_000);
    await stopping;
    await w.stop();
  });
});
