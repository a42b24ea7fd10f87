import {
  asLink,
  docId,
  type JsonValue,
  nodeIdFor,
  pieceIdFor,
  type Seq,
  streamIdFor,
  toLinkValue,
} from "@tidemark/protocol";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  action,
  cell,
  computed,
  describePiece,
  handler,
  listNodes,
  map,
  type Pattern,
  pattern,
  PatternRegistry,
  pieceSelector,
  type RecoveredRead,
} from "../src/index.js";
import { createTestSpace, type TestSpace } from "../src/testing/index.js";
import { idOf, runsOf, stored } from "./kit.js";

const poll = pattern({
  id: "poll",
  version: "1",
  title: "Poll",
  argument: z.object({
    title: z.string().default("Lunch?"),
    max: z.number().int().optional(),
    owner: z.object({ name: z.string() }).optional(),
  }),
  build: ({ argument }) => {
    const votes = cell("votes", z.record(z.string(), z.string()), { default: {} });
    const draft = cell("draft", z.string(), { scope: "session", default: "" });
    const hidden = computed("hidden", () => Object.keys(votes.get()).length);
    const headline = computed("headline", () => `${argument.key("title").get()} ${hidden.get()}`);
    const owner = computed("owner", () => argument.key("owner").key("name").get() ?? null);
    const vote = handler("vote", z.object({ option: z.string() }), () => undefined, {
      title: "Vote",
      description: "One vote each.",
    });
    return { title: argument.key("title"), votes, draft, summary: headline, owner, vote };
  },
});

test("[RT-P2] a piece's document names pattern, argument with defaults, and a link to every node", () => {
  const id = pieceIdFor("p");

  const value = describePiece(poll, { max: 3 }, id);

  expect(value.pattern).toEqual({ id: "poll", version: "1" });
  expect(value.argument).toEqual({ max: 3, title: "Lunch?" });
  const links = (of: Readonly<Record<string, JsonValue>>): unknown =>
    Object.fromEntries(Object.entries(of).map(([name, link]) => [name, asLink(link)]));
  expect(links(value.result)).toEqual({
    title: { id, path: ["argument", "title"] },
    votes: { id: nodeIdFor(id, "votes") },
    draft: { id: nodeIdFor(id, "draft"), scope: "session" },
    summary: { id: nodeIdFor(id, "headline") },
    owner: { id: nodeIdFor(id, "owner") },
    vote: { id: streamIdFor(id, "vote") },
  });
  expect(links(value.internal)).toEqual({ hidden: { id: nodeIdFor(id, "hidden") } });
});

test("[RT-P3] an argument that does not fit is refused with its path, and a link stands for any value", () => {
  const id = pieceIdFor("p");
  const link = toLinkValue({ id: docId("node:elsewhere") });

  expect(() => describePiece(poll, { max: "many" }, id)).toThrow(
    expect.objectContaining({ code: "protocol", details: { path: ["max"] } }),
  );
  expect(() => describePiece(poll, { when: new Date(0) }, id)).toThrow(
    expect.objectContaining({ code: "protocol" }),
  );
  expect(describePiece(poll, { title: link }, id).argument).toEqual({ title: link });
});

test("[RT-P4] the argument is read through links, with the schema's defaults in its gaps", async () => {
  const space = createTestSpace();
  const friend = docId("node:friend");
  space.write(friend, { name: "Ben" });
  const piece = space.start(poll, { owner: toLinkValue({ id: friend }) });
  await space.demand(idOf(piece, "headline"));
  await space.demand(idOf(piece, "owner"));
  expect(stored(space, piece, "headline")).toBe("Lunch? 0");
  expect(stored(space, piece, "owner")).toBe("Ben");

  space.write(friend, { name: "Cy" });
  space.write(piece.id, { pattern: { id: "poll", version: "1" }, argument: {} });
  await space.settle();
  expect(stored(space, piece, "headline")).toBe("Lunch? 0");
  expect(stored(space, piece, "owner")).toBeNull();
});

