import { mayCompact } from "@tidemark/events";
import type { BranchName } from "@tidemark/protocol";
import type { Engine } from "../engine-types.js";
import { SNAPSHOT_MIN_BYTES } from "../read/snapshot-policy.js";
import {
  A1,
  ANA,
  append,
  at,
  codeOf,
  consume,
  doc,
  event,
  HOLDER,
  patch,
  remove,
  readOf,
  S,
  set,
  valueOf,
  type EngineCase,
} from "./harness.js";

const STREAM = "stream:s";
const MINUTE_MS = 60_000;
const ids = (engine: Engine): string[] =>
  engine.entries.list(doc(STREAM)).map((entry) => entry.eventId);

/** Everything that may go goes at once. */
const PRUNE_ALL = { pruneAfterMs: 0, pruneAfterCommits: 0 };

/** Compaction of streams and pruning of history (R1, R30). */
export const UPKEEP_CASES: readonly EngineCase[] = [
  [
    "[ME-G1] a consumed entry goes once it is old and enough newer ones stand, or plenty newer do",
    async (h, { expect }) => {
      const engine = h.open();
      const policy = { compactAfterMs: MINUTE_MS, compactAfterEntries: 2, compactMaxEntries: 4 };
      for (const id of ["e1", "e2", "e3", "e4"]) append(engine, STREAM, id);
      consume(engine, STREAM);
      expect([engine.compact(policy).removed, ids(engine).length]).toEqual([0, 4]);
      await h.clock.advance(MINUTE_MS);
      expect([engine.compact(policy).removed, ids(engine)]).toEqual([2, ["e3", "e4"]]);
      for (const id of ["e5", "e6", "e7"]) append(engine, STREAM, id);
      consume(engine, STREAM);
      engine.compact(policy);
      expect(ids(engine)).toEqual(["e4", "e5", "e6", "e7"].slice(1));
    },
  ],
  [
    "[ME-G2] an unconsumed entry, one above the frontier and one with an unresolved notice stay",
    (h, { expect }) => {
      const engine = h.open();
      for (const id of ["e1", "e2", "e3", "e4"]) append(engine, STREAM, id);
      const mark = (seq: number) =>
        ({ stream: doc(STREAM), seq: at(seq), index: 0, eventId: event(`e${seq}`) }) as const;
      engine.transact((tx) => {
        tx.mark({ ...mark(1), status: "needs-attention", reason: "gave up" });
        tx.mark(mark(2));
        tx.mark(mark(4));
        tx.frontier(doc(STREAM), at(2));
        tx.commit({ class: "derived", holder: HOLDER });
      });
      const policy = { compactAfterMs: 0, compactAfterEntries: 0 };
      engine.compact(policy);
      expect(ids(engine)).toEqual(["e1", "e3", "e4"]);
      engine.transact((tx) => {
        tx.frontier(doc(STREAM), at(4));
        tx.commit({ class: "derived", holder: HOLDER });
      });
      engine.compact(policy);
      expect(ids(engine)).toEqual(["e1", "e3"]);
    },
  ],
  [
    "[ME-G3] compaction agrees with the rule of the events package, entry by entry",
    async (h, { expect }) => {
      const engine = h.open();
      const policy = { afterMs: MINUTE_MS, afterEntries: 5, maxEntries: 20 };
      for (let n = 0; n < 40; n += 1) {
        append(engine, STREAM, `e${n}`);
        if (n % 3 === 0) consume(engine, STREAM);
        await h.clock.advance(MINUTE_MS / 10);
      }
      const entries = engine.entries.list(doc(STREAM));
      const frontier = engine.entries.frontier(doc(STREAM));
      const kept = entries.filter(
        (entry, place) =>
          !mayCompact(entry, {
            newer: entries.length - 1 - place,
            frontier,
            now: h.clock.now(),
            policy,
          }),
      );
      const asked = { compactAfterMs: MINUTE_MS, compactAfterEntries: 5, compactMaxEntries: 20 };
      expect(engine.compact(asked).removed).toBeGreaterThan(0);
      expect(ids(engine)).toEqual(kept.map((entry) => entry.eventId));
    },
  ],
  [
    "[ME-G4] one call removes at most its bound and says whether more remains",
    (h, { expect }) => {
      const engine = h.open();
      for (let n = 0; n < 5; n += 1) append(engine, STREAM, `e${n}`);
      consume(engine, STREAM);
      const policy = { compactAfterMs: 0, compactAfterEntries: 0, maxRowsPerCall: 3 };
      expect(engine.compact(policy)).toEqual({ removed: 3, more: true });
      expect(engine.compact(policy)).toEqual({ removed: 2, more: false });
      expect(engine.entries.frontier(doc(STREAM))).toBe(5);
    },
  ],
  ["[ME-G5] pruning keeps the newest value of every document and refuses what is older", pruning],
  [
    "[ME-G6] pruning keeps what a branch and a pending entry need",
    (h, { expect }) => {
      const engine = h.open();
      const draft = "draft" as BranchName;
      set(engine, "a", 1);
      set(engine, "a", 2);
      engine.branches.create(draft, { at: at(1) });
      set(engine, "a", 3);
      expect(engine.prune(PRUNE_ALL).horizon).toBe(1);
      expect(engine.read(doc("a"), S, { branch: draft }).value).toBe(1);
      engine.branches.delete(draft);
      append(engine, STREAM, "e1");
      set(engine, "a", 4);
      expect(engine.prune(PRUNE_ALL).horizon).toBe(3);
      consume(engine, STREAM);
      expect(engine.prune(PRUNE_ALL).horizon).toBe(5);
    },
  ],
  [
    "[ME-G7] a commit stays while it is young, or few stand after it, and the horizon moves by bounded steps",
    async (h, { expect }) => {
      const engine = h.open();
      for (let n = 0; n < 10; n += 1) set(engine, "a", n);
      const policy = { pruneAfterMs: MINUTE_MS, pruneAfterCommits: 4, pruneMaxCommits: 8 };
      expect(engine.prune(policy).horizon).toBe(2);
      await h.clock.advance(MINUTE_MS);
      const step = engine.prune({ ...policy, maxCommitsPerCall: 3 });
      expect([step.horizon, step.more]).toEqual([5, true]);
      expect(engine.prune(policy).horizon).toBe(6);
      expect(engine.prune(policy).removedCommits).toBe(0);
    },
  ],
  [
    "[ME-G8] a confirmed read older than the history kept conflicts once the document changed",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", { x: 1, y: 1 });
      set(engine, "b", 1);
      patch(engine, "a", { op: "replace", path: ["x"], value: 2 });
      const count = (id: string): number =>
        engine.transact((tx) => tx.conflicts([readOf(id, 2, ["y"])]).length);
      expect([count("a"), count("b")]).toEqual([0, 0]);
      set(engine, "c", 1);
      set(engine, "c", 2);
      engine.prune(PRUNE_ALL);
      expect([count("a"), count("b")]).toEqual([1, 0]);
    },
  ],
  [
    "[ME-G9] pruned verdicts are the older ones of their open",
    (h, { expect }) => {
      const engine = h.open();
      const key = (n: number) =>
        ({ principal: ANA, session: A1, openNonce: "n", localSeq: n as never }) as const;
      for (let n = 1; n <= 6; n += 1) {
        engine.transact((tx) => {
          tx.remember(key(n), `hash${n}`);
          tx.commit({ class: "authored" });
        });
      }
      expect(engine.prune({ ...PRUNE_ALL, keepReplaysPerOpen: 2 }).removedReplays).toBe(4);
      expect([engine.replay(key(4)), engine.replay(key(5))?.hash]).toEqual([undefined, "hash5"]);
    },
  ],
];

