import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  ConnectionError,
  instanceKey,
  pieceIdFor,
  SPACE_SCOPE_KEY,
  type DocId,
  type JsonValue,
} from "@tidemark/protocol";
import { action, cell, cellAt, computed, describePiece, handler, pattern } from "@tidemark/runtime";
import { counter, lab } from "./support/patterns.js";
import { HeldLoads } from "./support/loads.js";
import { createWorld, nodeKey, type World } from "./support/world.js";

beforeEach(() => {
  lab.runs.clear();
  lab.doors.clear();
});

/** Reads two documents, and copies one by a handler. */
const copier = pattern({
  id: "copier",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 1 });
    const m = cell("m", z.number(), { default: 0 });
    const seen = cell("seen", z.number(), { default: 0 });
    const sum = computed("sum", () => {
      lab.ran("sum");
      return n.get() + m.get();
    });
    const look = action("look", () => {
      const value = n.get();
      lab.ran("look");
      seen.set(value);
    });
    const other = action("other", () => m.increment(1));
    return { n, m, seen, sum, look, other };
  },
});

const late = pattern({
  id: "late",
  version: "1",
  build: () => {
    const got = cell("got", z.number(), { default: 0 });
    const look = handler("look", z.object({ id: z.string() }), async ({ id }, ctx) => {
      await lab.doors.get("late");
      const there = ctx.cell(cellAt<number>({ id: id as DocId }, { default: -1 }));
      ctx.cell(got).set(there.get());
    });
    return { got, look };
  },
});

const refused = new ConnectionError("the store cannot be reached");

async function world(loads = new HeldLoads()): Promise<{
  w: World;
  piece: DocId;
  loads: HeldLoads;
}> {
  const w = await createWorld({
    patterns: [copier, counter, late],
    loads,
    policy2: { deferralThreshold: 2, deferralBackstopMs: 100 },
  });
  const piece = await w.create(copier);
  return { w, piece, loads };
}

const pieceKey = (piece: DocId) => instanceKey(piece, SPACE_SCOPE_KEY);

describe("a load that is on its way", () => {
  test("[EX-D9] parks the event at the head, holds what came later, and lets it run once when it has come", async () => {
    const { w, piece, loads } = await world();
    loads.hold(nodeKey(piece, "n"));
    const e1 = await w.fire(w.owner, piece, "look");
    const e2 = await w.fire(w.owner, piece, "other");
    await w.settle(5_000);
    // Nothing polls for it: what it waits for tells.
    const asked = loads.asked.length;
    await w.t.clock.advance(60_000);
    expect(loads.asked).toHaveLength(asked);
    expect([w.naming(e1), w.naming(e2)]).toEqual([0, 0]);
    expect(lab.runs.get("look")).toBeUndefined();
    const { events } = w.host.spaceStats(w.space);
    // The first alone, then, scanned again for the second, both.
    expect(events).toMatchObject({ loadParkDeferrals: 3, loadParkFailures: 0, dropped: 0 });
    loads.settle(nodeKey(piece, "n"));
    await w.settle();
    expect([w.naming(e1), w.naming(e2)]).toEqual([1, 1]);
    expect(lab.runs.get("look")).toBe(1);
    expect(w.value(piece, "seen")).toBe(1);
    await w.stop();
  });

  test("[EX-D9] so does the piece's own document", async () => {
    const { w, piece, loads } = await world();
    loads.hold(pieceKey(piece));
    const e1 = await w.fire(w.owner, piece, "look");
    await w.settle(5_000);
    expect(w.entry(piece, "look", e1)?.consequenced).toBeUndefined();
    loads.settle(pieceKey(piece));
    await w.settle();
    expect(w.naming(e1)).toBe(1);
    await w.stop();
  });

  test("[EX-B6] disposes the derivations that read it: they run when it has come, absent included, and W waits", async () => {
    const { w, piece, loads } = await world();
    loads.hold(nodeKey(piece, "n"));
    await w.open(w.owner, piece, ["sum"]);
    const at = await w.write(w.owner, piece, "m", 5);
    await w.settle();
    expect(w.value(piece, "sum")).toBeUndefined();
    expect(w.watermark()).toBeLessThan(at);
    // Further cycles prove no more than the first.
    for (const m of [4, 5]) {
      await w.write(w.owner, piece, "m", m);
      await w.settle();
      expect(w.watermark()).toBeLessThan(at);
    }
    loads.settle(nodeKey(piece, "n"));
    await w.settle();
    // It is absent, and known to be: its default counts.
    expect(w.value(piece, "sum")).toBe(6);
    expect(w.watermark()).toBeGreaterThanOrEqual(at);
    await w.stop();
  });

  test("[EX-M3] keeps the quiet tail from being covered too, where it comes between the wave and its advance", async () => {
    const { w, piece, loads } = await world();
    await w.settle();
    w.t.gates.hold("wave:after-commit");
    const e1 = await w.fire(w.owner, piece, "other");
    expect([w.naming(e1), w.t.gates.waiting("wave:after-commit")]).toEqual([1, 1]);
    const wave = w.head();
    loads.hold(nodeKey(piece, "n"));
    await w.open(w.owner, piece, ["sum"]);
    w.t.gates.open();
    await w.settle();
    expect(w.value(piece, "sum")).toBeUndefined();
    expect(w.watermark()).toBeLessThan(wave);
    loads.settle(nodeKey(piece, "n"));
    await w.settle();
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await w.stop();
  });

  test("[EX-Q9] of a demanded piece keeps W below the input until the structure has come", async () => {
    const { w, piece, loads } = await world();
    const at = await w.write(w.owner, piece, "m", 5);
    loads.hold(pieceKey(piece));
    await w.open(w.owner, piece, ["sum"]);
    await w.settle();
    expect(w.watermark()).toBeLessThan(at);
    expect(w.host.spaceStats(w.space).structureLoadDeferred).toBeGreaterThan(0);
    loads.settle(pieceKey(piece));
    await w.settle();
    expect(w.value(piece, "sum")).toBe(6);
    expect(w.watermark()).toBeGreaterThanOrEqual(at);
    await w.stop();
  });
});