const NAMELESS: readonly (readonly [what: string, build: () => object])[] = [
  ["a node without a name", () => ({ a: cell("", z.number()) })],
  ["a name that is no text", () => ({ a: cell(undefined as never, z.number()) })],
  ["a name with a slash", () => ({ a: cell("a/b", z.number()) })],
  ["the name __proto__", () => ({ a: cell("__proto__", z.number()) })],
  ["one name twice", () => ({ a: cell("a", z.number()), b: computed("a", () => 1) })],
  ["a default that is not JSON", () => ({ a: cell("a", z.unknown(), { default: new Map() }) })],
  ["a result that is no handle", () => ({ a: 7 })],
];

test.each(NAMELESS)("[RT-P5] %s is refused where the pattern is built", (_what, build) => {
  const bad = pattern({ id: "bad", version: "1", build: build as () => Record<string, unknown> });

  expect(() => describePiece(bad, {}, pieceIdFor("p"))).toThrow(
    expect.objectContaining({ code: "pattern" }),
  );
});

test("[RT-P5] nodes may be named like what every object has", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "hostile",
      version: "1",
      build: () => {
        const constructor = cell("constructor", z.number(), { default: 3 });
        const toString = computed("toString", () => constructor.get() + 1);
        return { constructor, toString };
      },
    }),
  );
  await space.demand(idOf(piece, "toString"));

  expect(stored(space, piece, "toString")).toBe(4);
  expect(piece.value("hasOwnProperty")).toBeUndefined();
});

test("[RT-P6] one id and version is one pattern: a different one is refused, the same twice is fine", () => {
  const first = pattern({ id: "x", version: "1", build: () => ({ a: cell("a", z.number()) }) });
  const same = { ...first };
  const other = pattern({ id: "x", version: "1", build: () => ({ b: cell("b", z.string()) }) });
  const next = pattern({ id: "x", version: "2", build: () => ({ b: cell("b", z.string()) }) });
  const registry = new PatternRegistry([first]);

  registry.register(first);
  registry.register(same);
  registry.register(next);
  expect(() => registry.register(other)).toThrow(expect.objectContaining({ code: "pattern" }));
  expect(registry.get("x", "1")).toBe(first);
  expect(registry.all()).toHaveLength(2);
});

test("[RT-P6] generated patterns of the same code are told apart by their fingerprint", () => {
  const make = (n: number): Pattern =>
    pattern({
      id: "gen",
      version: "1",
      fingerprint: String(n),
      build: () => ({ a: computed("a", () => n) }),
    });
  const registry = new PatternRegistry([make(1)]);

  registry.register(make(1));
  expect(() => registry.register(make(2))).toThrow(expect.objectContaining({ code: "pattern" }));
});

test("[RT-P6] another argument schema is another pattern", () => {
  const make = (argument: z.ZodType): Pattern =>
    pattern({ id: "arg", version: "1", argument, build: () => ({}) });
  const registry = new PatternRegistry([make(z.object({ a: z.string() }))]);

  registry.register(make(z.object({ a: z.string() })));
  expect(() => registry.register(make(z.object({ a: z.number() })))).toThrow(
    expect.objectContaining({ code: "pattern" }),
  );
});

test("[RT-P7] a piece of an unknown pattern, and a document that is no piece, are typed refusals", () => {
  const space = createTestSpace();
  const start = (value: JsonValue) => () => space.runtime.startPiece(pieceIdFor("p"), value);

  expect(start({ pattern: { id: "nobody", version: "1" } })).toThrow(
    expect.objectContaining({ code: "unknown-pattern" }),
  );
  expect(start(7)).toThrow(expect.objectContaining({ code: "protocol" }));
  expect(start({ pattern: { id: "__proto__", version: 1 } })).toThrow(
    expect.objectContaining({ code: "protocol" }),
  );
});

