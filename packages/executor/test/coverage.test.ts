import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  nodeIdFor,
  pieceIdFor,
  toLinkValue,
  type DocId,
  type EventId,
  type JsonValue,
  type Seq,
} from "@tidemark/protocol";
import { action, cell, computed, pattern } from "@tidemark/runtime";
import { deep, lab, patient } from "./support/patterns.js";
import { createWorld, type World } from "./support/world.js";

beforeEach(() => {
  lab.runs.clear();
  lab.doors.clear();
});

/** A handler that waits before it writes a whole record, and a reader of one field. */
const record = pattern({
  id: "record",
  version: "1",
  build: () => {
    const fields = cell("fields", z.record(z.string(), z.unknown()), { default: {} });
    const b = computed("b", () => fields.key("b").get() ?? null);
    const put = action("put", async (ctx) => {
      await lab.doors.get("put");
      ctx.cell(fields).set({ a: 9, b: 1 });
    });
    return { fields, b, put };
  },
});

/** One above what it is over, once it climbs. */
const climber = pattern({
  id: "climber",
  version: "1",
  argument: z.object({ over: z.unknown() }),
  build: ({ argument }) => {
    const on = cell("on", z.boolean(), { default: false });
    const out = computed("out", () => (on.get() ? Number(argument.key("over").get()) + 1 : 0));
    const climb = action("climb", () => on.set(true));
    return { on, out, climb };
  },
});

/** The derived commits above `after`, each with W as it left it. */
function derivedOf(w: World, after: Seq) {
  return (w.t.engines.get(w.space)?.commitsSince(after) ?? []).filter(
    (one) => one.class === "derived",
  );
}

const commitNaming = (w: World, id: EventId) =>
  derivedOf(w, 0 as Seq).find((one) => one.consequenceOf?.includes(id) === true);

describe("prefix coverage", () => {
  test("[EX-M8] what ended between two cycles is proven before newer input, and the cut cycle's wave carries W to it", async () => {
    const w = await createWorld({ patterns: [patient, deep] });
    lab.spend = (ms) => w.t.clock.spend(ms);
    const [slow, heavy] = [await w.create(patient), await w.create(deep)];
    await w.open(w.owner, heavy, ["c4"]);
    await w.settle();
    const open = lab.door("look");
    const e1 = await w.fire(w.owner, slow, "look");
    const first = w.head();
    await w.t.clock.advance(150);
    const newer = await w.write(w.owner, heavy, "n", 1);
    await w.t.clock.advance(150);
    expect(w.watermark()).toBeLessThan(first);
    expect(w.host.spaceStats(w.space).exhaustedAdvances).toBe(0);
    open();
    await w.settle(2_000);
    // The cut wave carries the event and covers it, and not the input that was being derived.
    expect(commitNaming(w, e1)?.watermark).toBe(first);
    expect(newer).toBeGreaterThan(first);
    expect(w.host.spaceStats(w.space).exhaustedAdvances).toBe(1);
    expect(w.value(heavy, "c4")).toBe(1);
    expect(w.watermark()).toBeGreaterThanOrEqual(newer);
    await w.stop();
  });

  test("[EX-M9] a wave that gave an event back covers nothing of it, though it left nothing to write", async () => {
    const w = await createWorld({ patterns: [patient] });
    const piece = await w.create(patient);
    const ben = await w.t.connected("ben");
    await ben.call("space.open", { space: w.space, watches: [] });
    await w.open(w.owner, piece, ["n"]);
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    const e1 = await w.fire(w.owner, piece, "copy");
    const at = w.head();
    await w.write(ben, piece, "seen", [7]);
    // The next run takes longer than a cycle.
    const open = lab.door("look");
    w.t.gates.release("wave:before-commit");
    await w.t.clock.advance(1_000);
    expect(lab.runs.get("copy")).toBe(2);
    expect(w.naming(e1)).toBe(0);
    expect(w.watermark()).toBeLessThan(at);
    open();
    await w.settle();
    expect(w.naming(e1)).toBe(1);
    expect(w.watermark()).toBeGreaterThanOrEqual(at);
    await w.stop();
  });
});

