import { describe, expect, test } from "vitest";
import type { FrontierEntry } from "@tidemark/events";
import {
  type ActionId,
  type DocId,
  type EventId,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import { buildWave, type BatchContext } from "../../src/wave/batch.js";
import { coalesceWrites } from "../../src/wave/coalesce.js";
import type { Contribution } from "../../src/wave/contribution.js";
import { planWave, type PlanView } from "../../src/wave/plan.js";
import { at, contribution, seq } from "../support/contributions.js";

const quiet: PlanView = {
  intrusions: () => [],
  head: () => seq(0),
  read: () => ({ value: 0, seq: seq(1) }),
};

function context(parts: Partial<BatchContext> = {}): BatchContext {
  return {
    space: "did:key:home" as SpaceId,
    seq: seq(50),
    maxBytes: 1_000_000,
    derivedThrough: seq(49),
    frontier: () => seq(0),
    ...storing({}),
    ...parts,
  };
}

/** Stored entries, stream by stream. */
function storing(
  streams: Readonly<Record<string, readonly FrontierEntry[]>>,
): Pick<BatchContext, "entriesIn" | "entriesAbove"> {
  const above = (stream: DocId, after: Seq): readonly FrontierEntry[] =>
    (streams[stream] ?? []).filter((entry) => entry.seq > after);
  return {
    entriesAbove: above,
    entriesIn: (stream, after, through) =>
      above(stream, after).filter((entry) => entry.seq <= through).length,
  };
}

/** A wave that is one commit. */
function buildBatch(...args: Parameters<typeof buildWave>) {
  const { batches, carriers } = buildWave(...args);
  const [batch, ...others] = batches;
  if (batch === undefined || others.length > 0) throw new Error(`${batches.length} commits`);
  return { batch, carriers };
}

const derivation = (id: number, parts: Partial<Contribution>): Contribution =>
  contribution({ id, action: `t/n${id}@p` as ActionId, ...parts });

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
    const before = derivation(0, { writes: [set("x", 9)] });
    expect(basisOf([before, reader, source])[1]).toEqual([["node:x", 3]]);
  });

  test("[EX-R5] an input that was read more than once has the row of what it was read at first", () => {
    const twice = derivation(1, { reads: [read("x", 7), read("x", 3), read("x", 7)] });
    expect(basisOf([twice])).toEqual([[["node:x", 3]]]);
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
    // One over a replica that has taken the other write in has seen the sum.
    const later = derivation(3, { reads: [read("x", 20)], basis: seq(20) });
    expect(basisOf([handling, later], struck)).toEqual([[["node:x", "wave"]]]);
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
      context(storing({ "stream:a": entries })),
    );
    expect(batch.frontiers).toEqual([{ stream: "stream:a", seq: 3 }]);
    expect(batch.consequenceOf).toEqual(["e1", "e3"]);
  });

  test.each([
    { stored: [3, 5], frontier: 5, what: "nothing follows" },
    { stored: [3, 5, 7], frontier: 5, what: "one follows that is pending" },
    { stored: [3, 5, -7, -8, 9], frontier: 8, what: "what follows had ended before" },
    { stored: [3, -4, 5, 6], frontier: 5, what: "one between had ended before" },
    { stored: [2, 3, 5], frontier: 0, what: "one below is pending" },
    { stored: [3, 5, 5], frontier: 3, what: "another of the last seq is pending" },
  ])(
    "[EX-L5] the frontier passes what a wave ended in order, where $what",
    ({ stored, frontier }) => {
      const contributions = [delivered(1, "stream:a", "e1", 3), delivered(2, "stream:a", "e2", 5)];
      // Below 0: it had ended before.
      const entries = stored.map((n, at): FrontierEntry => ({
        seq: seq(Math.abs(n)),
        index: stored.indexOf(n) === at ? 0 : 1,
        ...(n < 0 ? { consequenced: true as const } : {}),
      }));
      const { batch } = buildBatch(
        contributions,
        planWave(contributions, quiet),
        context(storing({ "stream:a": entries })),
      );
      expect(batch.frontiers).toEqual(
        frontier === 0 ? [] : [{ stream: "stream:a", seq: frontier }],
      );
    },
  );

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