test("[RT-P8] starting twice gives the same piece, and a stopped one leaves nothing in the graph", async () => {
  const space = createTestSpace();
  const piece = space.start(poll);
  const value = space.stored(piece.id) as JsonValue;

  expect(space.runtime.startPiece(piece.id, value)).toBe(piece);
  expect(space.runtime.owns(space.key(idOf(piece, "headline")))).toBe(true);
  expect(space.runtime.owns(space.key(idOf(piece, "votes")))).toBe(false);
  expect(space.runtime.streamOwner(idOf(piece, "vote"))?.handler.name).toBe("vote");
  await space.demand(idOf(piece, "headline"));

  space.runtime.stopPiece(piece.id);
  expect(space.scheduler.stats.nodes).toBe(0);
  expect(space.runtime.owns(space.key(idOf(piece, "headline")))).toBe(false);
  expect(space.runtime.streamOwner(idOf(piece, "vote"))).toBeUndefined();
  expect(stored(space, piece, "headline")).toBe("Lunch? 0");
});

function times(factor: number, version: string): Pattern {
  return pattern({
    id: "times",
    version,
    fingerprint: version,
    build: () => {
      if (factor < 0) throw new Error("broken build");
      const n = cell("n", z.number(), { default: 1 });
      const out = computed("out", () => n.get() * factor);
      const rows = map(
        "rows",
        () => [n.get()],
        (item) => (item.get() ?? 0) * factor,
      );
      return { n, out, rows, add: action("add", () => n.increment(factor)) };
    },
  });
}

async function swapped(space: TestSpace, to: Pattern) {
  const piece = space.start(times(2, "1"));
  await space.demand(idOf(piece, "out"));
  await space.demand(idOf(piece, "rows"));
  space.patterns.register(to);
  const value = describePiece(times(2, "1"), {}, piece.id) as unknown as { pattern: JsonValue };
  const next = { ...value, pattern: { id: to.id, version: to.version } } as JsonValue;
  return { piece, next };
}

test("[RT-S1] a swap replaces graph and handlers, and nodes of one name keep their documents", async () => {
  const space = createTestSpace();
  const { piece, next } = await swapped(space, times(3, "2"));
  await space.fire(idOf(piece, "add"));
  await space.settle();
  expect(stored(space, piece, "out")).toBe(6);
  const nodes = space.scheduler.stats.nodes;

  const now = space.runtime.swap(piece.id, next);
  await space.settle();
  expect(stored(space, piece, "out")).toBe(9);
  expect(stored(space, piece, "rows")).toEqual([9]);

  await space.fire(idOf(now, "add"));
  await space.settle();
  expect(stored(space, piece, "n")).toBe(6);
  expect(stored(space, piece, "out")).toBe(18);
  expect(space.scheduler.stats.nodes).toBe(nodes);
});

test("[RT-S2] a swap that cannot be built leaves the old graph serving", async () => {
  const space = createTestSpace();
  const { piece, next } = await swapped(space, times(-1, "2"));

  expect(() => space.runtime.swap(piece.id, next)).toThrow("broken build");

  await space.fire(idOf(piece, "add"));
  await space.settle();
  expect(stored(space, piece, "out")).toBe(6);
});

test("[RT-S3] a pointer that moved without a swap changes nothing that runs", async () => {
  const space = createTestSpace();
  const { piece, next } = await swapped(space, times(3, "2"));

  space.write(piece.id, next);
  await space.settle();

  expect(space.runtime.piece(piece.id)).toBe(piece);
  expect(runsOf(space, "out")).toBe(1);
});

