import { contentHash, userScopeKey, type JsonValue } from "@tidemark/protocol";
import type { Engine } from "../engine-types.js";
import {
  A1,
  ANA,
  BEN,
  at,
  codeOf,
  doc,
  patch,
  readOf,
  remove,
  S,
  set,
  throws,
  valueOf,
  type EngineCase,
} from "./harness.js";

/** Sequence, conflicts, preconditions, batches (protocol.md §2, conformance §1). */
export const COMMIT_CASES: readonly EngineCase[] = [
  [
    "[ME-C1] every accepted commit takes the next seq, whatever its class",
    (h, { expect }) => {
      const engine = h.open();
      const seqs = [
        set(engine, "a", 1).seq,
        set(engine, "b", 1, S, "system").seq,
        set(engine, "a", 2, S, "derived").seq,
      ];
      expect(seqs).toEqual([1, 2, 3]);
      expect(engine.head()).toBe(3);
    },
  ],
  [
    "[ME-C2] writers of sibling keys merge",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "d", { a: 1, b: 2 });
      patch(engine, "d", { op: "add", path: ["c"], value: 3 });
      const seq = engine.transact((tx) => {
        expect(tx.conflicts([readOf("d", 1, ["a"])])).toEqual([]);
        tx.write({
          id: doc("d"),
          scopeKey: S,
          op: { op: "patch", value: [{ op: "add", path: ["d"], value: 4 }] },
        });
        return tx.commit({ class: "authored" }).seq;
      });
      expect(seq).toBe(3);
      expect(valueOf(engine, "d")).toEqual({ a: 1, b: 2, c: 3, d: 4 });
    },
  ],
  [
    "[ME-C3] a reader of the changed key or of its container conflicts, by document, read seq and conflicting seq",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "d", { a: 1, b: 2 });
      patch(engine, "d", { op: "add", path: ["c"], value: 3 });
      const reads = [readOf("d", 1, ["c"]), readOf("d", 1), readOf("d", 2), readOf("d", 1, ["b"])];
      const conflicts = engine.transact((tx) => tx.conflicts(reads));
      const beaten = { id: "d", scopeKey: "space", readSeq: 1, conflictingSeq: 2 };
      expect(conflicts).toEqual([
        { ...beaten, path: ["c"] },
        { ...beaten, path: [] },
      ]);
      expect(engine.head()).toBe(2);
    },
  ],
  [
    "[ME-C4] a shape read sees keys and lengths, not values",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "d", { x: 1 });
      patch(engine, "d", { op: "add", path: ["y"], value: 2 });
      patch(engine, "d", { op: "replace", path: ["x"], value: 9 });
      const verdict = (seq: number, kind: "shape" | "value"): number =>
        engine.transact((tx) => tx.conflicts([readOf("d", seq, [], kind)]).length);
      expect([verdict(2, "shape"), verdict(2, "value"), verdict(1, "shape")]).toEqual([0, 1, 1]);
      patch(engine, "d", { op: "replace", path: ["z"], value: 1 });
      expect(verdict(3, "shape")).toBe(1);
    },
  ],
  [
    "[ME-C14] a read from a seq that the store never reached conflicts",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", 1);
      const conflicts = engine.transact((tx) => tx.conflicts([readOf("a", 1), readOf("a", 2)]));
      expect(conflicts.map((conflict) => conflict.readSeq)).toEqual([2]);
    },
  ],
  [
    "[ME-C5] conflicts and values are per instance, not per document id",
    (h, { expect }) => {
      const engine = h.open();
      const [ana, ben] = [userScopeKey(ANA), userScopeKey(BEN)];
      set(engine, "s", "ana", ana);
      set(engine, "s", "ben", ben);
      const read = { ...readOf("s", 1), scopeKey: ana };
      expect(engine.transact((tx) => tx.conflicts([read]))).toEqual([]);
      set(engine, "s", "all");
      expect([valueOf(engine, "s", ana), valueOf(engine, "s", ben), valueOf(engine, "s")]).toEqual([
        "ana",
        "ben",
        "all",
      ]);
    },
  ],
  [
    "[ME-C6] preconditions fail by index, and a deleted document still exists",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", { n: 1 });
      set(engine, "r", 1);
      remove(engine, "r");
      const hash = (value: JsonValue) =>
        ({
          kind: "entity-value-hash",
          id: doc("a"),
          scopeKey: S,
          hash: contentHash(value),
        }) as const;
      const fresh = (id: string) => ({ kind: "create-only", id: doc(id), scopeKey: S }) as const;
      engine.transact((tx) => {
        expect(tx.failedPrecondition([hash({ n: 1 }), fresh("r")])).toBe(1);
        expect(tx.failedPrecondition([hash({ n: 2 }), fresh("r")])).toBe(0);
        expect(tx.failedPrecondition([hash({ n: 1 }), fresh("new")])).toBe(undefined);
        const gone = { ...hash(null), id: doc("r"), hash: "absent" };
        expect(tx.failedPrecondition([gone])).toBe(undefined);
      });
    },
  ],
  ["[ME-C7] merging operations merge, and what cannot be applied is refused", mergingOperations],
  [
    "[ME-C8] what throws, or returns without a commit, changes nothing and takes no seq",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", 1);
      const write = (tx: Parameters<Parameters<Engine["transact"]>[0]>[0]) =>
        tx.write({ id: doc("a"), scopeKey: S, op: { op: "set", value: 2 } });
      expect(
        throws(() =>
          engine.transact((tx) => {
            write(tx);
            throw new Error("refused");
          }),
        ),
      ).toBe(true);
      engine.transact(write);
      expect([engine.head(), valueOf(engine, "a")]).toEqual([1, 1]);
      expect(engine.read(doc("a"), S).seq).toBe(1);
    },
  ],
  [
    "[ME-C8] a transaction kept past its end writes nothing any more",
    (h, { expect }) => {
      const engine = h.open();
      const kept = engine.transact((tx) => tx);
      const late = (): unknown =>
        kept.write({ id: doc("a"), scopeKey: S, op: { op: "set", value: 1 } });
      expect(throws(late)).toBe(true);
      expect(throws(() => kept.commit({ class: "authored" }))).toBe(true);
      expect(engine.head()).toBe(0);
    },
  ],
  ["[ME-C9] a batch gives each commit its own seq and verdict", batchVerdicts],
  [
    "[ME-C9] a batch that throws leaves nothing, in the store or in memory",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", 1);
      const failed = throws(() =>
        engine.batch(() => {
          set(engine, "a", 2);
          set(engine, "new", 1);
          throw new Error("gone");
        }),
      );
      expect(failed).toBe(true);
      expect([engine.head(), valueOf(engine, "a"), valueOf(engine, "new")]).toEqual([
        1,
        1,
        undefined,
      ]);
      expect(set(engine, "new", 3).seq).toBe(2);
    },
  ],
  [
    "[ME-C10] a nested transaction and a returned promise throw, and nothing is stored",
    (h, { expect }) => {
      const engine = h.open();
      expect(codeOf(() => engine.transact(() => set(engine, "a", 1)))).toBe("storage/io");
      expect(
        codeOf(() =>
          engine.transact((tx) => {
            tx.write({ id: doc("a"), scopeKey: S, op: { op: "set", value: 1 } });
            tx.commit({ class: "authored" });
            return Promise.resolve();
          }),
        ),
      ).toBe("storage/io");
      expect([engine.head(), valueOf(engine, "a")]).toEqual([0, undefined]);
    },
  ],
  ["[ME-C11] the verdict of an accepted request is found again by its replay key", replayVerdicts],
  [
    "[ME-C12] attribution is recorded with the revision, beside the commit's own identity",
    (h, { expect }) => {
      const engine = h.open();
      engine.transact((tx) => {
        const attribution = { user: BEN, session: A1 };
        tx.write({ id: doc("a"), scopeKey: S, op: { op: "set", value: 1 }, attribution });
        tx.commit({ class: "derived", holder: "service#1" as never });
      });
      const [revision] = engine.history(doc("a"), S);
      expect(revision?.attribution).toEqual({ user: BEN, session: A1 });
      expect([revision?.class, revision?.holder, revision?.principal]).toEqual([
        "derived",
        "service#1",
        undefined,
      ]);
    },
  ],
];

