import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { nodeIdFor, type DocId, type Seq } from "@tidemark/protocol";
import { createTestServer, type TestClient } from "@tidemark/memory-engine/testing";
import { z } from "zod";
import { action, cell, handler, pattern, type Pattern } from "@tidemark/runtime";
import { cascade, chain, counter, form, lab } from "./support/patterns.js";
import { createWorld, type World } from "./support/world.js";

beforeEach(() => {
  lab.runs.clear();
  lab.doors.clear();
  lab.stepMs = 0;
});

interface Raced extends World {
  readonly piece: DocId;
  readonly ben: TestClient;
}

/** A served space with a second writer, who watches nothing. */
async function raced(pattern: Pattern, names: readonly string[], dir?: string): Promise<Raced> {
  const w = await createWorld({ patterns: [pattern], ...(dir === undefined ? {} : { dir }) });
  const piece = await w.create(pattern);
  const ben = await w.t.connected("ben");
  await ben.call("space.open", { space: w.space, watches: [] });
  await w.open(w.owner, piece, names);
  await w.settle();
  return { ...w, piece, ben };
}

/** One handler raises a number, another cannot stand a positive one. */
const picky = pattern({
  id: "picky",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const raise = action("raise", () => {
      n.set(n.get() + 1);
    });
    const check = action("check", () => {
      if (n.get() > 0) throw new Error("too much");
    });
    return { n, raise, check };
  },
});

/** The first event counts, the others wait; each leaves its name. */
const queued = pattern({
  id: "queued",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const log = cell("log", z.array(z.string()), { default: [] });
    const step = handler("step", z.string(), async (name, ctx) => {
      if (name === "one") ctx.cell(n).set(ctx.cell(n).get() + 1);
      else await lab.doors.get("slow");
      ctx.cell(log).append(name);
    });
    return { n, log, step };
  },
});

const replace = (path: string, value: number | string) =>
  ({ op: "replace", path: [path], value }) as const;

describe("derivations", () => {
  test("[EX-W1] a superseded derived write is dropped, its reader is withdrawn and follows the stored value", async () => {
    const w = await raced(chain, ["x", "z"]);
    w.t.gates.hold("wave:before-commit");
    await w.write(w.owner, w.piece, "n", 1);
    expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
    await w.write(w.ben, w.piece, "x", 99);
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect([w.value(w.piece, "x"), w.value(w.piece, "z")]).toEqual([99, 100]);
    expect(w.host.spaceStats(w.space).supersededWrites).toBe(1);
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await w.stop();
  });

  test("[EX-W2] one output lost to a rival costs the wave that output alone", async () => {
    const w = await raced(chain, ["x", "y"]);
    w.t.gates.hold("wave:before-commit");
    w.t.gates.hold("wave:after-commit");
    await w.write(w.owner, w.piece, "n", 10);
    await w.write(w.ben, w.piece, "x", 99);
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    expect([w.value(w.piece, "x"), w.value(w.piece, "y")]).toEqual([99, 12]);
    w.t.gates.release("wave:after-commit");
    await w.settle();
    expect([w.value(w.piece, "x"), w.value(w.piece, "y")]).toEqual([99, 12]);
    await w.stop();
  });
});

describe("withdrawn reads", () => {
  test("[EX-W23] a run that read an unchanged field of what was taken back runs again all the same", async () => {
    const w = await raced(form, ["beside", "fields"]);
    await w.write(w.ben, w.piece, "fields", { a: 1, b: 5 });
    await w.settle();
    expect(w.value(w.piece, "beside")).toBe(5);
    w.t.gates.hold("feed:before-apply");
    await w.write(w.owner, w.piece, "edits", 100);
    await w.fire(w.owner, w.piece, "bumpA");
    w.t.gates.hold("wave:before-commit");
    w.t.gates.release("feed:before-apply");
    await w.t.run();
    expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
    await w.patch(w.ben, w.piece, "fields", [replace("a", 9)]);
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(w.value(w.piece, "fields")).toEqual({ a: 10, b: 5 });
    expect(w.value(w.piece, "beside")).toBe(105);
    await w.stop();
  });
});

