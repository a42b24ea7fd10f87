import * as fc from "fast-check";
import type { JsonValue } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { z } from "zod";
import { action, cell, computed, filter, flatMap, map, pattern } from "../src/index.js";
import { createTestSpace, type TestSpace } from "../src/testing/index.js";
import { idOf, runsOf, stored } from "./kit.js";

interface Item {
  readonly id: string;
  readonly t: number;
}

const Items = z.array(z.object({ id: z.string(), t: z.number() }));

const lists = pattern({
  id: "lists",
  version: "1",
  build: () => {
    const items = cell("items", Items, { default: [] });
    const factor = cell("factor", z.number(), { default: 10 });
    const key = (item: Item): string => item.id;
    const rows = map("rows", items, (item) => item.key("t").get() * factor.get(), { key });
    return {
      items,
      factor,
      rows,
      big: filter("big", items, (item) => item.get().t > 1, { key }),
      twice: flatMap("twice", items, (item) => [item.get().t, item.get().t], { key }),
      plain: map("plain", items, (item, at) => `${at.key}:${item.get().id}`),
      first: computed("first", () => rows.key(0).get() ?? null),
      readFirst: action("readFirst", () => rows.get()),
    };
  },
});

async function demanded(names: readonly string[], items: readonly Item[]) {
  const space = createTestSpace();
  const piece = space.start(lists);
  const write = async (next: readonly Item[]): Promise<void> => {
    space.write(idOf(piece, "items"), next as unknown as JsonValue);
    await space.settle();
  };
  await write(items);
  for (const name of names) await space.demand(idOf(piece, name));
  return { space, piece, write };
}

const A = { id: "a", t: 1 };
const B = { id: "b", t: 2 };
const C = { id: "c", t: 3 };

/** Runs of each child since the last call. */
function childRuns(space: TestSpace, node: string, keys: string): number[] {
  return [...keys].map((key) => runsOf(space, `${node}[${key}]`));
}

test("[RT-L1] the value of a map is the list of its rows in the list's order", async () => {
  const { space, piece, write } = await demanded(["rows"], [A, B]);
  expect(stored(space, piece, "rows")).toEqual([10, 20]);

  await write([C, A, B]);
  expect(stored(space, piece, "rows")).toEqual([30, 10, 20]);

  await write([B, C]);
  expect(stored(space, piece, "rows")).toEqual([20, 30]);
});

test("[RT-L2] reordering, inserting, removing and editing run no child but the edited and the new", async () => {
  const { space, write } = await demanded(["rows"], [A, B]);
  expect(childRuns(space, "rows", "abc")).toEqual([1, 1, 0]);

  await write([C, B, A]);
  expect(childRuns(space, "rows", "abc")).toEqual([1, 1, 1]);

  await write([C, { ...B, t: 7 }, A]);
  expect(childRuns(space, "rows", "abc")).toEqual([1, 2, 1]);

  await write([A]);
  expect(childRuns(space, "rows", "abc")).toEqual([1, 2, 1]);
});

test("[RT-L2] a change that a child does not read runs no child", async () => {
  const { space, write } = await demanded(["rows"], [A, B]);

  await write([{ ...A, note: "x" } as Item, B]);

  expect(childRuns(space, "rows", "ab")).toEqual([1, 1]);
});

test("[RT-L3] what every child reads runs every child, each once", async () => {
  const { space, piece } = await demanded(["rows"], [A, B]);

  space.write(idOf(piece, "factor"), 100);
  await space.settle();

  expect(stored(space, piece, "rows")).toEqual([100, 200]);
  expect(childRuns(space, "rows", "ab")).toEqual([2, 2]);
});

test("[RT-L4] a removed element takes its node and its document along, also one of an earlier process", async () => {
  const { space, write } = await demanded(["rows"], [A, B]);
  const nodes = space.scheduler.stats.nodes;
  await write([A]);
  expect(space.scheduler.stats.nodes).toBe(nodes - 1);
  const documents = space.contents().size;

  const again = createTestSpace({ store: space.contents() });
  const revived = again.start(lists);
  again.write(idOf(revived, "items"), []);
  await again.demand(idOf(revived, "rows"));

  expect(stored(again, revived, "rows")).toEqual([]);
  expect(again.contents().size).toBe(documents - 1);
});

