import { beforeEach, describe, expect, test } from "vitest";
import {
  ACL_DOC,
  instanceKey,
  SPACE_SCOPE_KEY,
  type ActionId,
  type DocId,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import type { SealedRun } from "@tidemark/runtime";
import { SpaceStats } from "../src/stats/counters.js";
import { WaveAccumulator } from "../src/wave/accumulator.js";
import { WaveSeal } from "../src/wave/wave-seal.js";
import { counter, deep, lab, patient } from "./support/patterns.js";
import { createWorld } from "./support/world.js";

beforeEach(() => {
  lab.runs.clear();
  lab.doors.clear();
});

describe("the view under a running handler", () => {
  test("[EX-B5] the replica does not move while a handler's body runs; what came meanwhile is served after it", async () => {
    const w = await createWorld({ patterns: [patient] });
    const piece = await w.create(patient);
    await w.open(w.owner, piece, ["twice"]);
    await w.settle();
    const open = lab.door("look");
    const e1 = await w.fire(w.owner, piece, "look");
    await w.write(w.owner, piece, "n", 5);
    await w.t.clock.advance(500);
    expect(w.value(piece, "twice")).toBe(0);
    open();
    await w.settle();
    expect(w.value(piece, "seen")).toEqual([0, 0]);
    expect(w.naming(e1)).toBe(1);
    expect(w.value(piece, "twice")).toBe(10);
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await w.stop();
  });

  test("[EX-W19] a body that read what was taken back while it waited runs again", async () => {
    const w = await createWorld({ patterns: [patient], policy2: { flushDeadlineMs: 100 } });
    const piece = await w.create(patient);
    await w.open(w.owner, piece, ["twice"]);
    const ben = await w.t.connected("ben");
    await ben.call("space.open", { space: w.space, watches: [] });
    await w.settle();
    const open = lab.door("look");
    w.t.gates.hold("wave:before-commit");
    await w.fire(w.owner, piece, "raise");
    expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
    await w.fire(w.owner, piece, "raise");
    await w.fire(w.owner, piece, "copy");
    w.t.gates.release("wave:before-commit");
    w.t.gates.hold("wave:before-commit");
    await w.t.clock.advance(150);
    // The second raise is sealed, the copy has read it and waits; its wave is about to commit.
    expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
    await w.write(ben, piece, "n", 40);
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    open();
    await w.settle(1_000);
    expect(w.value(piece, "n")).toBe(41);
    expect(w.value(piece, "out")).toBe(41);
    expect(w.value(piece, "seen")).toEqual([41, 41]);
    expect(lab.runs.get("copy")).toBe(2);
    await w.stop();
  });
});

describe("seals", () => {
  const doc = instanceKey("node:x" as DocId, SPACE_SCOPE_KEY);
  const sealed = (parts: Partial<SealedRun>): SealedRun => ({
    context: { kind: "derivation", action: "t/x@p" as ActionId, scopeKey: SPACE_SCOPE_KEY },
    reads: [],
    writes: [{ key: doc, op: { op: "set", value: 1 } }],
    sends: [],
    emits: [],
    ...parts,
  });

  function sealOver(live = true) {
    const stats = new SpaceStats();
    const accumulator = new WaveAccumulator({
      seq: 1 as Seq,
      get: () => ({ value: undefined, seq: 0 as Seq }),
      accept: () => undefined,
    });
    const seal = new WaveSeal({
      space: "did:key:home" as SpaceId,
      accumulator,
      stats,
      now: () => 0,
      stage: () => ({ ok: true, changes: [] }),
      onSends: () => undefined,
      live: () => live,
      onLate: () => undefined,
    });
    return { seal, stats, accumulator };
  }

  test("[EX-W20] a writing transaction without a run context is refused loudly and counted; a reading one is not", () => {
    const { seal, stats, accumulator } = sealOver();
    const none = { context: undefined as never };
    expect(seal.seal(sealed(none))).toMatchObject({ ok: false, error: { code: "protocol" } });
    expect(stats.counts.unstampedSealRefusals).toBe(1);
    expect(accumulator.open.isEmpty).toBe(true);
  });

  test("[EX-W21] no run writes an access list or another document of the server's", () => {
    const { seal, accumulator } = sealOver();
    const key = instanceKey(ACL_DOC, SPACE_SCOPE_KEY);
    const verdict = seal.seal(sealed({ writes: [{ key, op: { op: "set", value: {} } }] }));
    expect(verdict).toMatchObject({ ok: false, error: { code: "unauthorized" } });
    expect(accumulator.open.isEmpty).toBe(true);
  });

  test("[EX-A5] a run that delivers no event asks nothing of the access list", () => {
    const { seal, accumulator } = sealOver();
    const accessChanges = [{ kind: "grant", grantee: "*", level: "OWNER" }] as const;
    const verdict = seal.seal(sealed({ accessChanges }));
    expect(verdict).toMatchObject({ ok: false, error: { code: "unauthorized" } });
    expect(accumulator.open.isEmpty).toBe(true);
  });

  test("[EX-W22] a send into another space is refused while crossings are not served", () => {
    const { seal, stats } = sealOver();
    const stream = { id: "stream:s" as DocId, space: "did:key:away" as SpaceId };
    const sends = [{ stream, eventId: "e" as never, payload: null }];
    expect(seal.seal(sealed({ sends }))).toMatchObject({ ok: false, error: { code: "frame" } });
    expect(stats.counts.foreignWriteRefusals).toBe(1);
  });

  test("[EX-T6] nothing seals once the tenure has ended", () => {
    const { seal, accumulator } = sealOver(false);
    expect(seal.seal(sealed({}))).toMatchObject({ ok: false });
    expect(accumulator.open.isEmpty).toBe(true);
  });
});

describe("demand", () => {
  test("[EX-N2] demand ends with its last watcher, and lasts while one is left", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    const ben = await w.t.connected("ben");
    await w.open(w.owner, piece, ["double"]);
    await w.open(ben, piece, ["double"]);
    await w.settle();
    const runs = () => lab.runs.get("double") ?? 0;
    await ben.call("watch.set", { space: w.space, watches: [] });
    await w.write(ben, piece, "count", 1);
    await w.settle();
    expect([w.value(piece, "double"), runs()]).toEqual([2, 2]);
    await w.owner.call("watch.set", { space: w.space, watches: [] });
    await w.write(ben, piece, "count", 2);
    await w.settle();
    expect([w.value(piece, "double"), runs()]).toEqual([2, 2]);
    await w.open(ben, piece, ["double"]);
    await w.settle();
    expect([w.value(piece, "double"), runs()]).toEqual([4, 3]);
    const { demand } = w.host.spaceStats(w.space);
    expect(demand.demandRootEnters - demand.demandRootLeaves).toBe(1);
    await w.stop();
  });
});

