import { beforeEach, describe, expect, test } from "vitest";
import { sessionScopeKey, streamIdFor, type DocId, type EventId } from "@tidemark/protocol";
import type { Pattern } from "@tidemark/runtime";
import { cascade, counter, counter2, lab, unkept } from "./support/patterns.js";
import { createWorld, type World, type WorldOptions } from "./support/world.js";

beforeEach(() => {
  lab.runs.clear();
  lab.doors.clear();
});

async function served(
  pattern: Pattern,
  names: readonly string[],
  over: Partial<WorldOptions> = {},
): Promise<World & { readonly piece: DocId }> {
  const w = await createWorld({ patterns: [pattern], ...over });
  const piece = await w.create(pattern);
  await w.open(w.owner, piece, names);
  await w.settle();
  return { ...w, piece };
}

describe("ends of an event", () => {
  test("[EX-E1] a throw is the consequence: no write, a mark with its words, and a free stream", async () => {
    const w = await served(counter, ["count"]);
    const e1 = await w.fire(w.owner, w.piece, "bad");
    const e2 = await w.fire(w.owner, w.piece, "inc");
    await w.settle();
    expect(w.value(w.piece, "count")).toBe(1);
    expect(w.entry(w.piece, "bad", e1)).toMatchObject({
      consequenced: true,
      status: "errored",
      error: "boom",
    });
    expect([w.naming(e1), w.naming(e2)]).toEqual([1, 1]);
    const head = w.head();
    await w.t.clock.advance(60_000);
    expect(w.head()).toBe(head);
    await w.stop();
  });

  test("[EX-E2] an abort is an error consequence at once", async () => {
    const w = await served(counter, ["count"]);
    const e1 = await w.fire(w.owner, w.piece, "quit");
    await w.settle();
    expect(w.entry(w.piece, "quit", e1)).toMatchObject({ status: "errored" });
    expect(w.value(w.piece, "count")).toBeUndefined();
    await w.stop();
  });

  test("[EX-E3] a payload that does not parse is the event's error, and the space goes on", async () => {
    const w = await served(unkept, ["n"]);
    const e1 = await w.fire(w.owner, w.piece, "typed", { by: "seven" });
    const e2 = await w.fire(w.owner, w.piece, "typed", { by: 7 });
    await w.settle();
    expect(w.entry(w.piece, "typed", e1)).toMatchObject({ status: "errored" });
    expect(w.entry(w.piece, "typed", e2)).toMatchObject({ consequenced: true });
    expect(w.value(w.piece, "n")).toBe(7);
    await w.stop();
  });

  test("[EX-E4] a duplicate of a consumed event is marked with the first's end and runs nothing", async () => {
    const w = await served(counter, ["count"]);
    const e1 = await w.fire(w.owner, w.piece, "inc");
    await w.settle();
    await w.fire(w.owner, w.piece, "inc", null, e1);
    await w.fire(w.owner, w.piece, "inc");
    await w.settle();
    expect(w.value(w.piece, "count")).toBe(2);
    expect(w.naming(e1)).toBe(1);
    const stream = streamIdFor(w.piece, "inc");
    const entries = w.t.engines.get(w.space)?.entries.byEvent(stream, e1) ?? [];
    expect(entries.map((entry) => entry.duplicate)).toEqual([undefined, true]);
    expect(w.host.spaceStats(w.space).events.skippedIdempotent).toBe(1);
    await w.stop();
  });

  test("[EX-E5] a handler's value is its receipt, and {} where it returned nothing", async () => {
    const w = await served(counter, ["count"]);
    const { receiptIdFor, SPACE_SCOPE_KEY } = await import("@tidemark/protocol");
    const e1 = await w.fire(w.owner, w.piece, "answer");
    const e2 = await w.fire(w.owner, w.piece, "inc");
    await w.settle();
    const engine = w.t.engines.get(w.space);
    const receipt = (id: EventId, handler: string) =>
      engine?.read(receiptIdFor(id, streamIdFor(w.piece, handler)), SPACE_SCOPE_KEY).value;
    expect(receipt(e1, "answer")).toEqual({ said: 0 });
    expect(receipt(e2, "inc")).toEqual({});
    await w.stop();
  });

  test("[EX-E7] a receipt that somebody wrote before stays as it is, which is counted and told", async () => {
    const w = await served(counter, ["count"]);
    const { receiptIdFor, SPACE_SCOPE_KEY } = await import("@tidemark/protocol");
    const receipt = receiptIdFor("e-mine" as EventId, streamIdFor(w.piece, "answer"));
    await w.owner.commit(w.space, { ops: [{ op: "set", id: receipt, value: { said: "mine" } }] });
    await w.fire(w.owner, w.piece, "answer", null, "e-mine");
    const e2 = await w.fire(w.owner, w.piece, "answer");
    await w.settle();
    const engine = w.t.engines.get(w.space);
    expect(engine?.read(receipt, SPACE_SCOPE_KEY).value).toEqual({ said: "mine" });
    for (const id of ["e-mine" as EventId, e2]) {
      expect(w.entry(w.piece, "answer", id)).toMatchObject({ consequenced: true });
      expect(w.naming(id)).toBe(1);
    }
    expect(w.host.spaceStats(w.space)).toMatchObject({
      receiptCollisions: 1,
      lease: { lost: 0 },
    });
    expect(w.reports.filter((one) => one.kind === "receipt-stands")).toEqual([
      { kind: "receipt-stands", space: w.space, event: "e-mine", receipt },
    ]);
    await w.stop();
  });

  test("[EX-E6] a handler that never settles is named, counted and given up; its space and others go on", async () => {
    const w = await served(unkept, ["n"], { policy2: { handlerBudgetMs: 5_000 } });
    const e1 = await w.fire(w.owner, w.piece, "never");
    await w.t.clock.advance(4_000);
    const e2 = await w.fire(w.owner, w.piece, "typed", { by: 1 });
    await w.t.clock.advance(500);
    expect(w.entry(w.piece, "typed", e2)?.consequenced).toBeUndefined();
    await w.t.clock.advance(2_000);
    await w.settle();
    expect(w.entry(w.piece, "never", e1)).toMatchObject({ status: "errored" });
    expect(w.value(w.piece, "n")).toBe(1);
    expect(w.reports.find((one) => one.kind === "handler-slow")).toMatchObject({ event: e1 });
    expect(w.host.spaceStats(w.space).handlersOverBudget).toBe(1);
    await w.stop();
  });
});

