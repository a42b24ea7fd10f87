import { SPACE_SCOPE_KEY, userScopeKey, type ActionId, type BasisUpdate } from "@tidemark/protocol";
import type { Engine } from "../engine-types.js";
import {
  ANA,
  at,
  doc,
  HOLDER,
  OTHER_SPACE,
  S,
  set,
  SPACE,
  throws,
  type EngineCase,
} from "./harness.js";

const SUM = "adder/sum@piece:p" as ActionId;
const VIEW = "adder/view@piece:p" as ActionId;

function record(engine: Engine, ...updates: readonly BasisUpdate[]): number {
  return engine.transact((tx) => {
    for (const update of updates) tx.basis(update);
    return tx.commit({ class: "derived", holder: HOLDER }).seq;
  });
}

const read = (id: string, seq: number | "wave") => ({
  space: SPACE,
  id: doc(id),
  scopeKey: SPACE_SCOPE_KEY,
  seq: seq === "wave" ? seq : at(seq),
});

/** The basis index (seed 001 §3b and §6). */
export const BASIS_CASES: readonly EngineCase[] = [
  [
    "[ME-B1] a run replaces the rows of its instance as a set",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", 1);
      record(engine, { action: SUM, scopeKey: S, reads: [read("a", 1), read("b", 0)] });
      record(engine, { action: SUM, scopeKey: S, reads: [read("a", 1)] });
      expect(engine.basis.reads(SUM, S)).toEqual([read("a", 1)]);
      expect(engine.basis.known()).toEqual([{ action: SUM, scopeKey: S }]);
    },
  ],
  [
    "[ME-B2] what the wave itself wrote is recorded at the wave's seq",
    (h, { expect }) => {
      const engine = h.open();
      const seq = record(engine, { action: SUM, scopeKey: S, reads: [read("a", "wave")] });
      expect(engine.basis.reads(SUM, S)).toEqual([read("a", seq)]);
    },
  ],
  [
    "[ME-B3] an instance is stale when the head of an input lies past the recorded seq, and only then",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", 1);
      set(engine, "b", 1);
      record(
        engine,
        { action: SUM, scopeKey: S, reads: [read("a", 1)] },
        { action: VIEW, scopeKey: S, reads: [read("b", 2), read("never", 0)] },
      );
      expect(engine.basis.stale()).toEqual([]);
      set(engine, "a", 2);
      expect(engine.basis.stale()).toEqual([{ action: SUM, scopeKey: S }]);
      set(engine, "never", 1);
      expect(engine.basis.stale().length).toBe(2);
    },
  ],
  [
    "[ME-B4] cleared keys lose their rows, and a set recorded in the same wave is kept",
    (h, { expect }) => {
      const engine = h.open();
      const ana = userScopeKey(ANA);
      record(engine, { action: SUM, scopeKey: S, reads: [read("a", 0)] });
      record(
        engine,
        { action: SUM, scopeKey: ana, cleared: [S], reads: [read("a", 0)] },
        { action: VIEW, scopeKey: S, reads: [read("b", 0)] },
        { action: VIEW, scopeKey: ana, cleared: [S], reads: [] },
      );
      expect(engine.basis.reads(SUM, S)).toEqual([]);
      expect(engine.basis.reads(SUM, ana)).toEqual([read("a", 0)]);
      expect(engine.basis.reads(VIEW, S)).toEqual([read("b", 0)]);
    },
  ],
  [
    "[ME-B5] inputs of another space are not judged here and are given apart",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", 1);
      const foreign = { ...read("a", 0), space: OTHER_SPACE };
      record(engine, { action: SUM, scopeKey: S, reads: [foreign] });
      expect(engine.basis.stale()).toEqual([]);
      expect(engine.basis.foreign()).toEqual([{ action: SUM, scopeKey: S, read: foreign }]);
    },
  ],
  [
    "[ME-B6] basis rows are no part of the feed",
    (h, { expect }) => {
      const engine = h.open();
      record(engine, { action: SUM, scopeKey: S, reads: [read("secret", 0)] });
      expect(JSON.stringify(engine.commitsSince(at(0))).includes("secret")).toBe(false);
    },
  ],
  [
    "[ME-B7] basis rows alone are kept without a commit and take no seq",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", 1);
      engine.transact((tx) => {
        tx.basis({ action: SUM, scopeKey: S, reads: [read("a", 1)] });
        tx.keepBasis();
      });
      expect(engine.basis.reads(SUM, S)).toEqual([read("a", 1)]);
      expect([engine.head(), engine.commitsSince(at(0)).length]).toEqual([1, 1]);
      const mixed = (): void =>
        engine.transact((tx) => {
          tx.basis({ action: VIEW, scopeKey: S, reads: [] });
          tx.write({ id: doc("a"), scopeKey: S, op: { op: "delete" } });
          tx.keepBasis();
        });
      expect(throws(mixed)).toBe(true);
      expect(engine.read(doc("a"), S).value).toBe(1);
    },
  ],
];
