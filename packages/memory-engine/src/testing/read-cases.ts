import type { JsonValue } from "@tidemark/protocol";
import { SNAPSHOT_EVERY_OPS } from "../read/snapshot-policy.js";
import {
  append,
  at,
  codeOf,
  consume,
  doc,
  HOLDER,
  patch,
  remove,
  S,
  set,
  valueOf,
  type EngineCase,
} from "./harness.js";

/** Current and past values, history, lists, the feed. */
export const READ_CASES: readonly EngineCase[] = [
  [
    "[ME-R1] a document never written is absent at seq 0, a deleted one absent at the seq of its deletion",
    (h, { expect }) => {
      const engine = h.open();
      expect(engine.read(doc("a"), S)).toEqual({ value: undefined, seq: 0 });
      set(engine, "a", 1, S, "derived");
      expect(engine.read(doc("a"), S)).toEqual({ value: 1, seq: 1, coverClass: "derived" });
      remove(engine, "a");
      expect(engine.read(doc("a"), S)).toEqual({
        value: undefined,
        seq: 2,
        coverClass: "authored",
      });
    },
  ],
  ["[ME-R2] a read at a seq gives the value as it was then", pointInTime],
  [
    "[ME-R3] the history of a document is its changes in order, with class, instant and identity",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", 1);
      set(engine, "b", 1);
      patch(engine, "a", { op: "increment", path: [], value: 2 });
      const history = engine.history(doc("a"), S);
      expect(history.map(({ seq, class: cls, op }) => ({ seq, cls, op }))).toEqual([
        { seq: 1, cls: "authored", op: { op: "set", value: 1 } },
        {
          seq: 3,
          cls: "authored",
          op: { op: "patch", value: [{ op: "increment", path: [], value: 2 }] },
        },
      ]);
      expect(history[0]?.at).toBe(h.clock.now());
      expect(engine.history(doc("a"), S, { after: at(1) }).length).toBe(1);
      expect(engine.history(doc("a"), S, { limit: 1 }).length).toBe(1);
    },
  ],
  [
    "[ME-R4] a list by prefix gives the present documents in order, by pages",
    (h, { expect }) => {
      const engine = h.open();
      for (const id of ["piece:b", "piece:a", "node:a", "piece:c", "piece:aa", "piecé"]) {
        set(engine, id, 1);
      }
      remove(engine, "piece:c");
      const ids = (after?: string): string[] =>
        engine
          .listByPrefix("piece:", S, after === undefined ? {} : { after: doc(after), limit: 1 })
          .map((entry) => entry.id);
      expect(ids()).toEqual(["piece:a", "piece:aa", "piece:b"]);
      expect(ids("piece:a")).toEqual(["piece:aa"]);
    },
  ],
  ["[ME-R5] the feed gives each commit as it was accepted", feedEqualsAccepted],
  ["[ME-R6] a cold read of a much patched document replays a bounded number of patches", coldRead],
  [
    "[ME-R7] a patch of a large text does not store the text again",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "text", "x".repeat(100_000));
      let stored = 0;
      for (let n = 0; n < 200; n += 1) {
        const op = { op: "splice", path: [], index: n, remove: 0, insert: "y" } as const;
        patch(engine, "text", op);
      }
      for (const revision of engine.history(doc("text"), S, { after: at(1) })) {
        stored += JSON.stringify(revision.op).length;
      }
      expect(stored < 200 * 100).toBe(true);
      expect((valueOf(engine, "text") as string).length).toBe(100_200);
    },
  ],
  [
    "[ME-R8] hostile keys come back as data",
    (h, { expect }) => {
      const engine = h.open();
      const value = JSON.parse('{"__proto__":{"x":1},"constructor":2,"prototype":[]}') as JsonValue;
      set(engine, "a", value);
      patch(engine, "a", { op: "replace", path: ["__proto__", "y"], value: 3 });
      const held = (h.reopens ? h.open() : engine).read(doc("a"), S).value;
      expect(JSON.stringify(held)).toBe(
        '{"__proto__":{"x":1,"y":3},"constructor":2,"prototype":[]}',
      );
      expect(({} as { x?: number }).x).toBe(undefined);
    },
  ],
  [
    "[ME-R9] a piece is found by the nodes and streams that its document links",
    (h, { expect }) => {
      const engine = h.open();
      const link = (id: string): JsonValue => ({ "/": { "link@1": { id } } });
      set(engine, "piece:p", {
        result: { count: link("node:c") },
        internal: { bump: link("stream:s") },
        argument: { from: link("node:other") },
      });
      set(engine, "piece:q", { result: { passed: link("node:c") }, internal: {} });
      const found = (id: string): string | undefined => engine.pieceOf(doc(id));
      expect([found("node:c"), found("stream:s"), found("node:other")]).toEqual([
        "piece:p",
        "piece:p",
        undefined,
      ]);
      remove(engine, "piece:p");
      expect(found("stream:s")).toBe(undefined);
    },
  ],
  [
    "[ME-R9] a piece's document may hold more values than a call has arguments",
    (h, { expect }) => {
      const engine = h.open();
      const result = Array.from({ length: 200_000 }, (): JsonValue => 0);
      set(engine, "piece:p", { result: [...result, { "/": { "link@1": { id: "node:c" } } }] });
      expect(engine.pieceOf(doc("node:c"))).toBe("piece:p");
    },
  ],
  [
    "[ME-R10] inside a view every read is of one moment",
    (h, { expect }) => {
      if (!h.reopens) return;
      const [reader, writer] = [h.open(), h.open()];
      set(writer, "a", 1);
      const seen = reader.view(() => {
        const before = valueOf(reader, "a");
        set(writer, "a", 2);
        return [before, valueOf(reader, "a"), reader.head()];
      });
      expect(seen).toEqual([1, 1, 1]);
      expect([valueOf(reader, "a"), reader.head()]).toEqual([2, 2]);
    },
  ],
  [
    "[ME-R11] nothing remembered outlives the commit of another connection",
    (h, { expect }) => {
      if (!h.reopens) return;
      const [one, two] = [h.open(), h.open()];
      set(one, "a", 1);
      append(one, "stream:s", "e1");
      expect([valueOf(two, "a"), two.head(), two.entries.backlog()]).toEqual([1, 2, true]);
      set(two, "a", 2);
      consume(two, "stream:s");
      expect([valueOf(one, "a"), one.head(), one.entries.frontier(doc("stream:s"))]).toEqual([
        2, 4, 2,
      ]);
      expect(set(one, "b", 1).seq).toBe(5);
      expect(one.dataVersion() === two.dataVersion() || one.head() === two.head()).toBe(true);
    },
  ],
  [
    "[ME-R12] the watermark is the seq in its document and never goes back",
    (h, { expect }) => {
      const engine = h.open();
      expect(engine.watermark()).toBe(0);
      const write = (seq: number): number | undefined =>
        engine.transact((tx) => {
          tx.watermark(at(seq));
          return tx.commit({ class: "derived", holder: HOLDER }).watermark;
        });
      expect([write(4), write(3), engine.watermark()]).toEqual([4, undefined, 4]);
    },
  ],
];