describe("hidden writes", () => {
  async function shadowed(
    by: "owner" | "rival",
    meanwhile: (w: World, heavy: DocId) => Promise<unknown> = async () => undefined,
  ): Promise<{
    w: World;
    piece: DocId;
    e1: EventId;
    hidden: Seq;
  }> {
    const w = await createWorld({ patterns: [record, deep] });
    lab.spend = (ms) => w.t.clock.spend(ms);
    const piece = await w.create(record);
    await w.write(w.owner, piece, "fields", { a: 0, b: 1 });
    await w.open(w.owner, piece, ["b"]);
    const heavy = await w.create(deep);
    const ben = await w.t.connected("ben");
    await w.open(ben, heavy, ["c4"]);
    await w.settle();
    const open = lab.door("put");
    const e1 = await w.fire(w.owner, piece, "put");
    await w.t.clock.advance(150);
    const writer = by === "owner" ? w.owner : ben;
    const hidden = await w.write(writer, piece, "fields", { a: 0, b: 5 });
    await meanwhile(w, heavy);
    // The body ends between two cycles: the next one's barrier finds its write.
    await w.t.clock.advance(150);
    open();
    await w.settle();
    return { w, piece, e1, hidden };
  }

  test("[EX-M10] W stays below a write that a pending one of ours lies over, until it shows and is derived from", async () => {
    const { w, piece, e1, hidden } = await shadowed("owner");
    expect(w.value(piece, "fields")).toEqual({ a: 0, b: 5 });
    expect(w.value(piece, "b")).toBe(5);
    expect(w.naming(e1)).toBe(1);
    const covering = derivedOf(w, 0 as Seq).find((one) => (one.watermark ?? 0) >= hidden);
    const deriving = derivedOf(w, hidden).find(({ changes }) =>
      changes.some(({ op }) => op.op === "set" && (op.value as JsonValue) === 5),
    );
    expect(commitNaming(w, e1)?.watermark).toBe(hidden - 1);
    expect(covering?.seq).toBeGreaterThanOrEqual(deriving?.seq ?? Infinity);
    expect(w.host.spaceStats(w.space).watermarkClamped).toBe(1);
    await w.stop();
  });

  test("[EX-M10] a cycle that the deadline cuts is counted as cut, and not as held back", async () => {
    const { w, piece, e1, hidden } = await shadowed("owner", (world, heavy) =>
      world.write(world.owner, heavy, "n", 1),
    );
    expect(commitNaming(w, e1)?.watermark ?? 0).toBeLessThan(hidden);
    const { watermarkClamped, wavesBudgetExhausted } = w.host.spaceStats(w.space);
    expect([watermarkClamped, w.value(piece, "b")]).toEqual([0, 5]);
    expect(wavesBudgetExhausted).toBeGreaterThan(0);
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await w.stop();
  });

  test("[EX-M10] the end of the wave shows it, where the event goes back too", async () => {
    const { w, piece, e1 } = await shadowed("rival");
    expect(w.value(piece, "fields")).toEqual({ a: 9, b: 1 });
    expect(w.value(piece, "b")).toBe(1);
    expect(w.naming(e1)).toBe(1);
    expect(w.host.spaceStats(w.space).watermarkClamped).toBe(1);
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await w.stop();
  });
});

describe("the pass budget", () => {
  test("[EX-F5] a cascade past the pass budget closes its wave as the deadline does: what is sealed lands, W stays", async () => {
    const w = await createWorld({
      patterns: [climber],
      policy2: { passBudget: 5, flushDeadlineMs: 1_000_000 },
    });
    const [p, q] = [pieceIdFor({ name: "p" }), pieceIdFor({ name: "q" })];
    const over = (id: DocId) => ({ over: toLinkValue({ id: nodeIdFor(id, "out") }) });
    await w.create(climber, "p", over(q));
    await w.create(climber, "q", over(p));
    await w.open(w.owner, p, ["out"]);
    await w.fire(w.owner, p, "climb");
    await w.t.run();
    const stood = w.watermark();
    expect(w.host.spaceStats(w.space).wavesBudgetExhausted).toBe(0);
    // From here on each is above the other.
    const e2 = await w.fire(w.owner, q, "climb");
    await w.t.run();
    expect(commitNaming(w, e2)).toMatchObject({ derivedThrough: stood });
    expect([w.value(q, "on"), w.watermark()]).toEqual([true, stood]);
    expect(w.value(p, "out")).toBeGreaterThan(2);
    expect(w.host.spaceStats(w.space)).toMatchObject({
      wavesBudgetExhausted: 1,
      exhaustedAdvances: 0,
    });
    await w.stop();
  });
});