describe("consequences", () => {
  test("[EX-W3] a consequence that touches another field merges with the mid-wave write", async () => {
    const w = await raced(form, ["fields"]);
    await w.write(w.ben, w.piece, "fields", { a: 1, b: 1 });
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    const e1 = await w.fire(w.owner, w.piece, "setA");
    await w.patch(w.ben, w.piece, "fields", [replace("b", 50)]);
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(w.value(w.piece, "fields")).toEqual({ a: 2, b: 50 });
    expect(lab.runs.get("setA")).toBe(1);
    expect(w.naming(e1)).toBe(1);
    await w.stop();
  });

  test("[EX-W4] an increment lands on a rival's value", async () => {
    const w = await raced(counter, ["count"]);
    w.t.gates.hold("wave:before-commit");
    await w.fire(w.owner, w.piece, "inc");
    await w.write(w.ben, w.piece, "count", 10);
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(w.value(w.piece, "count")).toBe(11);
    expect(lab.runs.get("inc")).toBe(1);
    await w.stop();
  });

  test("[EX-W5] a consequence beaten to what it read runs again on the new value, once", async () => {
    const w = await raced(form, ["fields"]);
    await w.write(w.ben, w.piece, "fields", { a: 1, b: 1 });
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    w.t.gates.hold("wave:after-commit");
    const e1 = await w.fire(w.owner, w.piece, "bumpA");
    await w.patch(w.ben, w.piece, "fields", [replace("a", 9)]);
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    expect(w.naming(e1)).toBe(0);
    expect(w.entry(w.piece, "bumpA", e1)?.consequenced).toBeUndefined();
    expect(w.watermark()).toBeLessThan(w.entry(w.piece, "bumpA", e1)?.seq ?? 0);
    w.t.gates.release("wave:after-commit");
    await w.settle();
    expect(w.value(w.piece, "fields")).toEqual({ a: 10, b: 1 });
    expect(lab.runs.get("bumpA")).toBe(2);
    expect(w.naming(e1)).toBe(1);
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await w.stop();
  });

  test("[EX-W5] one beaten by another process's commit, which no feed tells of, runs again once", async () => {
    const dir = mkdtempSync(join(tmpdir(), "tidemark-"));
    const w = await raced(form, ["fields"], dir);
    const other = createTestServer({ clock: w.t.clock, dir, seed: 9 });
    const carla = await other.connected("carla");
    other.server.space(w.space);
    await carla.call("space.open", { space: w.space, watches: [] });
    await w.write(w.ben, w.piece, "fields", { a: 1, b: 1 });
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    const e1 = await w.fire(w.owner, w.piece, "bumpA");
    const ops = [{ op: "set", id: nodeIdFor(w.piece, "fields"), value: { a: 9, b: 1 } }] as const;
    expect(await carla.commit(w.space, { ops })).toMatchObject({ ok: true });
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    expect(w.value(w.piece, "fields")).toEqual({ a: 10, b: 1 });
    expect(lab.runs.get("bumpA")).toBe(2);
    expect(w.naming(e1)).toBe(1);
    await other.stop();
    await w.stop();
    rmSync(dir, { recursive: true });
  });

  test("[EX-M1] what a wave gave back keeps W below it when a later event's body takes it out of the queue", async () => {
    const w = await raced(form, ["fields"]);
    await w.write(w.ben, w.piece, "fields", { a: 1, b: 1 });
    await w.settle();
    w.t.gates.hold("feed:before-apply");
    w.t.gates.hold("seal:before", { times: 2 });
    const e1 = await w.fire(w.owner, w.piece, "bumpA");
    const e2 = await w.fire(w.owner, w.piece, "step", "later");
    w.t.gates.release("feed:before-apply");
    await w.t.run();
    w.t.gates.release("seal:before");
    await w.t.run();
    await w.patch(w.ben, w.piece, "fields", [replace("a", 9)]);
    // The deadline cuts the cycle: the first one goes back while the second one's body still waits.
    await w.t.clock.advance(101);
    await w.t.run();
    expect(w.entry(w.piece, "bumpA", e1)?.consequenced).toBeUndefined();
    // Somebody wakes the loop: the body ends within a cycle, which then is at rest.
    await w.write(w.ben, w.piece, "beside", 1);
    w.t.gates.release("seal:before");
    await w.settle();
    expect(w.value(w.piece, "fields")).toEqual({ a: 11, b: 1 });
    const { seq } = w.entry(w.piece, "bumpA", e1) ?? { seq: 0 };
    const commits = w.t.engines.get(w.space)?.commitsSince(0 as Seq) ?? [];
    const ended = commits.find(({ consequenceOf }) => consequenceOf?.includes(e1))?.seq ?? 0;
    const before = commits.filter((commit) => commit.seq < ended);
    expect(before.filter(({ watermark = 0 }) => watermark >= seq)).toEqual([]);
    expect(w.naming(e2)).toBe(1);
    await w.stop();
  });

  test("[EX-W13] a body that waits goes back with the earlier event of its stream, though it read nothing of it", async () => {
    const w = await raced(queued, ["n"]);
    const open = lab.door("slow");
    w.t.gates.hold("feed:before-apply");
    const e1 = await w.fire(w.owner, w.piece, "step", "one");
    const e2 = await w.fire(w.owner, w.piece, "step", "two");
    w.t.gates.release("feed:before-apply");
    await w.t.run();
    await w.write(w.ben, w.piece, "n", 40);
    // The deadline cuts the cycle: the first goes back while the second's body waits.
    await w.t.clock.advance(101);
    await w.t.run();
    expect(w.entry(w.piece, "step", e1)?.consequenced).toBeUndefined();
    open();
    await w.settle();
    expect([w.value(w.piece, "n"), w.value(w.piece, "log")]).toEqual([41, ["one", "two"]]);
    expect([w.naming(e1), w.naming(e2)]).toEqual([1, 1]);
    await w.stop();
  });

  test("[EX-W7] an error that was made of what a raced event wrote goes back with it", async () => {
    const w = await raced(picky, ["n"]);
    w.t.gates.hold("feed:before-apply");
    const e1 = await w.fire(w.owner, w.piece, "raise");
    const e2 = await w.fire(w.owner, w.piece, "check");
    w.t.gates.hold("wave:before-commit");
    w.t.gates.release("feed:before-apply");
    await w.t.run();
    // The rival's value is one that the check has nothing against, even after the raise.
    await w.write(w.ben, w.piece, "n", -40);
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(w.value(w.piece, "n")).toBe(-39);
    expect(w.entry(w.piece, "check", e2)).toMatchObject({ consequenced: true });
    expect(w.entry(w.piece, "check", e2)?.status).toBeUndefined();
    expect([w.naming(e1), w.naming(e2)]).toEqual([1, 1]);
    await w.stop();
  });

  test("[EX-W6] a raced event is never dropped, however often it loses", async () => {
    const w = await raced(counter, ["count"]);
    w.t.gates.hold("wave:before-commit", { times: 6 });
    const e1 = await w.fire(w.owner, w.piece, "bump");
    for (let round = 1; round <= 6; round += 1) {
      expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
      await w.write(w.ben, w.piece, "count", round * 10);
      w.t.gates.release("wave:before-commit");
      await w.t.run();
    }
    await w.settle();
    expect(w.value(w.piece, "count")).toBe(61);
    expect(w.naming(e1)).toBe(1);
    expect(w.host.spaceStats(w.space).events.dropped).toBe(0);
    await w.stop();
  });

  test("[EX-W7] of three events in a wave the raced one alone goes back", async () => {
    const w = await raced(cascade, ["p", "log"]);
    w.t.gates.hold("wave:before-commit", { times: 2 });
    await w.fire(w.owner, w.piece, "note", 0);
    await w.fire(w.owner, w.piece, "note", 1);
    const e1 = await w.fire(w.owner, w.piece, "first", 5);
    await w.fire(w.owner, w.piece, "note", 2);
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    w.t.gates.hold("wave:after-commit");
    await w.write(w.ben, w.piece, "p", 50);
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    expect(w.value(w.piece, "log")).toEqual([0, 1, 2]);
    expect(w.value(w.piece, "p")).toBe(50);
    expect(w.naming(e1)).toBe(0);
    w.t.gates.release("wave:after-commit");
    await w.settle();
    expect(w.value(w.piece, "p")).toBe(51);
    expect(w.value(w.piece, "q")).toBe(10);
    await w.stop();
  });
});