function pruning(h: Parameters<EngineCase[1]>[0], { expect }: Parameters<EngineCase[1]>[1]): void {
  const engine = h.open();
  set(engine, "a", { n: 0 });
  for (let n = 0; n < 5; n += 1) patch(engine, "a", { op: "increment", path: ["n"], value: 1 });
  set(engine, "b", "old");
  set(engine, "b", "new");
  set(engine, "gone", 1);
  remove(engine, "gone");
  set(engine, "big", "x");
  for (let n = 0; n < 3; n += 1) {
    const insert = "y".repeat(SNAPSHOT_MIN_BYTES);
    patch(engine, "big", { op: "splice", path: [], index: 0, remove: 0, insert });
  }
  const head = engine.head();
  const result = engine.prune(PRUNE_ALL);
  expect(result.horizon).toBe(head - 1);
  expect(result.removedRevisions).toBeGreaterThan(0);
  const again = h.reopens ? h.open() : engine;
  expect([valueOf(again, "a"), valueOf(again, "b"), valueOf(again, "gone")]).toEqual([
    { n: 5 },
    "new",
    undefined,
  ]);
  expect(again.read(doc("gone"), S).seq).toBe(10);
  expect((valueOf(again, "big") as string).length).toBe(1 + 3 * SNAPSHOT_MIN_BYTES);
  expect(again.read(doc("b"), S, { at: at(head - 1) }).value).toBe("new");
  expect([
    codeOf(() => again.read(doc("b"), S, { at: at(7) })),
    codeOf(() => again.commitsSince(at(3))),
    codeOf(() => again.history(doc("a"), S, { after: at(1) })),
  ]).toEqual(["history-horizon", "history-horizon", "history-horizon"]);
  expect(again.commitsSince(at(head - 1)).map((commit) => commit.seq)).toEqual([head]);
  expect(set(again, "a", 1).seq).toBe(head + 1);
}
