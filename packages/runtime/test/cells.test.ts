import {
  canonicalJson,
  docId,
  nodeIdFor,
  pieceIdFor,
  toLinkValue,
  type JsonValue,
} from "@tidemark/protocol";
import { expect, test } from "vitest";
import { z } from "zod";
import { action, cell, cellAt, computed, handler, pattern, type Cell } from "../src/index.js";
import { createTestSpace, type TestSpace } from "../src/testing/index.js";
import { idOf, stored } from "./kit.js";

const Anything = z.unknown();

/** A piece with one cell and one handler that does to it what the test says. */
function withCell<T>(initial: T | undefined, act: (target: Cell<T>) => unknown) {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "one-cell",
      version: "1",
      build: () => {
        const options = initial === undefined ? {} : { default: initial };
        const value = cell("value", Anything, options) as unknown as Cell<T>;
        return { value, go: action("go", () => act(value)) };
      },
    }),
  );
  return { space, piece, go: () => space.fire(idOf(piece, "go")) };
}

function lastOps(space: TestSpace): unknown {
  return space.sealed.at(-1)?.writes.map(({ op }) => op);
}

function lastReads(space: TestSpace): unknown {
  // The piece's pointer is an input of every run.
  return space.sealed
    .at(-1)
    ?.reads.filter(({ path }) => path[0] !== "pattern")
    .map(({ path, kind, seq }) => ({ path, kind, seq }));
}

test("[RT-C1] a cell that was never written reads as its default and stores nothing", async () => {
  const { space, piece, go } = withCell({ n: 1 }, (value) => value.get());

  expect(await go()).toEqual({ kind: "sealed", value: { n: 1 } });
  expect(stored(space, piece, "value")).toBeUndefined();
});

test("[RT-C1] null is a value and no absence: no default shows through it", async () => {
  const { space, piece, go } = withCell<{ a: number | null } | null>({ a: 1 }, (value) => {
    value.update((draft) => {
      if (draft !== null) draft.a = null;
    });
    const part = value.key("a").get();
    value.update(() => null);
    return [part, value.get()];
  });

  expect(await go()).toEqual({ kind: "sealed", value: [null, null] });
  expect(stored(space, piece, "value")).toBeNull();
});

test("[RT-C2] set overwrites the whole without reading, and a key of it by a patch", async () => {
  const whole = withCell({ n: 1 }, (value) => value.set({ n: 5 }));
  await whole.go();
  expect(lastOps(whole.space)).toEqual([{ op: "set", value: { n: 5 } }]);
  expect(lastReads(whole.space)).toEqual([]);

  const part = withCell<{ n: number; m?: number }>({ n: 1 }, (value) => value.key("m").set(3));
  part.space.write(idOf(part.piece, "value"), { n: 2 });
  await part.go();
  expect(lastOps(part.space)).toEqual([
    { op: "patch", value: [{ op: "replace", path: ["m"], value: 3 }] },
  ]);
  expect(lastReads(part.space)).toEqual([]);
  expect(stored(part.space, part.piece, "value")).toEqual({ n: 2, m: 3 });
});

test("[RT-C3] setting a key of a cell never written starts from the default and rests on its absence", async () => {
  const { space, piece, go } = withCell<Record<string, string>>({ kept: "yes" }, (value) =>
    value.key("ana").set("soup"),
  );

  await go();

  expect(stored(space, piece, "value")).toEqual({ kept: "yes", ana: "soup" });
  expect(lastReads(space)).toEqual([{ path: [], kind: "value", seq: 0 }]);
});

test("[RT-C3] a way that is missing is made, and the run rests on its being missing", async () => {
  const { space, piece, go } = withCell<unknown>(undefined, (value) =>
    value.key("a").key("b").key("c").set(1),
  );
  space.write(idOf(piece, "value"), { a: {} });

  await go();

  expect(stored(space, piece, "value")).toEqual({ a: { b: { c: 1 } } });
  expect(lastOps(space)).toEqual([
    { op: "patch", value: [{ op: "replace", path: ["a", "b"], value: { c: 1 } }] },
  ]);
  expect(lastReads(space)).toMatchObject([{ path: ["a", "b"], kind: "value" }]);
});

