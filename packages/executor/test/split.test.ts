import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  nodeIdFor,
  StorageError,
  type AcceptedCommit,
  type DocId,
  type EventId,
} from "@tidemark/protocol";
import { cell, cellAt, computed, handler, pattern } from "@tidemark/runtime";
import { lab } from "./support/patterns.js";
import { createHost, createWorld, type World } from "./support/world.js";

beforeEach(() => lab.runs.clear());

const source = { id: "" as DocId };

/** A page whose text is long, and what another piece makes of it. */
const page = pattern({
  id: "page",
  version: "1",
  build: () => {
    const text = cell("text", z.string(), { default: "" });
    const size = computed("size", () => {
      lab.ran("size");
      return text.get().length;
    });
    const fill = handler("fill", z.string(), (letter) => {
      lab.ran("fill");
      text.set(letter.repeat(200));
    });
    return { text, size, fill };
  },
});

const reader = pattern({
  id: "reader",
  version: "1",
  build: () => {
    const text = cell("text", z.string(), { default: "" });
    const copy = computed("copy", () => {
      lab.ran("copy");
      return `${cellAt<string>(source, { default: "" }).get()}!`;
    });
    const fill = handler("fill", z.string(), (letter) => {
      lab.ran("fill");
      text.set(letter.repeat(200));
    });
    return { text, copy, fill };
  },
});

interface Backlog {
  readonly w: World;
  readonly p: DocId;
  readonly q: DocId;
  readonly events: readonly EventId[];
  derived(): readonly AcceptedCommit[];
}

/** Three events for two pieces that wait for a tenure, whose wave is too large for one commit. */
async function backlog(policy2 = {}): Promise<Backlog> {
  const w = await createWorld({
    patterns: [page, reader],
    policy2: { waveMaxBytes: 500, ...policy2 },
    started: false,
  });
  const p = await w.create(page);
  source.id = nodeIdFor(p, "text");
  const q = await w.create(reader);
  await w.owner.call("space.open", {
    space: w.space,
    watches: [
      { id: "size", root: { id: nodeIdFor(p, "size") } },
      { id: "copy", root: { id: nodeIdFor(q, "copy") } },
    ],
  });
  const events = [
    await w.fire(w.owner, p, "fill", "a"),
    await w.fire(w.owner, q, "fill", "b"),
    await w.fire(w.owner, p, "fill", "c"),
  ];
  const engine = () => w.t.engines.get(w.space);
  return {
    w,
    p,
    q,
    events,
    derived: () =>
      (engine()?.commitsSince(0 as never) ?? []).filter(
        (one) => one.class === "derived" && (one.consequenceOf ?? []).length > 0,
      ),
  };
}

describe("a wave past its bound", () => {
  test("[EX-W24] lands split by piece before any new input is taken: every split names every event, the last has W", async () => {
    const { w, p, q, events, derived } = await backlog();
    const other = await w.create(page, "other");
    const last = w.head();
    w.t.gates.hold("wave:before-commit");
    w.host.start();
    await w.t.run();
    // Input that comes while it closes is the next wave's.
    await w.write(w.owner, other, "text", "mid-wave");
    w.t.gates.open();
    await w.settle();
    const splits = derived();
    expect(splits).toHaveLength(2);
    for (const split of splits) {
      expect(new Set(split.consequenceOf)).toEqual(new Set(events));
      expect(split.derivedThrough).toBe(last);
    }
    expect(splits.map((one) => one.watermark)).toEqual([undefined, last]);
    expect(splits[1]?.seq).toBe((splits[0]?.seq ?? 0) + 1);
    expect(splits.map((one) => one.marks.map((mark) => mark.eventId))).toEqual([
      [events[0], events[2]],
      [events[1]],
    ]);
    expect([w.value(p, "size"), w.value(q, "copy")]).toEqual([200, `${"c".repeat(200)}!`]);
    expect(lab.runs.get("fill")).toBe(3);
    const { events: counted, derivedCommits } = w.host.spaceStats(w.space);
    expect(counted).toMatchObject({ processed: 3, coalescedPerWaveMax: 3 });
    expect(derivedCommits).toBe(w.derived());
    expect(w.watermark()).toBeGreaterThan(last);
    await w.stop();
  });

  test("[EX-W24] under its bound it is one commit", async () => {
    const { w, derived } = await backlog({ waveMaxBytes: 10_000 });
    w.host.start();
    await w.settle();
    expect(derived()).toHaveLength(1);
    await w.stop();
  });

  test("[EX-W27] leaves rows that say where it stands: a restart runs nothing, a change runs its readers alone", async () => {
    const { w, p, q } = await backlog();
    w.host.start();
    await w.settle();
    const head = w.head();
    const stopping = w.host.stop();
    await w.t.clock.advance(10_000);
    await stopping;
    lab.runs.clear();
    const next = createHost(w.t, { patterns: [page, reader] }, [], 11);
    next.start();
    await w.settle();
    expect([...lab.runs]).toEqual([]);
    expect(w.head()).toBe(head);
    await w.write(w.owner, p, "text", "d");
    await w.settle();
    expect([w.value(p, "size"), w.value(q, "copy")]).toEqual([1, "d!"]);
    expect([lab.runs.get("size"), lab.runs.get("copy")]).toEqual([1, 1]);
    const ending = next.stop();
    await w.t.clock.advance(10_000);
    await ending;
    await w.stop();
  });

  test("[EX-W27] that the store refuses in its second half has written nothing, and lands once in the next tenure", async () => {
    const { w, p, q, events, derived } = await backlog();
    const engine = w.t.server.space(w.space).engine;
    const transact = engine.transact.bind(engine);
    let commits = 0;
    Object.assign(engine, {
      transact: (...args: Parameters<typeof transact>) => {
        commits += 1;
        if (commits === 2) throw new StorageError("the disk is full", { kind: "full" });
        return transact(...args);
      },
    });
    w.host.start();
    await w.t.run();
    expect([derived(), w.naming(events[0] as EventId)]).toEqual([[], 0]);
    await w.settle(5_000);
    expect(derived()).toHaveLength(2);
    expect([w.value(p, "size"), w.value(q, "copy")]).toEqual([200, `${"c".repeat(200)}!`]);
    await w.stop();
  });
});