/** A restart on the store of an earlier space, with the basis that the earlier one sealed. */
async function restart(before: TestSpace, change?: (space: TestSpace) => void) {
  const basis = new Map<string, readonly RecoveredRead[]>();
  for (const { context, reads } of before.sealed) {
    if (context.kind === "derivation")
      basis.set(
        context.action,
        reads.map(({ key }) => ({ key, seq: 0 as Seq })),
      );
  }
  const seqs = new Map<string, Seq>();
  const space: TestSpace = createTestSpace({
    store: before.contents(),
    recovered: (actionId) =>
      basis.get(actionId)?.map(({ key }) => ({ key, seq: seqs.get(key) ?? (0 as Seq) })),
  });
  for (const key of before.contents().keys()) {
    const state = space.read(key);
    if (state.state === "held") seqs.set(key, state.seq);
  }
  space.patterns.register(times(2, "1"));
  change?.(space);
  const id = pieceIdFor("p");
  const piece = space.runtime.startPiece(id, space.stored(id) as JsonValue);
  await space.demand(idOf(piece, "out"));
  await space.demand(idOf(piece, "rows"));
  return { space, piece };
}

test("[RT-R1] after a restart a node whose recorded inputs stand is not run", async () => {
  const before = createTestSpace();
  const piece = before.start(times(2, "1"));
  before.write(idOf(piece, "n"), 5);
  await before.demand(idOf(piece, "out"));
  await before.demand(idOf(piece, "rows"));

  const { space } = await restart(before);
  expect(space.sealed).toEqual([]);

  space.write(idOf(piece, "n"), 6);
  await space.settle();
  expect(stored(space, piece, "out")).toBe(12);
  expect(stored(space, piece, "rows")).toEqual([12]);
});

test("[RT-R2] after a restart a node with a changed input runs", async () => {
  const before = createTestSpace();
  const piece = before.start(times(2, "1"));
  before.write(idOf(piece, "n"), 5);
  await before.demand(idOf(piece, "out"));
  await before.demand(idOf(piece, "rows"));

  const { space } = await restart(before, (revived) => revived.write(idOf(piece, "n"), 7));

  expect(stored(space, piece, "out")).toBe(14);
  expect(stored(space, piece, "rows")).toEqual([14]);
});

test("[RT-P9] plain reads show what is held, and an edit returns its reads and writes unsealed", async () => {
  const space = createTestSpace();
  const piece = space.start(times(2, "1"));
  const n = piece.cell<number>("n");
  const out = piece.value<number>("out");
  if (n === undefined || out === undefined) throw new Error("nodes are missing");

  expect(n.get()).toBe(1);
  expect(space.runtime.read(out)).toBeUndefined();
  expect(() => n.set(4)).toThrow(expect.objectContaining({ code: "frame" }));

  const edit = space.runtime.edit("type", () => {
    n.update((value) => value + 1);
    return n.get();
  });

  expect(edit.value).toBe(2);
  expect(edit.writes).toEqual([{ key: space.key(idOf(piece, "n")), op: { op: "set", value: 2 } }]);
  expect(edit.reads).toMatchObject([{ path: [], kind: "value" }]);
  expect(space.sealed).toEqual([]);
  expect(n.get()).toBe(1);
});

test("[RT-P10] a pattern's nodes are listed with what forms and inspectors need", () => {
  const nodes = listNodes(poll);

  expect(nodes.map(({ name, kind, scope }) => [name, kind, scope])).toEqual([
    ["votes", "cell", "space"],
    ["draft", "cell", "session"],
    ["hidden", "computed", "space"],
    ["headline", "computed", "space"],
    ["owner", "computed", "space"],
    ["vote", "handler", "space"],
  ]);
  expect(nodes.find(({ name }) => name === "headline")?.shownAs).toEqual(["summary"]);
  expect(nodes.at(-1)).toMatchObject({
    title: "Vote",
    description: "One vote each.",
    schema: { type: "object", properties: { option: { type: "string" } } },
  });
});

test("[RT-P11] the selector of a piece follows what its result shows, its streams left out", () => {
  const followed = { kind: "follow", to: { kind: "any" } };
  const result = (keys: object): unknown => ({
    kind: "object",
    keys: { result: { kind: "object", keys } },
  });

  expect(pieceSelector(poll, ["votes"])).toEqual(result({ votes: followed }));
  expect(pieceSelector(poll)).toEqual(
    result({
      title: followed,
      votes: followed,
      draft: followed,
      summary: followed,
      owner: followed,
    }),
  );
});