describe("order behind a raced event", () => {
  for (const [where, gate] of [
    ["queued", undefined],
    ["about to run", "handler:before-run"],
    ["about to be made ready", "preflight:before"],
  ] as const) {
    test(`[EX-D8] a later event of the stream that is still ${where} does not overtake it`, async () => {
      const w = await createWorld({ patterns: [form], policy2: { flushDeadlineMs: 50 } });
      lab.spend = (ms) => w.t.clock.spend(ms);
      lab.stepMs = gate === undefined ? 60 : 0;
      const piece = await w.create(form);
      const ben = await w.t.connected("ben");
      await ben.call("space.open", { space: w.space, watches: [] });
      await w.open(w.owner, piece, ["fields"]);
      await w.write(ben, piece, "fields", { a: 1 });
      await w.settle();
      w.t.gates.hold("wave:before-commit");
      w.t.gates.hold("feed:before-apply");
      const ids = [
        await w.fire(w.owner, piece, "step", "first"),
        await w.fire(w.owner, piece, "step", "second"),
        await w.fire(w.owner, piece, "step", "third"),
      ];
      if (gate !== undefined) w.t.gates.hold(gate, { event: ids[1] as string });
      w.t.gates.release("feed:before-apply");
      await w.t.clock.advance(60);
      expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
      await w.patch(ben, piece, "fields", [replace("a", 10)]);
      w.t.gates.release("wave:before-commit");
      await w.t.run();
      w.t.gates.open();
      await w.settle(1_000);
      expect(w.value(piece, "fields")).toEqual({ a: 13 });
      expect(w.value(piece, "order")).toEqual(["first", "second", "third"]);
      await w.stop();
    });
  }
});

