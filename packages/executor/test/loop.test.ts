import { beforeEach, describe, expect, test } from "vitest";
import { chain, counter, deep, FAN_OUT, fanOut, lab } from "./support/patterns.js";
import { createWorld, type World } from "./support/world.js";

beforeEach(() => lab.runs.clear());

async function served(
  names: readonly string[],
  over: Parameters<typeof createWorld>[0],
): Promise<World & { piece: Awaited<ReturnType<World["create"]>> }> {
  const w = await createWorld(over);
  lab.spend = (ms) => w.t.clock.spend(ms);
  const [pattern] = over.patterns;
  if (pattern === undefined) throw new Error("no pattern");
  const piece = await w.create(pattern);
  await w.open(w.owner, piece, names);
  await w.settle();
  return { ...w, piece };
}

describe("one commit per wave", () => {
  test("[EX-L2] a chain of derivations lands in one derived commit, then one advance, then silence", async () => {
    const w = await served(["x", "z", "y"], { patterns: [chain] });
    const before = w.head();
    const seq = await w.write(w.owner, w.piece, "n", 4);
    await w.settle();
    expect([w.value(w.piece, "x"), w.value(w.piece, "z"), w.value(w.piece, "y")]).toEqual([
      14, 15, 6,
    ]);
    const commits = w.t.engines.get(w.space)!.commitsSince(before);
    expect(commits.map((one) => one.class)).toEqual(["authored", "derived", "derived"]);
    expect(commits[1]).toMatchObject({ derivedThrough: seq, watermark: seq });
    expect(commits[2]).toMatchObject({ watermark: seq + 1 });
    const head = w.head();
    await w.t.clock.advance(120_000);
    expect(w.head()).toBe(head);
    await w.stop();
  });

  test("[EX-L3] input that changes no output still moves the watermark, once", async () => {
    const w = await served(["capped"], { patterns: [chain] });
    await w.write(w.owner, w.piece, "n", 6);
    await w.settle();
    expect(w.value(w.piece, "capped")).toBe(7);
    const before = w.head();
    const seq = await w.write(w.owner, w.piece, "n", 9);
    await w.settle();
    expect(w.watermark()).toBeGreaterThanOrEqual(seq);
    expect(w.derived(before)).toBe(1);
    await w.t.clock.advance(60_000);
    expect(w.derived(before)).toBe(1);
    await w.stop();
  });

  test("[EX-L4] what nothing demands does not run", async () => {
    const w = await served(["count"], { patterns: [counter] });
    await w.write(w.owner, w.piece, "count", 1);
    await w.write(w.owner, w.piece, "count", 2);
    await w.settle();
    expect(lab.runs.get("double")).toBeUndefined();
    await w.stop();
  });
});