function mergingOperations(
  h: Parameters<EngineCase[1]>[0],
  { expect }: Parameters<EngineCase[1]>[1],
): void {
  const engine = h.open();
  patch(engine, "list", { op: "append", path: [], value: "x" });
  patch(engine, "list", { op: "append", path: [], value: "y" });
  set(engine, "people", [{ id: 1, tags: ["t"] }]);
  patch(engine, "people", { op: "addUnique", path: [], value: { tags: ["t"], id: 1 } });
  patch(engine, "count", { op: "increment", path: [], value: 3 });
  patch(engine, "count", { op: "increment", path: [], value: 4 });
  expect([valueOf(engine, "list"), valueOf(engine, "people"), valueOf(engine, "count")]).toEqual([
    ["x", "y"],
    [{ id: 1, tags: ["t"] }],
    7,
  ]);
  const head = engine.head();
  const bad = (): unknown => patch(engine, "count", { op: "append", path: [], value: 1 });
  expect(codeOf(bad).startsWith("patch")).toBe(true);
  expect([engine.head(), valueOf(engine, "count")]).toEqual([head, 7]);
}

function batchVerdicts(
  h: Parameters<EngineCase[1]>[0],
  { expect }: Parameters<EngineCase[1]>[1],
): void {
  const engine = h.open();
  const verdicts = engine.batch(() =>
    [1, 2, 3].map((n) => {
      try {
        return engine.transact((tx) => {
          tx.write({ id: doc("a"), scopeKey: S, op: { op: "set", value: n } });
          if (n === 2) throw new Error("refused");
          return tx.commit({ class: "authored" }).seq;
        });
      } catch {
        return "refused";
      }
    }),
  );
  expect(verdicts).toEqual([1, "refused", 2]);
  expect([engine.head(), valueOf(engine, "a")]).toEqual([2, 3]);
  expect(engine.commitsSince(at(0)).map((commit) => commit.seq)).toEqual([1, 2]);
}

