import {
  append,
  at,
  codeOf,
  consume,
  doc,
  event,
  fired,
  HOLDER,
  set,
  type EngineCase,
} from "./harness.js";

const STREAM = "stream:s";
const OTHER = "stream:t";

/** Stream entries as rows (R21, seed 000 §4). */
export const STREAM_CASES: readonly EngineCase[] = [
  [
    "[ME-S1] an entry is stored as it was appended, with the commit's seq and instant",
    (h, { expect }) => {
      const engine = h.open();
      const entry = {
        ...fired(STREAM, "e1", { option: "ramen" }),
        rendererTrusted: true as const,
        runtimeInjectedEventKeys: ["k"],
        retryOf: event("e0"),
      };
      const commit = engine.transact((tx) => {
        tx.append(entry);
        return tx.commit({ class: "authored" });
      });
      const stored = { ...entry, seq: 1, index: 0, appendedAt: h.clock.now() };
      expect(commit.appends).toEqual([stored]);
      expect(engine.entries.pending()).toEqual([stored]);
      expect(engine.entries.at(doc(STREAM), at(1), 0)).toEqual(stored);
      expect(engine.entries.at(doc(OTHER), at(1), 0)).toBe(undefined);
    },
  ],
  [
    "[ME-S2] pending entries come in arrival order over all streams, and the backlog knows of them",
    (h, { expect }) => {
      const engine = h.open();
      expect(engine.entries.backlog()).toBe(false);
      append(engine, OTHER, "e1");
      engine.transact((tx) => {
        tx.append(fired(STREAM, "e2"));
        tx.append(fired(OTHER, "e3"));
        tx.append(fired(STREAM, "e4"));
        tx.commit({ class: "derived", holder: HOLDER });
      });
      const ids = engine.entries.pending().map((entry) => entry.eventId);
      expect(ids).toEqual(["e1", "e2", "e3", "e4"]);
      expect(engine.entries.pending(2).length).toBe(2);
      expect(engine.entries.list(doc(STREAM)).map((entry) => entry.eventId)).toEqual(["e2", "e4"]);
      expect(engine.entries.backlog()).toBe(true);
    },
  ],
  [
    "[ME-S3] an id above the frontier is a duplicate, at or below it it is not",
    (h, { expect }) => {
      const engine = h.open();
      append(engine, STREAM, "e1");
      const duplicate = (): number | undefined =>
        engine.transact((tx) => tx.duplicate(doc(STREAM), event("e1"))?.seq);
      expect(duplicate()).toBe(1);
      expect(engine.entries.duplicate(doc(OTHER), event("e1"))).toBe(undefined);
      consume(engine, STREAM);
      expect(duplicate()).toBe(undefined);
      append(engine, STREAM, "e1");
      expect(duplicate()).toBe(3);
      expect(engine.entries.byEvent(doc(STREAM), event("e1")).map((e) => e.seq)).toEqual([1, 3]);
    },
  ],
  [
    "[ME-S3] an id twice in one commit is a duplicate too",
    (h, { expect }) => {
      const engine = h.open();
      engine.transact((tx) => {
        tx.append(fired(STREAM, "e1"));
        expect(tx.duplicate(doc(STREAM), event("e1"))?.index).toBe(0);
      });
      expect(engine.head()).toBe(0);
    },
  ],
  [
    "[ME-S4] a mark ends an entry and sheds its payload, unless an unresolved notice may need it",
    (h, { expect }) => {
      const engine = h.open();
      for (const id of ["e1", "e2", "e3"]) append(engine, STREAM, id, { big: "payload" });
      engine.transact((tx) => {
        const mark = (seq: number, id: string) => ({
          stream: doc(STREAM),
          seq: at(seq),
          index: 0,
          eventId: event(id),
        });
        tx.mark(mark(1, "e1"));
        tx.mark({ ...mark(2, "e2"), status: "errored", error: "boom" });
        tx.mark({ ...mark(3, "e3"), status: "needs-attention", reason: "gave up" });
        tx.commit({ class: "derived", holder: HOLDER });
      });
      const ends = engine.entries
        .list(doc(STREAM))
        .map(({ payload, consequenced, status, error, reason }) => ({
          payload,
          consequenced,
          status,
          why: error ?? reason,
        }));
      expect(ends).toEqual([
        { consequenced: true },
        { consequenced: true, status: "errored", why: "boom" },
        {
          payload: { big: "payload" },
          consequenced: true,
          status: "needs-attention",
          why: "gave up",
        },
      ]);
      expect(engine.entries.backlog()).toBe(false);
    },
  ],
  [
    "[ME-S5] a mark that names no unconsumed entry is refused, and the commit with it",
    (h, { expect }) => {
      const engine = h.open();
      append(engine, STREAM, "e1");
      const mark = (stream: string, seq: number, id: string): string =>
        codeOf(() =>
          engine.transact((tx) => {
            tx.mark({ stream: doc(stream), seq: at(seq), index: 0, eventId: event(id) });
            return tx.commit({ class: "derived", holder: HOLDER });
          }),
        );
      expect([mark(OTHER, 1, "e1"), mark(STREAM, 2, "e1"), mark(STREAM, 1, "e9")]).toEqual([
        "protocol",
        "protocol",
        "protocol",
      ]);
      expect([mark(STREAM, 1, "e1"), mark(STREAM, 1, "e1")]).toEqual(["none", "protocol"]);
      expect(engine.head()).toBe(2);
    },
  ],
  [
    "[ME-S6] an entry of a wave may carry its mark, and keeps the actor and instant it inherits",
    (h, { expect }) => {
      const engine = h.open();
      engine.transact((tx) => {
        tx.append({ ...fired(STREAM, "e1", 1), appendedAt: 42, mark: {} });
        tx.append({ ...fired(STREAM, "e2", 2), firedAt: { session: "server" } });
        tx.commit({ class: "derived", holder: HOLDER, consequenceOf: [event("e1")] });
      });
      const [first, second] = engine.entries.list(doc(STREAM));
      expect([first?.consequenced, first?.appendedAt, first?.payload]).toEqual([
        true,
        42,
        undefined,
      ]);
      expect([second?.firedAt, second?.payload]).toEqual([{ session: "server" }, 2]);
    },
  ],
  [
    "[ME-S7] a frontier never moves back",
    (h, { expect }) => {
      const engine = h.open();
      append(engine, STREAM, "e1");
      set(engine, "a", 1);
      const move = (seq: number): readonly unknown[] =>
        engine.transact((tx) => {
          tx.frontier(doc(STREAM), at(seq));
          return tx.commit({ class: "derived", holder: HOLDER }).frontiers;
        });
      expect([move(2), move(1), engine.entries.frontier(doc(STREAM))]).toEqual([
        [{ stream: STREAM, seq: 2 }],
        [],
        2,
      ]);
      expect(engine.entries.frontiers()).toEqual([{ stream: STREAM, seq: 2 }]);
    },
  ],
  [
    "[ME-S8] what was consumed under some ids, and how far a stream has come, is told in one look",
    (h, { expect }) => {
      const engine = h.open();
      append(engine, STREAM, "e1");
      append(engine, OTHER, "e1");
      consume(engine, STREAM);
      append(engine, STREAM, "e1");
      append(engine, STREAM, "e2");
      const asked = [
        { stream: doc(STREAM), eventId: event("e1") },
        { stream: doc(OTHER), eventId: event("e1") },
        { stream: doc(STREAM), eventId: event("e2") },
      ];
      const found = engine.entries.consumed(asked).map(({ stream, seq }) => ({ stream, seq }));
      expect(found).toEqual([{ stream: STREAM, seq: 1 }]);
      expect(engine.entries.consumed(asked.slice(1))).toEqual([]);
      expect(engine.entries.consumed([])).toEqual([]);
      const all = { after: at(0), limit: 10 };
      expect(engine.entries.progress(doc(STREAM), all)).toEqual([
        { seq: 1, index: 0, consequenced: true },
        { seq: 4, index: 0 },
        { seq: 5, index: 0 },
      ]);
      expect(engine.entries.progress(doc(STREAM), { after: at(1), limit: 1 })).toEqual([
        { seq: 4, index: 0 },
      ]);
      const count = (after: number, through: number): number =>
        engine.entries.count(doc(STREAM), { after: at(after), through: at(through) });
      expect([count(0, 5), count(1, 4), count(1, 3), count(5, 9)]).toEqual([3, 1, 0, 0]);
      expect(engine.entries.count(doc("stream:none"), { after: at(0), through: at(9) })).toBe(0);
    },
  ],
];