test("[RT-C4] merging operations log no read and carry the default for a first writer", async () => {
  const { space, piece, go } = withCell<{ list: JsonValue[]; n: number }>(
    { list: ["first"], n: 10 },
    (value) => {
      value.key("list").append("x");
      value.key("list").addUnique("x");
      value.key("n").increment();
      value.key("n").increment(0);
    },
  );

  await go();

  const ifAbsent = { list: ["first"], n: 10 };
  expect(lastOps(space)).toEqual([
    {
      op: "patch",
      value: [
        { op: "append", path: ["list"], ifAbsent, value: "x" },
        { op: "addUnique", path: ["list"], ifAbsent, value: "x" },
        { op: "increment", path: ["n"], ifAbsent, value: 1 },
      ],
    },
  ]);
  expect(lastReads(space)).toEqual([]);
  expect(stored(space, piece, "value")).toEqual({ list: ["first", "x"], n: 11 });
});

test("[RT-C4] splice edits lists, and texts by code points", async () => {
  const list = withCell(["a", "b", "c"], (value) => value.splice(1, 1, ["x", "y"]));
  await list.go();
  expect(stored(list.space, list.piece, "value")).toEqual(["a", "x", "y", "c"]);

  const text = withCell("a😀b", (value) => value.splice(1, 1, "é"));
  await text.go();
  expect(stored(text.space, text.piece, "value")).toBe("aéb");
});

test("[RT-C4] a merging operation on the wrong kind of value ends the handler as errored", async () => {
  const { go } = withCell<unknown>("text", (value) => value.append(1));

  expect(await go()).toMatchObject({ kind: "errored", error: { code: "patch" } });
});

test("[RT-C5] an append that follows a read of the list rests on what was read", async () => {
  const { space, piece, go } = withCell<{ id: number }[]>([], (value) => {
    value.append({ id: value.get().length });
    value.append({ id: value.get().length });
  });

  await go();

  expect(stored(space, piece, "value")).toEqual([{ id: 0 }, { id: 1 }]);
  expect(lastReads(space)).toEqual([{ path: [], kind: "value", seq: 0 }]);
});

test("[RT-C5] a read that follows an append rests on what is below the append", async () => {
  const { space, piece, go } = withCell<string[]>([], (value) => {
    value.append("mine");
    return value.get();
  });
  space.write(idOf(piece, "value"), ["theirs"]);

  expect(await go()).toEqual({ kind: "sealed", value: ["theirs", "mine"] });
  expect(lastReads(space)).toMatchObject([{ path: [], kind: "value" }]);
});

test("[RT-C7] a key named __proto__ that a recipe makes up is an error, and no prototype", async () => {
  const { go } = withCell<Record<string, JsonValue>>({}, (value) =>
    value.update((draft) => {
      draft["__proto__"] = { admin: true };
    }),
  );

  expect(await go()).toMatchObject({ kind: "errored" });
});

test("[RT-C5] reading what the run itself overwrote rests on nothing", async () => {
  const { space, go } = withCell<{ a: number; b: number }>({ a: 0, b: 0 }, (value) => {
    value.set({ a: 1, b: 2 });
    return value.key("b").get();
  });

  expect(await go()).toEqual({ kind: "sealed", value: 2 });
  expect(lastReads(space)).toEqual([]);
});

test("[RT-C6] update becomes overwriting patches and rests on the value", async () => {
  type Doc = { list: number[]; name: string };
  const { space, piece, go } = withCell<Doc>({ list: [], name: "" }, (value) =>
    value.update((draft) => {
      draft.list.push(4);
      draft.name = "b";
    }),
  );
  space.write(idOf(piece, "value"), { list: [1, 2], name: "a" });

  await go();

  expect(stored(space, piece, "value")).toEqual({ list: [1, 2, 4], name: "b" });
  const ops = space.sealed.at(-1)?.writes[0]?.op;
  expect(ops).toMatchObject({ op: "patch" });
  expect(JSON.stringify(ops)).not.toMatch(/append|splice|increment|addUnique/);
  expect(lastReads(space)).toMatchObject([{ path: [], kind: "value" }]);
});

test("[RT-C6] update works on scalars, on a cell never written, and writes nothing for no change", async () => {
  const scalar = withCell(2, (value) => value.update((n) => n * 21));
  await scalar.go();
  expect(stored(scalar.space, scalar.piece, "value")).toBe(42);

  const nothing = withCell({ n: 1 }, (value) => value.update(() => undefined));
  nothing.space.write(idOf(nothing.piece, "value"), { n: 1 });
  await nothing.go();
  expect(lastOps(nothing.space)).toEqual([]);
});

