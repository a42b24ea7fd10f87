import { describe, expect, test } from "vitest";
import {
  instanceKey,
  SPACE_SCOPE_KEY,
  type ActionId,
  type DocId,
  type EventId,
  type InstanceKey,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import { buildBatch, type BatchContext } from "../../src/wave/batch.js";
import { coalesceWrites } from "../../src/wave/coalesce.js";
import type { Contribution } from "../../src/wave/contribution.js";
import { planWave, type PlanView } from "../../src/wave/plan.js";

const at = (name: string): InstanceKey => instanceKey(`node:${name}` as DocId, SPACE_SCOPE_KEY);
const seq = (n: number) => n as Seq;
const quiet: PlanView = {
  intrusions: () => [],
  head: () => seq(0),
  read: () => ({ value: 0, seq: seq(1) }),
};

function context(parts: Partial<BatchContext> = {}): BatchContext {
  return {
    space: "did:key:home" as SpaceId,
    seq: seq(50),
    derivedThrough: seq(49),
    frontier: () => seq(0),
    entriesAbove: () => [],
    ...parts,
  };
}

function derivation(id: number, parts: Partial<Contribution>): Contribution {
  return {
    id,
    kind: "derivation",
    action: `t/n${id}@p` as ActionId,
    instance: SPACE_SCOPE_KEY,
    basis: seq(10),
    reads: [],
    elided: [],
    writes: [],
    sends: [],
    layer: { ops: new Map() },
    ...parts,
  };
}

const read = (name: string, n: number) => ({
  key: at(name),
  path: [],
  kind: "value" as const,
  seq: seq(n),
});
const increment = (name: string, by: number) => ({
  key: at(name),
  op: { op: "patch" as const, value: [{ op: "increment" as const, path: [], value: by }] },
});
const set = (name: string, value: number) => ({ key: at(name), op: { op: "set" as const, value } });

function basisOf(contributions: readonly Contribution[], view: PlanView = quiet) {
  const { batch } = buildBatch(contributions, planWave(contributions, view), context());
  return batch.basis.map((row) => row.reads.map((one) => [one.id, one.seq]));
}

describe("basis rows", () => {
  test("[EX-R5] an input of this very wave takes the commit's seq, any other the seq it was read at", () => {
    const source = derivation(1, { writes: [set("x", 1)] });
    const reader = derivation(2, { reads: [read("x", 3), read("y", 7), read("y", 7)] });
    expect(basisOf([source, reader])[1]).toEqual([
      ["node:x", "wave"],
      ["node:y", 7],
    ]);
  });

  test("[EX-R5] an input that the wave wrote after the run leaves its row behind the head: the node is stale", () => {
    const reader = derivation(1, { reads: [read("x", 3)] });
    const source = derivation(2, { writes: [set("x", 1)] });
    expect(basisOf([reader, source])[0]).toEqual([["node:x", 3]]);
  });

  test("[EX-R5] an input that landed on top of what the run never saw leaves its row behind", () => {
    const handling = derivation(1, { kind: "event-handler", writes: [increment("x", 1)] });
    const reader = derivation(2, { reads: [read("x", 3)] });
    const struck: PlanView = {
      ...quiet,
      intrusions: (key) =>
        key === at("x") ? [{ seq: seq(20), op: increment("x", 5).op, authored: true }] : [],
    };
    expect(basisOf([handling, reader], struck)).toEqual([[["node:x", 3]]]);
  });

  test("[EX-R5] only the last run of a node leaves rows, and a withdrawn run none", () => {
    const first = derivation(1, { reads: [read("a", 1)] });
    const second = derivation(2, { action: first.action, reads: [read("b", 2)] });
    expect(basisOf([first, second])).toEqual([[["node:b", 2]]]);
  });
});

describe("what a batch carries", () => {
  const delivered = (id: number, stream: string, event: string, place: number): Contribution =>
    derivation(id, {
      kind: "event-handler",
      delivery: {
        stream: stream as DocId,
        eventId: event as EventId,
        place: { seq: seq(place), index: 0 },
        end: { kind: "succeeded" },
      },
    });

  test("[EX-L5] the frontier stops below the first entry of its stream that stays pending", () => {
    const contributions = [delivered(1, "stream:a", "e1", 3), delivered(2, "stream:a", "e3", 7)];
    const entries = [3, 5, 7].map((n) => ({ seq: seq(n), index: 0 }));
    const { batch } = buildBatch(
      contributions,
      planWave(contributions, quiet),
      context({ entriesAbove: () => entries }),
    );
    expect(batch.frontiers).toEqual([{ stream: "stream:a", seq: 3 }]);
    expect(batch.consequenceOf).toEqual(["e1", "e3"]);
  });

  test("[EX-C7] an entry that the wave appends is marked only by its own copy's landing run", () => {
    const entry = {
      stream: "stream:b" as DocId,
      eventId: "c1" as EventId,
      payload: null,
      firedAt: { session: "server" as const },
    };
    const parent = { ...delivered(1, "stream:a", "e1", 3), sends: [entry] };
    const copy = derivation(2, {
      kind: "event-handler",
      delivery: {
        stream: entry.stream,
        eventId: entry.eventId,
        emitter: 1,
        end: { kind: "succeeded" },
      },
    });
    const build = (all: readonly Contribution[]) =>
      buildBatch(all, planWave(all, quiet), context()).batch;
    expect(build([parent, copy])).toMatchObject({
      appends: [{ eventId: "c1", mark: {} }],
      consequenceOf: ["e1", "c1"],
    });
    expect(build([parent]).appends[0]?.mark).toBeUndefined();
    expect(build([parent]).consequenceOf).toEqual(["e1"]);
  });
});

describe("coalescing", () => {
  const ana = { user: "did:key:ana" as never };

  test("[EX-L6] a later whole write replaces what came before, and increments of one actor add up", () => {
    expect(
      coalesceWrites([
        { ...increment("x", 1), attribution: ana },
        { ...increment("x", 2), attribution: ana },
        { ...increment("y", 5) },
        { ...set("y", 7) },
        { ...increment("y", 1) },
      ]),
    ).toEqual([{ ...increment("x", 3), attribution: ana }, set("y", 7), increment("y", 1)]);
  });

  test("[EX-L6] writes of two actors stay apart, so that attribution is per run", () => {
    const ben = { user: "did:key:ben" as never };
    const writes = [
      { ...increment("x", 1), attribution: ana },
      { ...increment("x", 2), attribution: ben },
    ];
    expect(coalesceWrites(writes)).toEqual(writes);
  });
});