describe("splits", () => {
  const text = (name: string, length: number) => ({
    key: at(name),
    op: { op: "set" as const, value: "x".repeat(length) },
  });
  const of = (id: number, piece: string, parts: Partial<Contribution>): Contribution =>
    derivation(id, { action: `t/n${id}@${piece}` as ActionId, ...parts });
  const delivering = (
    id: number,
    piece: string,
    event: string,
    parts: Partial<Contribution> = {},
  ) =>
    of(id, piece, {
      kind: "event-handler",
      delivery: {
        stream: `stream:${piece}` as DocId,
        eventId: event as EventId,
        place: { seq: seq(id + 2), index: 0 },
        end: { kind: "succeeded" },
      },
      ...parts,
    });
  const built = (all: readonly Contribution[], parts: Partial<BatchContext> = {}) =>
    buildWave(all, planWave(all, quiet), context({ watermark: seq(49), ...parts }));

  test("[EX-W24] past the bound a wave is split by piece: each names every event and the same coverage, the last has the watermark", () => {
    const all = [
      delivering(1, "p", "e1", { writes: [text("a", 60)] }),
      delivering(2, "q", "e2", { writes: [text("b", 60)] }),
      delivering(3, "p", "e3", { writes: [text("c", 10)] }),
      of(4, "q", { reads: [read("a", 3), read("b", 3), read("y", 7)], writes: [text("d", 10)] }),
    ];
    expect(built(all).batches).toHaveLength(1);
    const { batches, places } = built(all, { maxBytes: 120 });
    expect(batches.map((one) => one.changes.map(({ id }) => id))).toEqual([
      ["node:a", "node:c"],
      ["node:b", "node:d"],
    ]);
    for (const batch of batches) {
      expect(batch).toMatchObject({ derivedThrough: 49, consequenceOf: ["e1", "e3", "e2"] });
    }
    expect(batches.map((one) => one.marks.map(({ eventId }) => eventId))).toEqual([
      ["e1", "e3"],
      ["e2"],
    ]);
    expect(batches.map((one) => one.watermark)).toEqual([undefined, 49]);
    // What a run read of the wave stands at the commit that wrote it.
    expect(batches.map((one) => one.basis.length)).toEqual([0, 1]);
    expect(batches[1]?.basis[0]?.reads.map((one) => [one.id, one.seq])).toEqual([
      ["node:a", 50],
      ["node:b", 51],
      ["node:y", 7],
    ]);
    expect(["a", "b", "c", "d"].map((name) => places.get(at(name)))).toEqual([50, 51, 50, 51]);
  });

  test("[EX-W25] no piece is in two commits, and an instance is where it was first written", () => {
    const alone = [
      of(1, "p", { writes: [text("a", 90)] }),
      of(2, "p", { writes: [text("b", 90)] }),
    ];
    expect(built(alone, { maxBytes: 1 }).batches).toHaveLength(1);
    const crossing = [
      delivering(1, "p", "e1", { writes: [increment("shared", 1), text("a", 90)] }),
      delivering(2, "q", "e2", { writes: [increment("shared", 2), text("b", 90)] }),
      of(3, "r", { writes: [text("c", 90)] }),
    ];
    const { batches } = built(crossing, { maxBytes: 1 });
    expect(batches.map((one) => one.changes.map(({ id }) => id))).toEqual([
      ["node:shared", "node:a"],
      ["node:b"],
      ["node:c"],
    ]);
  });

  test("[EX-W25] the pieces fill a commit in the order of sealing, and frontiers go over all that the wave ends", () => {
    const entry = {
      stream: "stream:s" as DocId,
      eventId: "c1" as EventId,
      payload: null,
      firedAt: { session: "server" as const },
    };
    const all = [
      delivering(1, "p", "e1", { writes: [text("a", 40)], sends: [entry] }),
      delivering(2, "q", "e2", { writes: [text("b", 40)] }),
      of(3, "r", {
        kind: "event-handler",
        delivery: {
          stream: entry.stream,
          eventId: entry.eventId,
          emitter: 1,
          end: { kind: "succeeded" },
        },
        writes: [text("c", 40)],
      }),
    ];
    const { batches } = built(all, {
      maxBytes: 110,
      ...storing({
        "stream:p": [{ seq: seq(3), index: 0 }],
        "stream:q": [{ seq: seq(4), index: 0 }],
      }),
    });
    expect(batches.map((one) => one.changes.length)).toEqual([2, 1]);
    expect(batches.map((one) => one.appends.map((append) => append.mark))).toEqual([[{}], []]);
    expect(batches.map((one) => one.frontiers)).toEqual([
      [],
      [
        { stream: "stream:p", seq: 3 },
        { stream: "stream:q", seq: 4 },
        { stream: "stream:s", seq: 50 },
      ],
    ]);
  });

  test("[EX-W26] preconditions are checked before anything of the wave is written", () => {
    const check = { kind: "create-only" as const, id: "node:z" as DocId };
    const all = [
      of(1, "p", { writes: [text("a", 90)] }),
      of(2, "q", { writes: [text("b", 90)], preconditions: [check] }),
    ];
    const { batches, carriers } = built(all, { maxBytes: 1 });
    expect(batches.map((one) => one.preconditions)).toEqual([[check], undefined]);
    expect(carriers).toEqual([2]);
  });
});

describe("coalescing", () => {
  const ana = { user: "did:key:ana" as never };

  test("[EX-L6] a later whole write replaces what came before, and increments of one actor add up", () => {
    expect(
      coalesceWrites([
        { ...increment("x", 1), attribution: ana, piece: "p" },
        { ...increment("x", 2), attribution: ana, piece: "p" },
        { ...increment("y", 5), piece: "p" },
        { ...set("y", 7), piece: "p" },
        { ...increment("y", 1), piece: "p" },
      ]),
    ).toEqual([
      { ...increment("x", 3), attribution: ana, piece: "p" },
      { ...set("y", 7), piece: "p" },
      { ...increment("y", 1), piece: "p" },
    ]);
  });

  test("[EX-L6] writes of two actors stay apart, so that attribution is per run", () => {
    const ben = { user: "did:key:ben" as never };
    const writes = [
      { ...increment("x", 1), attribution: ana, piece: "p" },
      { ...increment("x", 2), attribution: ben, piece: "p" },
    ];
    expect(coalesceWrites(writes)).toEqual(writes);
  });
});