test("[RT-L5] filter keeps the elements whose child says yes, flatMap joins what the children return", async () => {
  const { space, piece, write } = await demanded(["big", "twice"], [A, B, C]);
  expect(stored(space, piece, "big")).toEqual([B, C]);
  expect(stored(space, piece, "twice")).toEqual([1, 1, 2, 2, 3, 3]);

  await write([{ ...A, t: 9 }, C]);
  expect(stored(space, piece, "big")).toEqual([{ ...A, t: 9 }, C]);
  expect(stored(space, piece, "twice")).toEqual([9, 9, 3, 3]);
});

test("[RT-L6] without a key an element is its index, and equal identities are counted", async () => {
  const { space, piece, write } = await demanded(["plain", "rows"], [A, B]);
  expect(stored(space, piece, "plain")).toEqual(["0:a", "1:b"]);

  await write([B, { ...B, t: 5 }]);
  expect(stored(space, piece, "plain")).toEqual(["0:b", "1:b"]);
  expect(stored(space, piece, "rows")).toEqual([20, 50]);
});

test("[RT-L6] hostile identities name children like any other", async () => {
  const hostile = ["__proto__", "constructor", "toString", "x".repeat(5_000)];
  const items = hostile.map((id, t) => ({ id, t }));

  const { space, piece } = await demanded(["rows"], items);

  expect(stored(space, piece, "rows")).toEqual([0, 10, 20, 30]);
  expect(({} as { t?: number }).t).toBeUndefined();
});

test("[RT-L7] a child that throws leaves null in its row, and its neighbours stand", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "fragile",
      version: "1",
      build: () => {
        const items = cell("items", z.array(z.number()), { default: [1, 0, 4] });
        const rows = map("rows", items, (item) => {
          if (item.get() === 0) throw new Error("zero");
          return 8 / (item.get() ?? 1);
        });
        return { items, rows };
      },
    }),
  );

  await space.demand(idOf(piece, "rows"));

  expect(stored(space, piece, "rows")).toEqual([8, null, 2]);
  expect(space.reports).toMatchObject([{ kind: "computed-failed" }]);
});

test("[RT-L8] a handler that reads an undemanded list gets its rows as they are now", async () => {
  const { space, piece, write } = await demanded([], [A]);
  const read = idOf(piece, "readFirst");
  expect(await space.fire(read)).toEqual({ kind: "sealed", value: [10] });

  await write([B, A]);

  expect(await space.fire(read)).toEqual({ kind: "sealed", value: [20, 10] });
});

test("[RT-L9] a reader of one row runs for that row alone", async () => {
  const { space, piece, write } = await demanded(["first"], [A, B]);
  const runs = runsOf(space, "first");

  await write([A, { ...B, t: 9 }]);

  expect(runsOf(space, "first")).toBe(runs);
  expect(stored(space, piece, "rows")).toEqual([10, 90]);
});

test("[RT-L10] what a child's run rests on is in stores: the list stands in for its element", async () => {
  const { space, piece } = await demanded(["rows"], [A]);
  const child = space.sealed.find((run) => run.context.action.includes("rows[a]"));

  const keys = child?.reads.map(({ key }) => key);
  expect(keys).toContain(space.key(idOf(piece, "items")));
  expect(keys?.some((key) => key.includes("elements:"))).toBe(false);
});

test("[RT-L11] whatever the edits, rows equal a plain map, and no unchanged element runs", async () => {
  const item = fc.record({ id: fc.constantFrom("a", "b", "c", "d", "e"), t: fc.nat(3) });
  const list = fc.uniqueArray(item, { selector: (one) => one.id, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(list, { minLength: 1, maxLength: 8 }), async (steps) => {
      const { space, piece, write } = await demanded(["rows"], []);
      let before = new Map<string, number>();
      for (const step of steps) {
        const ran = childRuns(space, "rows", "abcde");
        await write(step);
        expect(stored(space, piece, "rows")).toEqual(step.map(({ t }) => t * 10));
        const after = new Map<string, number>(step.map(({ id, t }) => [id, t]));
        const due = [..."abcde"].map((id) =>
          Number(after.has(id) && after.get(id) !== before.get(id)),
        );
        const did = childRuns(space, "rows", "abcde").map((count, i) => count - (ran[i] ?? 0));
        expect(did).toEqual(due);
        before = after;
      }
    }),
    { numRuns: 60 },
  );
});