describe("a load that fails", () => {
  test("[EX-D10] is no verdict on its event: no deferral is spent, and it runs once when the load succeeds", async () => {
    const { w, piece, loads } = await world();
    loads.fail(nodeKey(piece, "n"), refused);
    const e1 = await w.fire(w.owner, piece, "look");
    const e2 = await w.fire(w.owner, piece, "other");
    await w.settle(5_000);
    expect([w.naming(e1), w.naming(e2)]).toEqual([0, 0]);
    const { events } = w.host.spaceStats(w.space);
    expect(events).toMatchObject({ dropped: 0, handlerNotRunDeferrals: 0 });
    expect(events.loadParkFailures).toBeGreaterThan(2);
    expect(events.loadParkDeferrals).toBe(2 * events.loadParkFailures - 1);
    loads.settle(nodeKey(piece, "n"));
    await w.settle();
    expect([w.naming(e1), w.naming(e2)]).toEqual([1, 1]);
    await w.stop();
  });

  test("[EX-B7] leaves a derivation its last value, and it runs again when the load succeeds", async () => {
    const { w, piece, loads } = await world();
    await w.open(w.owner, piece, ["sum"]);
    await w.settle();
    expect(w.value(piece, "sum")).toBe(1);
    loads.fail(nodeKey(piece, "n"), refused);
    const at = await w.write(w.owner, piece, "m", 5);
    await w.settle();
    expect(w.value(piece, "sum")).toBe(1);
    // A failure is a value that was not made, as a throw is: W does not wait for it (R32).
    expect(w.watermark()).toBeGreaterThanOrEqual(at);
    loads.settle(nodeKey(piece, "n"));
    await w.settle();
    expect(w.value(piece, "sum")).toBe(6);
    await w.stop();
  });

  test("[EX-B7] under a wave that wrote the document leaves what landed to the next load", async () => {
    const { w, piece, loads } = await world();
    await w.open(w.owner, piece, ["sum"]);
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    await w.fire(w.owner, piece, "other");
    await w.t.run();
    loads.fail(nodeKey(piece, "m"), refused);
    w.t.gates.open();
    await w.settle();
    expect(w.value(piece, "m")).toBe(1);
    loads.settle(nodeKey(piece, "m"));
    await w.write(w.owner, piece, "n", 10);
    await w.settle();
    expect(w.value(piece, "sum")).toBe(11);
    await w.stop();
  });

  test("[EX-I8] keeps no runtime, and a tenure that is over hears of no load", async () => {
    const { w, piece, loads } = await world();
    await w.open(w.owner, piece, ["sum"]);
    await w.settle();
    expect(loads.listeners).toBe(1);
    loads.fail(nodeKey(piece, "n"), refused);
    await w.write(w.owner, piece, "m", 5);
    await w.settle();
    await w.owner.call("space.close", { space: w.space });
    await w.t.clock.advance(40_000);
    expect(w.host.spaceStats(w.space).parkedRuntimes.retained).toBe(0);
    expect(loads.listeners).toBe(0);
    loads.settle(nodeKey(piece, "n"));
    await w.open(w.owner, piece, ["sum"]);
    await w.settle();
    expect(w.value(piece, "sum")).toBe(6);
    await w.stop();
  });
});

/** Every load of these documents takes ten milliseconds of the process; returns what was loaded. */
function slowLoads(w: World, pieces: readonly DocId[]): readonly DocId[] {
  const { engine } = w.t.server.space(w.space);
  const read = engine.read.bind(engine);
  const loaded: DocId[] = [];
  Object.assign(engine, {
    read: (...args: Parameters<typeof read>) => {
      if (pieces.includes(args[0]) && args[2] !== undefined) {
        loaded.push(args[0]);
        w.t.clock.spend(10);
      }
      return read(...args);
    },
  });
  return loaded;
}