test("[RT-C7] update keeps an own __proto__ key as data, which immer itself refuses", async () => {
  const { space, piece, go } = withCell<Record<string, JsonValue>>({}, (value) =>
    value.update((draft) => {
      draft["x"] = 1;
      draft["__proto__"] = { admin: false };
    }),
  );
  space.write(idOf(piece, "value"), JSON.parse('{"__proto__": {"admin": true}}'));

  expect(await go()).toMatchObject({ kind: "sealed" });

  expect(canonicalJson(stored(space, piece, "value") ?? null)).toBe(
    '{"__proto__":{"admin":false},"x":1}',
  );
  expect(({} as { admin?: unknown }).admin).toBeUndefined();
});

test("[RT-C8] remove takes a part out, delete the document, after which the default shows", async () => {
  const part = withCell<Record<string, number>>({}, (value) => {
    value.key("a").remove();
    value.key("never there").remove();
  });
  part.space.write(idOf(part.piece, "value"), { a: 1, b: 2 });
  await part.go();
  expect(stored(part.space, part.piece, "value")).toEqual({ b: 2 });

  const whole = withCell<number>(7, (value) => {
    value.set(9);
    value.delete();
    return value.get();
  });
  expect(await whole.go()).toEqual({ kind: "sealed", value: 7 });
  expect(lastOps(whole.space)).toEqual([{ op: "delete" }]);
});

test("[RT-C8] removeValue takes every equal element out of a list", async () => {
  const { space, piece, go } = withCell<JsonValue[]>([{ a: 1 }, 2, { a: 1 }], (value) =>
    value.removeValue({ a: 1 }),
  );

  await go();

  expect(stored(space, piece, "value")).toEqual([2]);
});

test("[RT-C8] what is read after it rests on what the list held besides", async () => {
  const { space, piece, go } = withCell<JsonValue[]>([1, 2], (value) => {
    value.removeValue(1);
    return value.get();
  });
  await go();
  expect(stored(space, piece, "value")).toEqual([2]);

  expect(await go()).toEqual({ kind: "sealed", value: [2] });
  expect(lastReads(space)).toMatchObject([{ path: [], kind: "value" }]);
});

test.each([
  ["undefined", undefined],
  ["NaN", Number.NaN],
  ["a date", new Date(0)],
  ["a lone surrogate", "\uD800"],
  ["a function", () => 1],
])("[RT-C9] setting %s ends the handler as errored with a ValueError", async (_what, bad) => {
  const { space, go } = withCell<unknown>(0, (value) => value.set({ deep: [bad] }));

  expect(await go()).toMatchObject({
    kind: "errored",
    error: { code: "value", details: { path: ["deep", 0] } },
  });
  expect(space.sealed).toEqual([]);
});

test("[RT-C10] keys reads the shape alone: a changed value repeats nothing, a new key does", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "shapes",
      version: "1",
      build: () => {
        const votes = cell("votes", z.record(z.string(), z.string()), { default: {} });
        return { votes, voters: computed("voters", () => votes.keys()) };
      },
    }),
  );
  space.write(idOf(piece, "votes"), { ana: "soup" });
  await space.demand(idOf(piece, "voters"));
  const runs = space.sealed.length;

  space.write(idOf(piece, "votes"), { ana: "rice" });
  await space.settle();
  expect(space.sealed).toHaveLength(runs);

  space.write(idOf(piece, "votes"), { ana: "rice", ben: "soup" });
  await space.settle();
  expect(stored(space, piece, "voters")).toEqual(["ana", "ben"]);
});

test("[RT-C11] links are followed on the way, at the end and inside a value, each read logged", async () => {
  const { space, piece, go } = withCell<Record<string, { name: string }>>({}, (value) => [
    value.key("friend").key("name").get(),
    value.get(),
  ]);
  const friend = docId("node:friend");
  space.write(friend, { name: "Ben" });
  space.write(idOf(piece, "value"), { friend: toLinkValue({ id: friend }) });

  expect(await go()).toEqual({ kind: "sealed", value: ["Ben", { friend: { name: "Ben" } }] });
  const keys = space.sealed.at(-1)?.reads.map(({ key }) => key);
  expect(keys).toContain(space.key(friend));
});

