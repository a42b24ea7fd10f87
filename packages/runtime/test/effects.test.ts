import {
  getAt,
  jsonEqual,
  must,
  pieceIdFor,
  toLinkValue,
  validateJson,
  type DocId,
  type InstanceKey,
  type JsonValue,
  type Link,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import fc from "fast-check";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  answeredValue,
  cell,
  computed,
  type Effect,
  type EffectRequest,
  fetchData,
  generateObject,
  generateText,
  listNodes,
  memoKey,
  parseRequest,
  pattern,
  pendingValue,
  type ReadState,
  sqliteQuery,
  storedMemo,
} from "../src/index.js";
import { createTestSpace, TestSpace, type TestSpaceOptions } from "../src/testing/index.js";
import { idOf, runsOf } from "./kit.js";

const page = pattern({
  id: "page",
  version: "1",
  build: () => {
    const url = cell("url", z.string().nullable(), { default: "https://x.test/1" });
    const data = fetchData("data", () => {
      const to = url.get();
      if (to === "throw") throw new Error("no address today");
      return to === null ? undefined : { url: to };
    });
    const title = computed("title", () => data.get()?.result ?? null);
    return { url, data, title };
  },
});

function opened(options: TestSpaceOptions = {}) {
  const space = createTestSpace(options);
  const piece = space.start(page);
  return { space, piece, url: idOf(piece, "url"), data: idOf(piece, "data") };
}

/** The requests handed over so far, those of repeated misses too. */
function asked(space: TestSpace): readonly EffectRequest[] {
  return space.sealed.flatMap(({ effect }) => (effect?.memo === "miss" ? [effect.request] : []));
}

function hits(space: TestSpace): number {
  return space.sealed.filter(({ effect }) => effect?.memo === "hit").length;
}

function keyOf(space: TestSpace, data: DocId): string {
  return getAt(space.stored(data), ["requestHash"]) as string;
}

test("[RT-E1] a miss selects its request and hands it over; the answer is a hit", async () => {
  const { space, data, piece } = opened();
  await space.demand(idOf(piece, "title"));

  const [request] = asked(space);
  expect(request).toMatchObject({
    builtIn: "fetchData",
    target: space.key(data),
    request: { url: "https://x.test/1", method: "GET" },
  });
  const key = request?.key ?? "";
  expect(space.stored(data)).toEqual({ pending: true, requestHash: key });

  space.write(data, answeredValue(key, "hello"));
  await space.settle();
  expect(space.stored(idOf(piece, "title"))).toBe("hello");
  expect(hits(space)).toBe(1);
  expect(asked(space)).toHaveLength(1);
  expect(space.stored(data)).toEqual({ pending: false, result: "hello", requestHash: key });
});

test("[RT-E1] there and back again asks again, since one document keeps one answer", async () => {
  const { space, url, data } = opened();
  await space.demand(data);
  const first = keyOf(space, data);
  space.write(data, answeredValue(first, "one"));
  await space.settle();

  space.write(url, "https://x.test/2");
  await space.settle();
  expect(space.stored(data)).toEqual({ pending: true, requestHash: keyOf(space, data) });
  expect(keyOf(space, data)).not.toBe(first);

  space.write(url, "https://x.test/1");
  await space.settle();
  expect(space.stored(data)).toEqual(pendingValue(first));
  expect(asked(space).map(({ key }) => key === first)).toEqual([true, false, true]);
});

test("[RT-E2] one request of one target has one key, however it was written down", () => {
  const space = createTestSpace().space;
  const other = createTestSpace().user as string as SpaceId;
  const base = { builtIn: "fetchData", target: "space node:a" as InstanceKey, space } as const;
  const key = (request: JsonValue) => memoKey({ ...base, request });
  const link = (value: Partial<Link>) =>
    key({ at: toLinkValue({ id: "node:x" as DocId, ...value }) });

  expect(key({ a: 1, b: [2, { c: 3, d: 4 }] })).toBe(key({ b: [2, { d: 4, c: 3 }], a: 1 }));
  expect(link({ path: [], space, scope: "space" })).toBe(link({}));
  expect(link({ path: ["p"] })).not.toBe(link({}));
  expect(link({ space: other })).not.toBe(link({}));
  expect(link({ scope: "user" })).not.toBe(link({}));
  expect(memoKey({ ...base, target: "space node:b" as InstanceKey, request: {} })).not.toBe(
    key({}),
  );
  expect(memoKey({ ...base, builtIn: "sqliteQuery", request: {} })).not.toBe(key({}));
});