describe("structure", () => {
  test("[EX-Q4] a piece created under a running body is no terminal root of the run that reads it", async () => {
    const { w } = await world();
    const reader = await w.create(late, "reader");
    const open = lab.door("late");
    const made = describePiece(counter, {}, "piece:made" as DocId);
    const target = Object.values(made.result)[0] as unknown as JsonValue;
    const id = (target as { "/": { "link@1": { id: DocId } } })["/"]["link@1"].id;
    const e1 = await w.fire(w.owner, reader, "look", { id });
    await w.t.run();
    await w.owner.commit(w.space, {
      ops: [{ op: "set", id: "piece:made" as DocId, value: made as unknown as JsonValue }],
    });
    await w.t.run();
    open();
    await w.settle();
    expect(w.naming(e1)).toBe(1);
    expect(w.host.spaceStats(w.space)).toMatchObject({
      structureLoadDeferred: 1,
      structureLoadTerminal: 0,
    });
    await w.stop();
  });

  test("[EX-Q9] a demand pass that its deadline cuts goes on with the next cycle, and no click waits for its end", async () => {
    const w = await createWorld({
      patterns: [counter],
      policy2: { flushDeadlineMs: 100 },
      started: false,
    });
    const clicked = await w.create(counter, "clicked");
    const pieces: DocId[] = [];
    for (let at = 0; at < 30; at += 1) pieces.push(await w.create(counter, `p${at}`));
    slowLoads(w, pieces);
    const cy = await w.t.connected("cy");
    const watches = pieces.map((id) => ({ id, root: { id } }));
    await cy.call("space.open", { space: w.space, watches });
    const e1 = await w.fire(w.owner, clicked, "inc");
    const before = w.t.clock.monotonic();
    w.host.start();
    while (w.naming(e1) === 0 && (await w.t.clock.runImmediates()) > 0);
    expect(w.naming(e1)).toBe(1);
    // The pass alone takes 300 ms; the click has the share that the deadline leaves it.
    expect(w.t.clock.monotonic() - before).toBeLessThan(120);
    expect(w.host.isActive(w.space)).toBe(true);
    expect(w.watermark()).toBeLessThan(w.head() - 1);
    await w.settle();
    expect(w.host.spaceStats(w.space).demand.demandPasses).toBe(1);
    expect(w.host.spaceStats(w.space).demand.demandPassMs).toBe(300);
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await w.stop();
  });

  test("[EX-Q10] a park ends the loading of structure at its next slice: no further piece starts", async () => {
    const w = await createWorld({
      patterns: [counter],
      policy2: { flushDeadlineMs: 100_000 },
      started: false,
    });
    const pieces: DocId[] = [];
    for (let at = 0; at < 20; at += 1) pieces.push(await w.create(counter, `p${at}`));
    const loaded = slowLoads(w, pieces);
    const watches = pieces.map((id) => ({ id, root: { id } }));
    await w.owner.call("space.open", { space: w.space, watches });
    w.host.start();
    while (loaded.length === 0) await w.t.clock.runImmediates();
    const stopping = w.host.stop();
    const before = loaded.length;
    await w.t.clock.advance(10_000);
    await stopping;
    expect(before).toBeLessThan(4);
    expect(loaded).toHaveLength(before);
    await w.t.stop();
  });

  test("[EX-N3] in a space of 10,000 documents what one session watches is what it costs", async () => {
    const w = await createWorld({ patterns: [counter] });
    const pieces = Array.from({ length: 10_000 }, (_, at) => pieceIdFor({ name: `p${at}` }));
    for (let from = 0; from < pieces.length; from += 500) {
      const ops = pieces.slice(from, from + 500).map((id) => {
        const value = describePiece(counter, {}, id) as unknown as JsonValue;
        return { op: "set" as const, id, value };
      });
      expect(await w.owner.commit(w.space, { ops })).toMatchObject({ ok: true });
    }
    const [watched] = pieces;
    if (watched === undefined) throw new Error("there are pieces");
    await w.open(w.owner, watched, ["double"]);
    await w.settle();
    const { demand } = w.host.spaceStats(w.space);
    expect([demand.demandedInstances, demand.demandedWriters]).toEqual([1, 1]);
    expect(demand.demandKeysReconciled).toBe(1);
    expect(lab.runs.get("double")).toBe(1);
    // A change nobody watches runs nothing, and a pass over unchanged demand compares no key.
    await w.write(w.owner, pieces[400] as DocId, "count", 3);
    await w.write(w.owner, watched, "count", 3);
    await w.settle();
    expect(lab.runs.get("double")).toBe(2);
    expect(w.host.spaceStats(w.space).demand.demandKeysReconciled).toBe(1);
    await w.stop();
  });
});