describe("order and batches", () => {
  test("[EX-D1] events of two streams run as they arrived, in one commit", async () => {
    const w = await served(cascade, ["log"]);
    w.t.gates.hold("handler:before-run");
    await w.fire(w.owner, w.piece, "note", 0);
    await w.fire(w.owner, w.piece, "note", 1);
    await w.fire(w.owner, w.piece, "note2", 2);
    await w.fire(w.owner, w.piece, "note", 3);
    w.t.gates.release("handler:before-run");
    await w.settle();
    expect(w.value(w.piece, "log")).toEqual([0, 1, 2, 3]);
    await w.stop();
  });

  test("[EX-D2] a backlog that waits for a tenure is one commit that names every event", async () => {
    const w = await createWorld({ patterns: [counter], started: false });
    const piece = await w.create(counter);
    const ids: EventId[] = [];
    for (let at = 0; at < 12; at += 1) ids.push(await w.fire(w.owner, piece, "inc"));
    w.host.start();
    await w.settle();
    expect(w.value(piece, "count")).toBe(12);
    const naming = w.t.engines
      .get(w.space)!
      .commitsSince(0 as never)
      .filter((one) => (one.consequenceOf ?? []).length > 0);
    expect(naming).toHaveLength(1);
    expect(naming[0]?.consequenceOf).toEqual(ids);
    expect(w.host.spaceStats(w.space).events).toMatchObject({
      processed: 12,
      coalescedPerWaveMax: 12,
    });
    await w.stop();
  });

  test("[EX-D3] an event starts the piece that nobody watches", async () => {
    const w = await served(counter, []);
    const other = await w.create(counter, "other");
    await w.fire(w.owner, other, "inc");
    await w.settle();
    expect(w.value(other, "count")).toBe(1);
    await w.stop();
  });

  test("[EX-D4] an event nothing can run holds later arrivals, then drops with a notice after time and attempts", async () => {
    const w = await served(counter, [], { policy2: { deferralThreshold: 3 } });
    const e1 = await w.fire(w.owner, "piece:nowhere" as DocId, "inc");
    const e2 = await w.fire(w.owner, w.piece, "inc");
    for (let round = 0; round < 8; round += 1) await w.write(w.owner, w.piece, "n", round);
    await w.t.clock.advance(500);
    expect(w.value(w.piece, "count")).toBeUndefined();
    expect(w.watermark()).toBeLessThan(w.head() - 8);
    await w.settle(5_000);
    expect(w.entry("piece:nowhere" as DocId, "inc", e1)).toMatchObject({
      consequenced: true,
      status: "dropped",
    });
    expect(w.value(w.piece, "count")).toBe(1);
    expect([w.naming(e1), w.naming(e2)]).toEqual([1, 1]);
    expect(w.host.spaceStats(w.space).events).toMatchObject({ dropped: 1 });
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await w.stop();
  });

  test("[EX-D5] a piece that comes in time is served, and nothing drops", async () => {
    const w = await served(counter, []);
    const { pieceIdFor } = await import("@tidemark/protocol");
    const late = pieceIdFor({ name: "late" });
    const e1 = await w.fire(w.owner, late, "inc");
    await w.t.clock.advance(600);
    await w.create(counter, "late");
    await w.settle();
    expect(w.value(late, "count")).toBe(1);
    expect(w.naming(e1)).toBe(1);
    expect(w.host.spaceStats(w.space).events.dropped).toBe(0);
    await w.stop();
  });

  test("[EX-P1] after the pointer moves, the new graph and the new handlers answer", async () => {
    const w = await createWorld({ patterns: [counter, counter2] });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["count", "double"]);
    await w.settle();
    await w.create(counter2, "counter");
    await w.write(w.owner, piece, "count", 2);
    await w.settle();
    expect(w.value(piece, "double")).toBe(6);
    await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect([w.value(piece, "count"), w.value(piece, "double")]).toEqual([12, 36]);
    await w.stop();
  });

  test("[EX-P2] a piece whose pattern nobody has is counted, and its space serves the others", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    const strange = await w.create(counter2, "strange");
    await w.open(w.owner, strange, ["double"]);
    const ben = await w.t.connected("ben");
    await w.open(ben, piece, ["double"]);
    await w.write(ben, piece, "count", 4);
    await w.settle();
    expect(w.value(piece, "double")).toBe(8);
    expect(w.host.spaceStats(w.space).structureLoadFailures).toBeGreaterThanOrEqual(1);
    expect(w.reports.some((one) => one.kind === "piece-failed")).toBe(true);
    await w.stop();
  });
});