function replayVerdicts(
  h: Parameters<EngineCase[1]>[0],
  { expect }: Parameters<EngineCase[1]>[1],
): void {
  const engine = h.open();
  const key = { principal: ANA, session: A1, openNonce: "n1", localSeq: 7 as never };
  engine.transact((tx) => {
    tx.write({ id: doc("a"), scopeKey: S, op: { op: "set", value: 1 } });
    tx.remember(key, "hash-of-body", 0);
    tx.commit({ class: "authored", principal: ANA, session: A1, localSeq: 7 as never });
  });
  const verdict = { seq: 1, index: 0, hash: "hash-of-body" };
  expect(engine.replay(key)).toEqual(verdict);
  expect(engine.replay({ ...key, localSeq: 8 as never })).toBe(undefined);
  expect(engine.replay({ ...key, openNonce: "n2" })).toBe(undefined);
  expect(engine.replay({ ...key, principal: BEN })).toBe(undefined);
  if (h.reopens) expect(h.open().replay(key)).toEqual(verdict);
  engine.transact((tx) => {
    tx.remember(key, "hash-of-another");
    tx.commit({ class: "authored", principal: ANA, session: A1 });
  });
  expect(engine.replay(key)).toEqual({ seq: 2, hash: "hash-of-another" });
}