function pointInTime(
  h: Parameters<EngineCase[1]>[0],
  { expect }: Parameters<EngineCase[1]>[1],
): void {
  const engine = h.open();
  set(engine, "a", { n: 0 });
  for (let n = 0; n < 5; n += 1) patch(engine, "a", { op: "increment", path: ["n"], value: 1 });
  remove(engine, "a");
  set(engine, "a", "again");
  const values = [0, 1, 2, 6, 7, 8].map((seq) => engine.read(doc("a"), S, { at: at(seq) }));
  expect(values.map((held) => held.value)).toEqual([
    undefined,
    { n: 0 },
    { n: 1 },
    { n: 5 },
    undefined,
    "again",
  ]);
  expect(values.map((held) => held.seq)).toEqual([0, 1, 2, 6, 7, 8]);
  expect(codeOf(() => engine.read(doc("a"), S, { at: at(-1) }))).toBe("history-horizon");
}

function feedEqualsAccepted(
  h: Parameters<EngineCase[1]>[0],
  { expect }: Parameters<EngineCase[1]>[1],
): void {
  const engine = h.open();
  const accepted = [
    set(engine, "a", { n: 1 }),
    patch(engine, "a", { op: "increment", path: ["n"], value: 1 }),
    append(engine, "stream:s", "e1", null),
    append(engine, "stream:t", "e2", null),
    engine.transact((tx) => {
      tx.write({ id: doc("a"), scopeKey: S, op: { op: "delete" } });
      tx.mark({ stream: doc("stream:s"), seq: at(3), index: 0, eventId: "e1" as never });
      tx.mark({
        stream: doc("stream:t"),
        seq: at(4),
        index: 0,
        eventId: "e2" as never,
        status: "errored",
        error: "boom",
      });
      tx.frontier(doc("stream:s"), at(3));
      tx.watermark(at(4));
      return tx.commit({
        class: "derived",
        holder: HOLDER,
        derivedThrough: at(4),
        consequenceOf: ["e1" as never, "e2" as never],
      });
    }),
  ];
  const shed = accepted.map((commit) => ({
    ...commit,
    appends: commit.appends.map((entry) => ({ ...entry, payload: undefined })),
  }));
  const fed = engine.commitsSince(at(0)).map((commit) => ({
    ...commit,
    // Consumed meanwhile: what the entry is by now is the stream's to tell.
    appends: commit.appends.map(({ consequenced: _c, status: _s, error: _e, ...entry }) => entry),
  }));
  expect(fed).toEqual(shed);
  expect(engine.commitsSince(at(3), 1).map((commit) => commit.seq)).toEqual([4]);
  expect(engine.commitsSince(at(5))).toEqual([]);
}

function coldRead(h: Parameters<EngineCase[1]>[0], { expect }: Parameters<EngineCase[1]>[1]): void {
  const engine = h.open({ cacheBytes: 1 });
  const rounds = SNAPSHOT_EVERY_OPS + 20;
  set(engine, "text", "x".repeat(200_000));
  for (let n = 0; n < rounds; n += 1) {
    patch(engine, "text", { op: "splice", path: [], index: 0, remove: 0, insert: "y" });
  }
  expect((valueOf(engine, "text") as string).length).toBe(200_000 + rounds);
  const past = engine.read(doc("text"), S, { at: at(SNAPSHOT_EVERY_OPS + 5) });
  expect((past.value as string).length).toBe(200_000 + SNAPSHOT_EVERY_OPS + 4);
}