describe("same-space cascades", () => {
  test("[EX-C1] a send runs in the same wave as the session that clicked", async () => {
    const w = await served(cascade, ["p", "q"]);
    const before = w.head();
    const e1 = await w.fire(w.owner, w.piece, "first", 7);
    await w.settle();
    expect([w.value(w.piece, "p"), w.value(w.piece, "q")]).toEqual([1, 10]);
    const mine = sessionScopeKey(w.owner.identity.did, w.owner.sessionId);
    expect(w.value(w.piece, "mine", mine)).toBe(7);
    expect(w.derived(before)).toBe(2);
    const [wave] = w.t.engines
      .get(w.space)!
      .commitsSince(before)
      .filter((one) => one.class === "derived");
    expect(wave?.consequenceOf).toHaveLength(2);
    expect(wave?.consequenceOf?.[0]).toBe(e1);
    expect(wave?.appends).toMatchObject([
      { firedAt: { user: w.owner.identity.did, session: w.owner.sessionId }, seq: wave?.seq },
    ]);
    expect(wave?.frontiers).toHaveLength(2);
    await w.stop();
  });

  test("[EX-C2] a requeued parent takes its cascade along", async () => {
    const w = await served(cascade, ["p", "q"]);
    const ben = await w.t.connected("ben");
    await ben.call("space.open", { space: w.space, watches: [] });
    w.t.gates.hold("wave:before-commit");
    const e1 = await w.fire(w.owner, w.piece, "first", 1);
    await w.write(ben, w.piece, "p", 100);
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect([w.value(w.piece, "p"), w.value(w.piece, "q")]).toEqual([101, 10]);
    expect(lab.runs.get("second")).toBe(2);
    expect(w.naming(e1)).toBe(1);
    expect(w.host.spaceStats(w.space).events.orphanDeliveriesRefused).toBe(1);
    await w.stop();
  });

  test("[EX-C3] at the deadline unrun copies are purged and a late one's seal is refused; each effect lands once", async () => {
    const w = await served(cascade, ["p", "q"], { policy2: { flushDeadlineMs: 100 } });
    const open = lab.door("slow");
    const e1 = await w.fire(w.owner, w.piece, "both");
    await w.t.clock.advance(150);
    expect(w.entry(w.piece, "both", e1)).toMatchObject({ consequenced: true });
    expect(w.host.spaceStats(w.space).events.lt1LeftoversPurged).toBe(1);
    open();
    await w.settle(1_000);
    expect([w.value(w.piece, "p"), w.value(w.piece, "q")]).toEqual([1, 110]);
    expect(w.host.spaceStats(w.space).events.lt1LateSealsRefused).toBe(1);
    expect(w.naming(e1)).toBe(1);
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await w.stop();
  });

  test("[EX-C3] a copy that is held on its way to its body does not begin once its wave has closed", async () => {
    const w = await served(cascade, ["p", "q"], { policy2: { flushDeadlineMs: 100 } });
    const open = lab.door("slow");
    w.t.gates.hold("handler:before-run", { times: 2 });
    await w.fire(w.owner, w.piece, "both");
    await w.t.clock.advance(1);
    // The event's own run goes on; the copy of the first of its two sends is held, past the deadline.
    w.t.gates.release("handler:before-run");
    await w.t.clock.advance(150);
    w.t.gates.release("handler:before-run");
    open();
    await w.settle(1_000);
    expect(lab.runs.get("slow")).toBe(1);
    expect([w.value(w.piece, "p"), w.value(w.piece, "q")]).toEqual([1, 110]);
    expect(w.host.spaceStats(w.space).events.lt1LeftoversPurged).toBe(2);
    expect(w.host.spaceStats(w.space).events.lt1LateSealsRefused).toBe(0);
    await w.stop();
  });
});