describe("the flush deadline", () => {
  test("[EX-F1] a cascade longer than the deadline is cut, commits what ran and claims no input", async () => {
    const w = await served(["c4"], { patterns: [deep], policy2: { flushDeadlineMs: 100 } });
    w.t.gates.hold("wave:after-commit", { space: w.space });
    const before = w.watermark();
    const seq = await w.write(w.owner, w.piece, "n", 5);
    await w.settle(1_000);
    expect(w.t.gates.waiting("wave:after-commit")).toBe(1);
    expect(w.value(w.piece, "c1")).toBe(5);
    expect(w.value(w.piece, "c4")).toBe(0);
    expect(w.watermark()).toBeLessThan(seq);
    expect(w.watermark()).toBeGreaterThanOrEqual(before);
    w.t.gates.release("wave:after-commit");
    await w.settle(2_000);
    expect(w.value(w.piece, "c4")).toBe(5);
    expect(w.watermark()).toBeGreaterThanOrEqual(seq);
    expect(w.host.spaceStats(w.space).wavesBudgetExhausted).toBeGreaterThanOrEqual(1);
    await w.stop();
  });

  test("[EX-F2] a click's consequence and mark land in the first flush", async () => {
    const w = await served(["c4"], { patterns: [deep], policy2: { flushDeadlineMs: 100 } });
    w.t.gates.hold("wave:after-commit", { space: w.space });
    const e1 = await w.fire(w.owner, w.piece, "inc");
    await w.settle(1_000);
    expect(w.value(w.piece, "n")).toBe(1);
    expect(w.value(w.piece, "c4")).toBe(0);
    expect(w.entry(w.piece, "inc", e1)).toMatchObject({ consequenced: true });
    w.t.gates.release("wave:after-commit");
    await w.settle(2_000);
    expect(w.value(w.piece, "c4")).toBe(1);
    expect(w.naming(e1)).toBe(1);
    await w.stop();
  });

  test("[EX-F6] one user's click lands and is told within two deadlines of its arrival while another's fan-out runs for twenty", async () => {
    const T_FLUSH = 100;
    // A wave is cut between two derivations, and what was sent is looked at between two.
    const STEP = 10;
    const w = await createWorld({
      patterns: [fanOut, counter],
      policy2: { flushDeadlineMs: T_FLUSH },
    });
    const [wide, small] = [await w.create(fanOut), await w.create(counter)];
    const ben = await w.t.connected("ben");
    const leaves = Array.from({ length: FAN_OUT }, (_, i) => `leaf${i}`);
    await w.open(w.owner, wide, leaves);
    await w.open(ben, small, ["count", "double"]);
    await w.settle();
    const [clicked, told]: [number[], number[]] = [[], []];
    let leaf = 0;
    // Between two derivations it is seen what ben was told; while one runs, he clicks.
    lab.spend = (ms) => {
      const ends = ben.frames(w.space).flatMap((frame) => frame.entries);
      while (told.length < ends.length) told.push(w.t.clock.monotonic());
      leaf += 1;
      if ([1, 14, 45, 90, 151].includes(leaf)) {
        clicked.push(w.t.clock.monotonic());
        void w.fire(ben, small, "inc");
      }
      w.t.clock.spend(ms);
    };
    await w.fire(w.owner, wide, "spread");
    await w.settle(10_000);
    expect(leaf).toBe(FAN_OUT);
    const waited = told.map((at, i) => at - (clicked[i] as number));
    expect(waited).toHaveLength(5);
    expect(Math.max(...waited)).toBeLessThanOrEqual(2 * T_FLUSH + 3 * STEP);
    expect(w.value(small, "count")).toBe(5);
    expect(w.value(wide, `leaf${FAN_OUT - 1}`)).toBe(1);
    await w.stop();
  });

  test("[EX-F3] cycles cut while a handler is held are counted and write nothing", async () => {
    const w = await served(["count"], { patterns: [counter], policy2: { flushDeadlineMs: 100 } });
    w.t.gates.hold("handler:before-run");
    const before = w.head();
    const e1 = await w.fire(w.owner, w.piece, "inc");
    await w.t.clock.advance(1_000);
    expect(w.derived(before)).toBe(0);
    expect(w.host.spaceStats(w.space).wavesBudgetExhausted).toBeGreaterThanOrEqual(1);
    w.t.gates.release("handler:before-run");
    await w.settle();
    expect(w.value(w.piece, "count")).toBe(1);
    expect(w.naming(e1)).toBe(1);
    await w.stop();
  });

  test("[EX-F4] cut cycles do not queue a held event again", async () => {
    const w = await served(["count"], { patterns: [counter], policy2: { flushDeadlineMs: 50 } });
    w.t.gates.hold("handler:before-run");
    const e1 = await w.fire(w.owner, w.piece, "inc");
    await w.t.clock.advance(500);
    const e2 = await w.fire(w.owner, w.piece, "inc");
    await w.t.clock.advance(500);
    w.t.gates.release("handler:before-run");
    await w.settle();
    expect(w.value(w.piece, "count")).toBe(2);
    expect([w.naming(e1), w.naming(e2)]).toEqual([1, 1]);
    expect(w.host.spaceStats(w.space).events.drainInFlightSkips).toBeGreaterThanOrEqual(1);
    await w.stop();
  });
});
