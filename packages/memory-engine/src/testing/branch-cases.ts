import type { BranchName, JsonValue, PatchOp } from "@tidemark/protocol";
import type { Engine } from "../engine-types.js";
import { at, codeOf, doc, patch, readOf, S, set, valueOf, type EngineCase } from "./harness.js";

const DRAFT = "draft" as BranchName;
const INNER = "inner" as BranchName;

function patchOn(engine: Engine, branch: BranchName, id: string, ...ops: PatchOp[]): number {
  return engine.transact(
    (tx) => {
      tx.write({ id: doc(id), scopeKey: S, op: { op: "patch", value: ops } });
      return tx.commit({ class: "authored" }).seq;
    },
    { branch },
  );
}

const on = (engine: Engine, branch: BranchName, id: string): JsonValue | undefined =>
  engine.read(doc(id), S, { branch }).value;

const bump: PatchOp = { op: "increment", path: ["n"], value: 1 };

/** Branches (protocol.md §8). */
export const BRANCH_CASES: readonly EngineCase[] = [
  [
    "[ME-H1] a branch reads through to its parent as of the seq it was made at",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", { n: 1 });
      set(engine, "b", 1);
      engine.branches.create(DRAFT, { at: at(1) });
      set(engine, "a", { n: 100 });
      expect([on(engine, DRAFT, "a"), on(engine, DRAFT, "b")]).toEqual([{ n: 1 }, undefined]);
      expect(engine.read(doc("a"), S, { branch: DRAFT }).seq).toBe(1);
      expect(engine.branches.list()).toEqual([
        { name: "main", parent: undefined, at: 0 },
        { name: "draft", parent: "main", at: 1 },
      ]);
    },
  ],
  [
    "[ME-H2] a commit to a branch takes a seq of the space and is seen on that branch alone",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", { n: 1 });
      engine.branches.create(DRAFT);
      expect(patchOn(engine, DRAFT, "a", bump)).toBe(2);
      expect(patchOn(engine, DRAFT, "a", bump)).toBe(3);
      expect([on(engine, DRAFT, "a"), valueOf(engine, "a")]).toEqual([{ n: 3 }, { n: 1 }]);
      expect(engine.read(doc("a"), S, { branch: DRAFT, at: at(2) }).value).toEqual({ n: 2 });
      expect(engine.commitsSince(at(0)).map((commit) => commit.seq)).toEqual([1]);
      expect(set(engine, "b", 1).seq).toBe(4);
    },
  ],
  [
    "[ME-H3] a branch of a branch reads through both, and history runs through them",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", { n: 1 });
      engine.branches.create(DRAFT);
      patchOn(engine, DRAFT, "a", bump);
      engine.branches.create(INNER, { from: DRAFT });
      patchOn(engine, DRAFT, "a", bump);
      patchOn(engine, INNER, "a", { op: "replace", path: ["x"], value: true });
      expect(on(engine, INNER, "a")).toEqual({ n: 2, x: true });
      const seqs = engine.history(doc("a"), S, { branch: INNER }).map((revision) => revision.seq);
      expect(seqs).toEqual([1, 2, 4]);
    },
  ],
  [
    "[ME-H4] reads on a branch conflict with that branch's commits alone",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", { n: 1 });
      engine.branches.create(DRAFT);
      patch(engine, "a", bump);
      const conflicts = (): number =>
        engine.transact((tx) => tx.conflicts([readOf("a", 1)]).length, { branch: DRAFT });
      expect(conflicts()).toBe(0);
      patchOn(engine, DRAFT, "a", bump);
      expect(conflicts()).toBe(1);
    },
  ],
  [
    "[ME-H6] a document first written on a branch can be written on main afterwards",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "other", 1);
      engine.branches.create(DRAFT);
      expect(valueOf(engine, "new")).toBe(undefined);
      patchOn(engine, DRAFT, "new", { op: "append", path: [], value: 1 });
      expect(valueOf(engine, "new")).toBe(undefined);
      set(engine, "new", "main");
      expect([on(engine, DRAFT, "new"), valueOf(engine, "new")]).toEqual([[1], "main"]);
    },
  ],
  [
    "[ME-H5] a deleted branch is gone with what it held; main, and a branch others read through, stay",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", { n: 1 });
      engine.branches.create(DRAFT);
      engine.branches.create(INNER, { from: DRAFT });
      patchOn(engine, INNER, "a", bump);
      expect(codeOf(() => engine.branches.delete(DRAFT))).toBe("protocol");
      expect(codeOf(() => engine.branches.delete("main" as BranchName))).toBe("protocol");
      engine.branches.delete(INNER);
      engine.branches.create(INNER);
      expect(on(engine, INNER, "a")).toEqual({ n: 1 });
      expect(codeOf(() => on(engine, "nowhere" as BranchName, "a"))).toBe("protocol");
      expect(codeOf(() => engine.branches.create(INNER))).toBe("protocol");
      expect(codeOf(() => engine.branches.create("x" as BranchName, { at: at(99) }))).toBe(
        "protocol",
      );
    },
  ],
];