describe("upkeep", () => {
  test("[EX-K1] a quiet space compacts its streams and prunes by policy, without a commit", async () => {
    const w = await createWorld({
      patterns: [counter],
      policy2: { compactAfterEntries: 4, compactAfterMs: 1_000, maintenanceEveryMs: 10_000 },
    });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["count"]);
    const { streamIdFor: streamOf } = await import("@tidemark/protocol");
    const standing = () => w.t.engines.get(w.space)?.entries.list(streamOf(piece, "inc")).length;
    for (let at = 0; at < 20; at += 1) await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect(standing()).toBe(20);
    const head = w.head();
    await w.t.clock.advance(20_000);
    expect(standing()).toBe(4);
    expect(w.head()).toBe(head);
    expect(w.value(piece, "count")).toBe(20);
    await w.stop();
  });
});

describe("neighbours", () => {
  test("[EX-H14] spaces take turns by slice: a busy one costs its neighbour at most a slice", async () => {
    const w = await createWorld({
      patterns: [deep, counter],
      policy2: { flushDeadlineMs: 60_000 },
    });
    lab.spend = (ms) => w.t.clock.spend(ms);
    const busy = await w.create(deep);
    const other = await w.t.space("other", w.owner);
    const { describePiece } = await import("@tidemark/runtime");
    const { nodeIdFor, pieceIdFor, streamIdFor } = await import("@tidemark/protocol");
    const calm = pieceIdFor({ name: "calm" });
    await w.owner.commit(other, {
      ops: [{ op: "set", id: calm, value: describePiece(counter, {}, calm) as never }],
    });
    await w.open(w.owner, busy, ["c4"]);
    await w.owner.call("space.open", { space: other, watches: [] });
    await w.settle();

    const done: string[] = [];
    w.t.server.space(w.space).feed(w.head(), (one) => {
      if (one.class === "derived") done.push("busy");
    });
    w.t.server.space(other).feed(w.t.engines.get(other)!.head(), (one) => {
      if (one.class === "derived") done.push("calm");
    });
    w.owner.post("commit", {
      space: w.space,
      commit: {
        localSeq: w.owner.localSeq(),
        reads: [],
        ops: [{ op: "set", id: nodeIdFor(busy, "n"), value: 1 }],
      },
    });
    w.owner.post("append", {
      space: other,
      append: {
        localSeq: w.owner.localSeq(),
        stream: streamIdFor(calm, "inc"),
        entry: { eventId: "calm-1" as never, payload: null },
      },
    });
    await w.settle();
    expect(done[0]).toBe("calm");
    expect(done).toContain("busy");
    await w.stop();
  });
});