test("[RT-C11] a circle of links inside a value keeps its link, one on the way is an error", async () => {
  const { space, piece, go } = withCell<Record<string, unknown>>({}, (value) => value.get());
  const other = docId("node:other");
  const back = toLinkValue({ id: idOf(piece, "value") });
  space.write(other, { back });
  space.write(idOf(piece, "value"), { other: toLinkValue({ id: other }) });
  expect(await go()).toEqual({ kind: "sealed", value: { other: { back } } });

  space.write(idOf(piece, "value"), back);
  expect(await go()).toMatchObject({ kind: "errored", error: { code: "resolution" } });
});

test("[RT-C12] a cell of another piece is read, and written through its link", async () => {
  const space = createTestSpace();
  const other = space.start(counterPattern, undefined, "other");
  const count = { id: idOf(other, "count") };
  const piece = space.start(
    pattern({
      id: "reaching",
      version: "1",
      build: () => ({
        doubled: computed("doubled", () => cellAt<number>(count, { default: 0 }).get() * 2),
        bump: action("bump", () => cellAt<number>(count).increment(5)),
        clobber: action("clobber", () =>
          cellAt<number>({ id: nodeIdFor(other.id, "double") }).set(1),
        ),
      }),
    }),
  );
  await space.demand(idOf(piece, "doubled"));
  expect(stored(space, piece, "doubled")).toBe(0);

  await space.fire(idOf(piece, "bump"));
  await space.settle();
  expect(stored(space, piece, "doubled")).toBe(12);
  expect(await space.fire(idOf(piece, "clobber"))).toMatchObject({
    kind: "errored",
    error: { code: "frame" },
  });
});

test("[RT-C14] the piece behind a link is started for the run that needs it, and its defaults count", async () => {
  const asked: string[] = [];
  const space: TestSpace = createTestSpace({
    ensureOwner: (id) => {
      asked.push(id);
      if (id === double.id || id === count.id) space.start(counterPattern, undefined, "other");
    },
  });
  const other = pieceIdFor("other");
  const count = { id: nodeIdFor(other, "count") };
  const double = { id: nodeIdFor(other, "double") };
  const piece = space.start(
    pattern({
      id: "reaching",
      version: "1",
      argument: z.object({ count: z.number(), double: z.number() }),
      build: ({ argument }) => ({
        sum: computed("sum", () => argument.key("count").get() + argument.key("double").get()),
        bump: action("bump", () => cellAt<number>(count).update((n) => n + 1)),
      }),
    }),
    { count: toLinkValue(count), double: toLinkValue(double) },
  );

  await space.demand(idOf(piece, "sum"));
  expect(stored(space, piece, "sum")).toBe(3);
  await space.fire(idOf(piece, "bump"));
  await space.settle();

  expect(stored(space, piece, "sum")).toBe(6);
  expect(asked).toEqual([count.id]);
});

const counterPattern = pattern({
  id: "other",
  version: "1",
  build: () => {
    const count = cell("count", z.number(), { default: 1 });
    return { count, double: computed("double", () => count.get() * 2) };
  },
});

test("[RT-C13] scoped cells have an instance per actor, and nobody's where nobody acts", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "scoped",
      version: "1",
      build: () => {
        const mine = cell("mine", z.number(), { scope: "user", default: 0 });
        const tab = cell("tab", z.number(), { scope: "session", default: 0 });
        return {
          mine,
          tab,
          go: handler("go", z.number(), (n) => {
            mine.set(n);
            tab.set(mine.get() + tab.get());
            return tab.get();
          }),
        };
      },
    }),
  );
  const go = idOf(piece, "go");

  expect(await space.fire(go, 5)).toEqual({ kind: "sealed", value: 5 });
  expect(await space.fire(go, 1, { actor: space.actor("s2") })).toEqual({
    kind: "sealed",
    value: 1,
  });
  expect(await space.fire(go, 1, { actor: { session: "server" } })).toMatchObject({
    kind: "errored",
    error: { code: "no-acting-user" },
  });
  expect(await space.fire(go, 1, { actor: { user: space.user, session: "server" } })).toMatchObject(
    { kind: "errored", error: { code: "no-acting-session" } },
  );
  const keys = [...space.contents().keys()].filter((key) => !key.startsWith("space "));
  expect(keys).toHaveLength(3);
});