describe("the firing session's own later writes", () => {
  test("[EX-W8] what a session wrote after its click supersedes the consequence, path by path", async () => {
    const w = await raced(form, ["text", "edits", "fields"]);
    w.t.gates.hold("wave:before-commit");
    const e1 = await w.fire(w.owner, w.piece, "fill", "abc");
    await w.write(w.owner, w.piece, "text", "typed");
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect([w.value(w.piece, "text"), w.value(w.piece, "edits")]).toEqual(["typed", 1]);
    expect(lab.runs.get("fill")).toBe(1);
    expect(w.naming(e1)).toBe(1);

    await w.write(w.owner, w.piece, "fields", { a: "", b: "" });
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    await w.fire(w.owner, w.piece, "fillBoth", "click");
    await w.patch(w.owner, w.piece, "fields", [replace("a", "typed")]);
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(w.value(w.piece, "fields")).toEqual({ a: "typed", b: "click" });
    await w.stop();
  });

  test("[EX-W8] an element that the session took out supersedes its addition, and no other", async () => {
    const w = await raced(cascade, ["log"]);
    await w.write(w.owner, w.piece, "log", ["old", "kept"]);
    await w.settle();
    for (const gate of ["drain:before-queue", "wave:before-commit"] as const) {
      w.t.gates.hold(gate);
      await w.fire(w.owner, w.piece, "note", `new at ${gate}`);
      await w.fire(w.owner, w.piece, "note", "undone");
      await w.patch(w.owner, w.piece, "log", [
        { op: "remove", path: [], value: "old" },
        { op: "remove", path: [], value: "undone" },
      ]);
      w.t.gates.release(gate);
      await w.settle();
    }
    const added = ["new at drain:before-queue", "new at wave:before-commit"];
    expect(w.value(w.piece, "log")).toEqual(["kept", ...added]);
    await w.stop();
  });

  test("[EX-W9] it holds where the write came before the handler ran", async () => {
    const w = await raced(form, ["text", "edits"]);
    w.t.gates.hold("drain:before-queue");
    await w.fire(w.owner, w.piece, "fill", "abc");
    await w.write(w.owner, w.piece, "text", "typed");
    w.t.gates.release("drain:before-queue");
    await w.settle();
    expect([w.value(w.piece, "text"), w.value(w.piece, "edits")]).toEqual(["typed", 1]);
    await w.stop();
  });

  test("[EX-W10] another session of the same user does not supersede", async () => {
    const w = await raced(form, ["text", "edits"]);
    const other = await w.t.connected("ana", "ana2");
    await other.call("space.open", { space: w.space, watches: [] });
    w.t.gates.hold("wave:before-commit");
    await w.fire(w.owner, w.piece, "fill", "abc");
    await w.write(other, w.piece, "text", "other tab");
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect([w.value(w.piece, "text"), w.value(w.piece, "edits")]).toEqual(["abc", 1]);
    await w.stop();
  });
});
