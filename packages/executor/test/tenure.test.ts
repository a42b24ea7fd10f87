import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { StorageError, type HolderId } from "@tidemark/protocol";
import { counter, deep, lab } from "./support/patterns.js";
import { createHost, createWorld, type World } from "./support/world.js";

beforeEach(() => lab.runs.clear());

const io = () => new StorageError("disk on fire", { kind: "io" });

function lease(w: World) {
  return w.t.engines.get(w.space)?.lease.current();
}

describe("the lease", () => {
  test("[EX-T1] a minute of renewals on a quiet, watched space writes no commit", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["count"]);
    await w.settle();
    const head = w.head();
    await w.t.clock.advance(60_000);
    expect(w.head()).toBe(head);
    expect(lease(w)).toMatchObject({ holder: w.host.holder, live: true });
    expect(w.host.spaceStats(w.space).lease).toEqual({ held: 1, lost: 0 });
    await w.stop();
  });

  test("[EX-T2] a wave that meets an expired lease stores nothing, and a fresh tenure does the work once", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["count", "double"]);
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    // Nobody renews while the process stands still.
    w.t.gates.hold("lease:before-renew", { times: 10 });
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.t.clock.advance(20_000);
    expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    expect(w.naming(e1)).toBe(0);
    w.t.gates.open();
    await w.settle(5_000);
    expect([w.value(piece, "count"), w.value(piece, "double")]).toEqual([1, 2]);
    expect(w.naming(e1)).toBe(1);
    expect(w.host.spaceStats(w.space).lease.lost).toBe(1);
    await w.stop();
  });

  test("[EX-T3] a long wave renews from the yield and commits once", async () => {
    const w = await createWorld({
      patterns: [deep],
      policy2: { flushDeadlineMs: 60_000, leaseTtlMs: 150, leaseRenewMs: 100_000 },
    });
    lab.spend = (ms) => w.t.clock.spend(ms);
    const piece = await w.create(deep);
    await w.open(w.owner, piece, ["c4"]);
    await w.t.run();
    const before = w.head();
    await w.write(w.owner, piece, "n", 1);
    await w.t.run();
    expect(w.value(piece, "c4")).toBe(1);
    expect(w.derived(before)).toBeLessThanOrEqual(2);
    expect(w.host.spaceStats(w.space).lease.lost).toBe(0);
    await w.stop();
  });

  test("[EX-T4] a rival's live lease is left alone, without a retry, until something comes", async () => {
    const w = await createWorld({ patterns: [counter], started: false });
    const piece = await w.create(counter);
    const engine = w.t.server.space(w.space).engine;
    engine.lease.acquire("rival" as HolderId, 15_000);
    w.host.start();
    await w.fire(w.owner, piece, "inc");
    await w.settle(10_000);
    expect(w.host.isActive(w.space)).toBe(false);
    await w.t.clock.advance(60_000);
    expect(w.host.isActive(w.space)).toBe(false);
    await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect(w.value(piece, "count")).toBe(2);
    await w.stop();
  });

  test("[EX-T5] a second process takes over an expired lease and finishes what the first left", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["count"]);
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    w.t.gates.hold("lease:before-renew", { times: 10 });
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.t.clock.advance(20_000);
    const rival = createHost(w.t, { patterns: [counter] }, [], 11);
    expect(rival.holder).not.toBe(w.host.holder);
    rival.start();
    await w.t.run();
    expect(lease(w)?.holder).toBe(rival.holder);
    expect(w.value(piece, "count")).toBe(1);
    w.t.gates.open();
    await w.settle(5_000);
    expect(w.value(piece, "count")).toBe(1);
    expect(w.naming(e1)).toBe(1);
    expect(lease(w)?.holder).toBe(rival.holder);
    const stopping = rival.stop();
    await w.t.clock.advance(10_000);
    await stopping;
    await w.stop();
  });

  test("[EX-T19] each tenure that serves is told of as it begins and as it ends; one that was refused is not", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    const told = (reports: World["reports"]) =>
      reports.filter(({ kind }) => kind === "tenure-began" || kind === "tenure-ended");
    const { space } = w;
    await w.open(w.owner, piece, ["count"]);
    await w.settle();
    const refused: World["reports"] = [];
    const rival = createHost(w.t, { patterns: [counter] }, refused, 11);
    rival.start();
    rival.warm(space);
    await w.t.run();
    await rival.stop();
    await w.owner.call("space.close", { space });
    await w.t.clock.advance(40_000);
    await w.open(w.owner, piece, ["count"]);
    await w.settle();
    await w.stop();
    expect(told(w.reports)).toEqual([
      { kind: "tenure-began", space, reused: false },
      { kind: "tenure-ended", space, reason: "idle" },
      { kind: "tenure-began", space, reused: true },
      { kind: "tenure-ended", space, reason: "stopped" },
    ]);
    expect(refused).toEqual([]);
  });
});