test("[RT-E2] different requests have different keys", () => {
  const { space } = createTestSpace();
  const base = { builtIn: "fetchData", target: "space node:a" as InstanceKey, space } as const;
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const [one, two] = [a, b].map((value) => must(validateJson(value), "JSON"));
      if (one?.ok !== true || two?.ok !== true) return;
      const key = (request: JsonValue) => memoKey({ ...base, request });
      expect(key(one.value) === key(two.value)).toBe(jsonEqual(one.value, two.value));
    }),
  );
});

test("[RT-E3] a marker, an answer to something else and garbage are no answer", async () => {
  const { space, data } = opened();
  await space.demand(data);
  const key = keyOf(space, data);
  const forged: readonly JsonValue[] = [
    { pending: true, result: "early", requestHash: key },
    { pending: false, requestHash: key },
    answeredValue("another key", "wrong"),
    { pending: false, result: "no key" },
    "garbage",
  ];
  for (const value of forged) {
    const before = asked(space).length;
    space.write(data, value);
    await space.settle();
    expect(space.stored(data)).toEqual(pendingValue(key));
    expect(asked(space)).toHaveLength(before + 1);
  }
  expect(storedMemo({ pending: false, error: null, requestHash: key })?.settled).toBe(true);
});

test("[RT-E4] a request that is undefined asks for nothing, and the node is absent", async () => {
  const { space, url, data } = opened();
  await space.demand(data);
  space.write(url, null);
  await space.settle();

  expect(space.stored(data)).toBeUndefined();
  expect(asked(space)).toHaveLength(1);
});

test("[RT-E5] a request that does not fit is an error with its key, and is not handed over", async () => {
  const { space, url, data } = opened();
  space.write(url, "ftp://x.test/");
  await space.demand(data);

  expect(space.stored(data)).toEqual({
    pending: false,
    error: { kind: "invalid", message: "the request's url: a url begins with http:// or https://" },
    requestHash: keyOf(space, data),
  });
  expect(asked(space)).toEqual([]);
});

test("[RT-E5] requests are checked field by field", () => {
  const refused = (builtIn: Parameters<typeof parseRequest>[0], request: JsonValue) => {
    const parsed = parseRequest(builtIn, request);
    return parsed.ok ? undefined : parsed.message;
  };
  const url = "https://x.test/";
  expect(refused("fetchData", { url, headers: { "a b": "x" } })).toMatch(
    /headers\.a b: no header/u,
  );
  expect(refused("fetchData", { url, headers: { A: "x", a: "y" } })).toMatch(
    /headers\.a: .*twice/u,
  );
  expect(refused("fetchData", { url, method: "TRACE" })).toMatch(/method/u);
  expect(refused("fetchData", { url, credentials: "include" })).toMatch(/credentials/u);
  expect(refused("sqliteQuery", { statement: "select 1", database: "main", reader: "ana" })).toBe(
    undefined,
  );
  expect(refused("generateText", { messages: [{ role: "user", content: "hi" }] })).toBe(undefined);
  expect(refused("generateText", { model: "m", messages: [] })).toMatch(/messages/u);
  expect(
    refused("generateObject", { model: "m", messages: [{ role: "user", content: "" }] }),
  ).toMatch(/schema/u);
  expect(refused("sqliteQuery", { statement: "" })).toMatch(/statement/u);
  expect(refused("sqliteQuery", { statement: "select 1", database: 7 })).toMatch(/database/u);

  expect(
    parseRequest("fetchData", { url, headers: { Accept: "text/html" }, body: { a: 1 } }),
  ).toEqual({
    ok: true,
    request: { url, method: "GET", headers: { accept: "text/html" }, body: { a: 1 } },
  });
  const database = toLinkValue({ id: "node:db" as DocId });
  expect(parseRequest("sqliteQuery", { database, statement: "select ?", params: [1] }).ok).toBe(
    true,
  );
});

