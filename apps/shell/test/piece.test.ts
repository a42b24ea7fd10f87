import { toLinkValue } from "@tidemark/protocol";
import { lunchPoll } from "@tidemark/patterns";
import { describePiece, fetchData, listNodes, type Pattern, pattern } from "@tidemark/runtime";
import { expect, test } from "vitest";
import { fetchMeta, type Meta } from "../src/meta/meta.js";
import { nodesOf } from "../src/piece/nodes.js";
import { patternTitle, pieceTitle } from "../src/piece/piece-title.js";
import { tableRows } from "../src/piece/table-rows.js";

const poll = lunchPoll as unknown as Pattern;
const document = JSON.parse(
  JSON.stringify(describePiece(poll, { title: "Friday" }, "piece:p" as never)),
) as never;
const served = {
  id: poll.id,
  version: poll.version,
  title: "Lunch poll",
  description: null,
  nodes: JSON.parse(JSON.stringify(listNodes(poll))) as unknown[],
};

async function metaOf(body: unknown): Promise<Meta | undefined> {
  return fetchMeta((() => Promise.resolve(new Response(JSON.stringify(body)))) as typeof fetch);
}

test("a piece's parts are the same from the pattern's module and from what the server says", async () => {
  const meta = await metaOf({ demo: null, patterns: [served] });
  const fromModule = nodesOf(document, poll, undefined);
  expect(fromModule.map(({ name }) => name)).toContain("tally");
  expect(nodesOf(document, undefined, meta)).toEqual(fromModule);
});

test("what a piece asks the world for is a part like another, and never one to be kept", async () => {
  const page = pattern({
    id: "page",
    version: "1",
    build: () => ({ page: fetchData("page", () => ({ url: "https://x.test/" })) }),
  });
  const value = describePiece(page as unknown as Pattern, {}, "piece:q" as never);
  const nodes = JSON.parse(JSON.stringify(listNodes(page as unknown as Pattern))) as unknown[];
  const meta = await metaOf({ demo: null, patterns: [{ ...served, id: "page", nodes }] });
  const fromModule = nodesOf(value as never, page as unknown as Pattern, undefined);
  expect(fromModule).toMatchObject([{ name: "page", kind: "effect" }]);
  expect(nodesOf(value as never, undefined, meta)).toEqual(fromModule);
});

test("of a piece that nobody describes the links alone tell its parts", () => {
  const nodes = nodesOf(document, undefined, undefined);
  expect(nodes.find(({ name }) => name === "vote")).toMatchObject({
    kind: "handler",
    title: "Vote",
  });
  expect(nodes.find(({ name }) => name === "votes")).toMatchObject({ kind: "cell" });
  expect(nodesOf({ result: { a: 1 } } as never, undefined, undefined)).toEqual([]);
  expect(nodesOf(undefined, undefined, undefined)).toEqual([]);
});

test("a piece is called by its argument, else by its pattern", async () => {
  const meta = await metaOf({ demo: null, patterns: [served] });
  expect(pieceTitle(document, meta)).toBe("Friday");
  expect(pieceTitle({ pattern: { id: "lunch-poll", version: "1" } }, meta)).toBe("Lunch poll");
  expect(pieceTitle({ argument: { title: toLinkValue({ id: "node:x" as never }) } }, meta)).toBe(
    "Something of an unknown kind",
  );
  expect(patternTitle({ id: "work-orders", version: "3" }, meta)).toBe("Work orders");
});

test("a server that answers something else is no server", async () => {
  expect(await metaOf({ demo: { space: "x", piece: "y" }, patterns: [] })).toBeUndefined();
  expect(await metaOf("hello")).toBeUndefined();
  expect(await fetchMeta(() => Promise.reject(new Error("gone")))).toBeUndefined();
});

test("like objects with plain values are a table, anything else is not", () => {
  expect(
    tableRows([
      { a: 1, b: "x" },
      { b: "y", a: 2 },
    ]),
  ).toEqual({
    columns: ["a", "b"],
    rows: [
      [1, "x"],
      [2, "y"],
    ],
  });
  for (const items of [
    [],
    [1],
    [{}],
    [{ a: 1 }, { b: 1 }],
    [{ a: [1] }],
    [{ a: 1 }, { a: 1, b: 2 }],
  ]) {
    expect(tableRows(items)).toBeUndefined();
  }
});