describe("activation and parking", () => {
  test("[EX-H1] a session wakes a space, and its leaving parks it after the policy's time", async () => {
    const w = await createWorld({ patterns: [counter] });
    await w.t.clock.advance(3_600_000);
    expect(w.host.isActive(w.space)).toBe(false);
    await w.owner.call("space.open", { space: w.space, watches: [] });
    await w.settle();
    expect(w.host.isActive(w.space)).toBe(true);
    await w.owner.call("space.close", { space: w.space });
    await w.t.clock.advance(29_000);
    expect(w.host.isActive(w.space)).toBe(true);
    await w.t.clock.advance(2_000);
    expect(w.host.isActive(w.space)).toBe(false);
    expect(lease(w)?.live ?? false).toBe(false);
    expect(w.host.held(w.space)).toBe(0);
    await w.stop();
  });

  test("[EX-H2] a write alone activates nothing", async () => {
    const w = await createWorld({ patterns: [counter] });
    await w.create(counter);
    await w.settle();
    expect(w.host.isActive(w.space)).toBe(false);
    await w.stop();
  });

  test("[EX-H3] an event that lands while the park is in flight is served", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.owner.call("space.open", { space: w.space, watches: [] });
    await w.settle();
    w.t.gates.hold("park:before");
    await w.owner.call("space.close", { space: w.space });
    await w.t.clock.advance(40_000);
    expect(w.t.gates.waiting("park:before")).toBe(1);
    const e1 = await w.fire(w.owner, piece, "inc");
    w.t.gates.release("park:before");
    await w.settle();
    expect(w.value(piece, "count")).toBe(1);
    expect(w.naming(e1)).toBe(1);
    await w.stop();
  });

  test("[EX-H4] failing activations back off by doubling delays and lose nothing", async () => {
    const w = await createWorld({
      patterns: [counter],
      policy2: { activationBackoffMs: 100, activationBackoffCapMs: 1_600 },
    });
    const piece = await w.create(counter);
    w.t.gates.fail("activate:after-lease", io, { times: 6 });
    const at: number[] = [];
    const origin = w.t.clock.monotonic();
    const e1 = await w.fire(w.owner, piece, "inc");
    let seen = 0;
    while (seen < 7 && w.t.clock.monotonic() - origin < 20_000) {
      const now = w.t.gates.arrivals("activate:after-lease");
      for (; seen < now; seen += 1) at.push(w.t.clock.monotonic() - origin);
      if (!(await w.t.clock.advanceToNextTimer(20_000))) break;
    }
    expect(at.slice(0, 7)).toEqual([0, 100, 300, 700, 1_500, 3_100, 4_700]);
    await w.settle();
    expect(w.value(piece, "count")).toBe(1);
    expect(w.naming(e1)).toBe(1);
    await w.stop();
  });

  test("[EX-H5] an I/O error in the wave's commit ends that tenure, and the next does the work once", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    w.t.gates.fail("wave:before-commit", io);
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.settle(5_000);
    expect([w.value(piece, "count"), w.value(piece, "double")]).toEqual([1, 2]);
    expect(w.naming(e1)).toBe(1);
    expect(w.reports.some((one) => one.kind === "tenure-failed")).toBe(true);
    await w.stop();
  });

  test("[EX-T7] a failure behind the commit withholds nothing: its frames leave, and the next tenure repeats nothing", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    w.t.gates.fail("wave:after-commit", io);
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.settle(5_000);
    expect(w.naming(e1)).toBe(1);
    const values = w.owner
      .frames()
      .flatMap(({ rows }) => rows.flatMap((row) => ("value" in row ? [row.value] : [])));
    expect(values).toContain(2);
    await w.fire(w.owner, piece, "inc");
    await w.settle(5_000);
    expect([w.value(piece, "count"), w.value(piece, "double")]).toEqual([2, 4]);
    await w.stop();
  });

  test("[EX-H6] a park completes though the dispose hangs", async () => {
    const policy2 = { parkedRuntimeRetentionMs: 0 };
    const w = await createWorld({ patterns: [counter], policy2 });
    const piece = await w.create(counter);
    await w.owner.call("space.open", { space: w.space, watches: [] });
    await w.settle();
    w.t.gates.hold("dispose:before");
    await w.owner.call("space.close", { space: w.space });
    await w.t.clock.advance(60_000);
    expect(lease(w)?.live ?? false).toBe(false);
    expect(w.host.spaceStats(w.space).disposeTimeouts).toBe(1);
    await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect(w.value(piece, "count")).toBe(1);
    await w.stop();
  });

  test("[EX-H7] a stop lets the running cycle commit and releases every lease", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["count"]);
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    const e1 = await w.fire(w.owner, piece, "inc");
    const stopping = w.host.stop();
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    await stopping;
    expect(w.naming(e1)).toBe(1);
    expect(lease(w)?.live ?? false).toBe(false);
    await w.t.stop();
  });

  test("[EX-H8] a warm request serves a parked space without session or event, and lets go", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.write(w.owner, piece, "count", 4);
    await w.settle();
    expect(w.host.isActive(w.space)).toBe(false);
    const { nodeKey } = await import("./support/world.js");
    w.host.warm(w.space, [nodeKey(piece, "double")]);
    await w.settle();
    expect(w.value(piece, "double")).toBe(8);
    await w.t.clock.advance(40_000);
    expect(w.host.isActive(w.space)).toBe(false);
    await w.stop();
  });

  test("[EX-S1] a host that has served nothing yet shows its counters at zero", async () => {
    const w = await createWorld({ patterns: [counter] });
    expect(w.host.stats()).toMatchObject({
      activeSpaces: 0,
      waves: 0,
      events: { appended: 0, processed: 0 },
      lease: { held: 0, lost: 0 },
    });
    await w.stop();
  });

  test("[EX-H9] two hundred spaces opened and parked leave no timer and no lease", async () => {
    const w = await createWorld({ patterns: [counter] });
    const spaces = [];
    for (let at = 0; at < 200; at += 1) spaces.push(await w.t.space(`s${at}`, w.owner));
    for (const space of spaces) await w.owner.call("space.open", { space, watches: [] });
    await w.t.run();
    expect(w.host.activeSpaces()).toHaveLength(200);
    for (const space of spaces) await w.owner.call("space.close", { space });
    await w.t.clock.advance(60_000);
    expect(w.host.activeSpaces()).toHaveLength(0);
    // Kept runtimes are let go in time, and nothing else is left.
    await w.t.clock.advance(600_000);
    expect(w.t.clock.pendingTimers()).toBe(0);
    expect(w.host.stats().lease).toMatchObject({ held: 0, lost: 0 });
    // The world's own space was never served; every other store is closed again.
    expect(w.t.server.stats().openSpaces).toBe(1);
    await w.stop();
  }, 60_000);
});

describe("restart", () => {
  test("[EX-R1] two clean restarts repeat nothing and add no commit", async () => {
    const dir = mkdtempSync(join(tmpdir(), "tidemark-"));
    const w = await createWorld({ patterns: [counter], dir });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["double"]);
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.settle();
    const head = w.head();
    lab.runs.clear();
    let host = w.host;
    for (let round = 0; round < 2; round += 1) {
      const stopping = host.stop();
      await w.t.clock.advance(10_000);
      await stopping;
      host = createHost(w.t, { patterns: [counter] }, [], 20 + round);
      host.start();
      await w.settle();
      expect(host.isActive(w.space)).toBe(true);
    }
    expect(w.head()).toBe(head);
    expect(w.naming(e1)).toBe(1);
    expect(lab.runs.get("double")).toBeUndefined();
    const stopping = host.stop();
    await w.t.clock.advance(10_000);
    await stopping;
    await w.t.stop();
    rmSync(dir, { recursive: true });
  });
});