test("[RT-E6] a request that throws or is no JSON keeps the last value, and its reads arm it", async () => {
  const { space, url, data } = opened();
  await space.demand(data);
  const before = space.stored(data);
  space.write(url, "throw");
  await space.settle();

  expect(space.stored(data)).toEqual(before);
  expect(space.reports).toMatchObject([{ kind: "computed-failed" }]);
  space.write(url, "https://x.test/9");
  await space.settle();
  expect(asked(space).at(-1)?.request).toMatchObject({ url: "https://x.test/9" });

  const odd = pattern({
    id: "odd",
    version: "1",
    build: () => ({ data: fetchData("data", () => ({ url: new Date(0) }) as never) }),
  });
  const piece = space.start(odd, undefined, "odd");
  await space.demand(idOf(piece, "data"));
  expect(space.stored(idOf(piece, "data"))).toBeUndefined();
  expect(space.reports.at(-1)).toMatchObject({ kind: "computed-failed", error: { code: "value" } });
});

test("[RT-E6] fields that are undefined are left out", async () => {
  const space = createTestSpace();
  const loose = pattern({
    id: "loose",
    version: "1",
    build: () => ({
      data: generateText("data", () => ({
        model: "m",
        messages: [{ role: "user", content: "hi" }],
        params: { temperature: undefined, seed: 1 },
      })),
    }),
  });
  const piece = space.start(loose);
  await space.demand(idOf(piece, "data"));
  expect(asked(space)[0]?.request).toEqual({
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    params: { seed: 1 },
  });
});

test("[RT-E7] whatever an outsider makes of the document, the request is looked up again", async () => {
  const { space, data } = opened();
  await space.demand(data);
  space.write(data, undefined);
  await space.settle();

  expect(asked(space)).toHaveLength(2);
  expect(space.stored(data)).toEqual(pendingValue(keyOf(space, data)));
  expect(space.sealed.at(-1)?.reads.map(({ key }) => key)).toContain(space.key(data));
});

/** A new runtime over what an earlier one left, its basis rows included. */
async function restarted(before: TestSpace, data: DocId) {
  const rows = new Map(before.sealed.map(({ context, reads }) => [context.action, reads]));
  const seqs = new Map<InstanceKey, Seq>();
  const space: TestSpace = createTestSpace({
    store: before.contents(),
    recovered: (action) =>
      rows.get(action)?.map(({ key }) => ({ key, seq: seqs.get(key) ?? (0 as Seq) })),
  });
  for (const key of before.contents().keys()) {
    const state = space.read(key);
    if (state.state === "held") seqs.set(key, state.seq);
  }
  space.patterns.register(page);
  const id = pieceIdFor("p");
  space.runtime.startPiece(id, space.stored(id) as JsonValue);
  await space.demand(data);
  return space;
}

test("[RT-E8] after a restart a request without an answer is asked again, an answered one is not", async () => {
  const { space, data } = opened();
  await space.demand(data);
  const open = await restarted(space, data);
  expect(asked(open)).toEqual(asked(space));
  expect(open.sealed[0]?.elided).toEqual([open.key(data)]);

  space.write(data, answeredValue(keyOf(space, data), 1));
  await space.settle();
  const answered = await restarted(space, data);
  expect(runsOf(answered, "data")).toBe(0);
});

test("[RT-E9] an echo asks for nothing: another key is pending, the stored one is left alone", async () => {
  const served = opened();
  await served.space.demand(served.data);
  const key = keyOf(served.space, served.data);
  const { space, url, data } = opened({ posture: "speculating" });
  space.write(data, answeredValue(key, "one"));
  await space.demand(data);
  expect(space.sealed).toMatchObject([{ writes: [] }]);
  expect(space.sealed[0]?.elided).toBeUndefined();

  space.write(url, "https://x.test/2");
  await space.settle();
  expect(space.stored(data)).toMatchObject({ pending: true });
  space.write(url, "ftp://x.test/");
  await space.settle();
  expect(space.stored(data)).toMatchObject({ pending: true });
  expect(asked(space)).toEqual([]);
  expect(hits(space)).toBe(0);
});

/** A space whose runs see under what they made of one document. */
class EchoSpace extends TestSpace {
  under: { readonly key: InstanceKey; readonly value: JsonValue } | undefined;

  override read(key: InstanceKey): ReadState {
    const state = super.read(key);
    if (state.state !== "held" || this.under?.key !== key) return state;
    const confirmed: ReadState = { state: "held", value: this.under.value, seq: state.seq };
    return { ...state, unconfirmed: true, confirmed };
  }
}

test("[RT-E9] an echo looks its key up under its own marker, and lays none over the stored answer", async () => {
  const served = opened();
  await served.space.demand(served.data);
  const answer = answeredValue(keyOf(served.space, served.data), "one");
  const space = new EchoSpace({ posture: "speculating" });
  const piece = space.start(page);
  const [url, data] = [idOf(piece, "url"), idOf(piece, "data")];
  space.write(data, answer);
  await space.demand(data);

  space.write(url, "https://x.test/2");
  await space.settle();
  const marker = space.stored(data);
  expect(marker).toMatchObject({ pending: true });
  space.under = { key: space.key(data), value: answer };

  space.write(url, "https://x.test/1");
  await space.settle();
  expect(space.sealed.at(-1)?.writes).toEqual([]);
  expect(space.sealed.at(-1)?.elided).toBeUndefined();

  // Its layer goes with the run before, so that the next one lays it again though nothing differs.
  space.write(url, "https://x.test/2");
  await space.settle();
  expect(space.sealed.at(-1)?.writes).toEqual([
    { key: space.key(data), op: { op: "set", value: marker } },
  ]);
});

test("[RT-E9] an echo of a node whose document is not held waits for it", async () => {
  const { space, data, piece } = opened({ posture: "speculating" });
  space.setPending(data, true);
  await space.demand(idOf(piece, "title"));
  expect(space.sealed).toEqual([]);

  space.setPending(data, false);
  await space.settle();
  expect(space.stored(data)).toMatchObject({ pending: true });
});

test("[RT-E10] a schema that a built-in does not take is refused as the pattern is built, by its name", () => {
  // As JavaScript may: the types refuse it where it is written in place.
  const options = { title: "t", schema: z.object({ n: z.number() }) };
  const built = {
    sqliteQuery: () => sqliteQuery("node", () => ({ statement: "select 1 as n" }), options),
    generateText: () =>
      generateText(
        "node",
        () => ({ model: "m", messages: [{ role: "user", content: "hi" }] }),
        options,
      ),
  };
  for (const [builtIn, node] of Object.entries(built)) {
    const made = pattern({ id: builtIn, version: "1", build: () => ({ node: node() }) });
    let thrown: unknown;
    try {
      listNodes(made);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: "pattern",
      details: { patternId: builtIn, node: "node" },
    });
    expect(String(thrown)).toContain(`${builtIn}("node") takes no schema`);
  }
});

test("[RT-E10] a schema of the answer types the node and goes along with the request", async () => {
  const Person = z.object({ name: z.string(), age: z.number().optional() });
  const people = pattern({
    id: "people",
    version: "1",
    build: () => {
      const one = fetchData("one", () => ({ url: "https://x.test/" }), { schema: Person });
      const made = generateObject(
        "made",
        () => ({ model: "m", messages: [{ role: "user", content: "someone" }] }),
        { schema: Person },
      );
      const rows = sqliteQuery<{ n: number }>("rows", () => ({ statement: "select 1 as n" }));
      expectTypeOf(one).toEqualTypeOf<Effect<z.output<typeof Person>>>();
      expectTypeOf(made).toEqualTypeOf<Effect<z.output<typeof Person>>>();
      expectTypeOf(rows).toEqualTypeOf<Effect<readonly { n: number }[]>>();
      return { one, made, rows };
    },
  });
  expect(listNodes(people).map(({ kind, builtIn }) => [kind, builtIn])).toEqual([
    ["effect", "fetchData"],
    ["effect", "generateObject"],
    ["effect", "sqliteQuery"],
  ]);
  const space = createTestSpace();
  const piece = space.start(people);
  await space.demand(idOf(piece, "made"));
  expect(asked(space)[0]?.request).toMatchObject({
    schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  });
  const transformed = z.string().transform((text) => text.length);
  const unsayable = pattern({
    id: "unsayable",
    version: "1",
    build: () => ({
      one: fetchData("one", () => ({ url: "https://x.test/" }), { schema: transformed }),
    }),
  });
  expect(() => listNodes(unsayable)).toThrow(/schema of one has no JSON Schema/u);
});
