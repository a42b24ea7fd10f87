import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Actor,
  asLink,
  docId,
  identityFromSeed,
  instanceKey,
  type InstanceKey,
  type JsonValue,
  type Link,
  resolveScopeKey,
  type ScopeKind,
  type Selector,
  sessionId,
  spaceId,
  toLinkValue,
  type WalkInput,
  WALK_LIMITS,
  type WalkResult,
  walkSelector,
} from "../../src/index.js";

const ana = identityFromSeed(new Uint8Array(32).fill(1)).did;
const ben = identityFromSeed(new Uint8Array(32).fill(2)).did;
const elsewhere = spaceId(identityFromSeed(new Uint8Array(32).fill(3)).did);
const asAna: Actor = { user: ana, session: sessionId("a1") };
const ANY: Selector = { kind: "any" };
const VALUE: Selector = { kind: "value" };

const at = (id: string, scope: ScopeKind = "space", actor: Actor = asAna): InstanceKey =>
  instanceKey(docId(id), resolveScopeKey(scope, actor));
const link = (id: string, more: Omit<Link, "id"> = {}): JsonValue =>
  toLinkValue({ id: docId(id), ...more });

type Docs = Readonly<Record<string, JsonValue | undefined>>;

interface Walked {
  readonly tracked: InstanceKey[];
  readonly result: WalkResult;
}

function walk(
  docs: Docs,
  selector: Selector,
  more: Partial<WalkInput> = {},
  limits = WALK_LIMITS,
): Walked {
  const tracked: InstanceKey[] = [];
  const result = walkSelector(
    {
      root: { id: docId("root") },
      selector,
      actor: asAna,
      read: (key) => (Object.hasOwn(docs, key) ? { value: docs[key] } : undefined),
      track: (key) => tracked.push(key),
      ...more,
    },
    limits,
  );
  return { tracked, result };
}

test("[PR-Q2] the root is tracked first, and absent and unheld targets are tracked too", () => {
  const docs = {
    [at("root")]: { held: link("b"), absent: link("c"), unheld: link("d"), again: link("b") },
    [at("b")]: 1,
    [at("c")]: undefined,
  };
  const { tracked, result } = walk(docs, ANY);
  expect(tracked).toEqual([at("root"), at("b"), at("c"), at("d")]);
  expect(result).toEqual({ instances: 4 });
  expect(walk({}, ANY).tracked).toEqual([at("root")]);
});

test("[PR-Q3] `value` follows nothing, and an object's named keys alone are followed", () => {
  const docs = {
    [at("root")]: { a: link("b"), z: { y: link("c") } },
    [at("b")]: { deep: link("d") },
  };
  expect(walk(docs, VALUE).tracked).toEqual([at("root")]);
  const named: Selector = { kind: "object", keys: { a: { kind: "follow", to: VALUE } } };
  expect(walk(docs, named).tracked).toEqual([at("root"), at("b")]);
  const rest: Selector = { kind: "object", keys: { a: VALUE }, rest: ANY };
  expect(walk(docs, rest).tracked).toEqual([at("root"), at("c")]);
});

test("[PR-Q3] `list` applies to each element, `follow` goes through a chain of links to its end", () => {
  const docs = {
    [at("root")]: [link("row1"), link("row2"), 3],
    [at("row1")]: link("row1b"),
    [at("row1b")]: { x: link("no") },
  };
  const rows: Selector = { kind: "list", items: { kind: "follow", to: VALUE } };
  expect(walk(docs, rows).tracked).toEqual([at("root"), at("row1"), at("row1b"), at("row2")]);
  expect(walk({ [at("root")]: { a: link("b") } }, rows).tracked).toEqual([at("root")]);
});

test("[PR-Q3] keys of an object prototype are not followed", () => {
  const toAny: Selector = { kind: "object", keys: { constructor: ANY, toString: ANY } };
  expect(walk({ [at("root")]: { a: 1 } }, toAny).tracked).toEqual([at("root")]);
  const others: Selector = { kind: "object", keys: {}, rest: ANY };
  expect(walk({ [at("root")]: { constructor: link("c") } }, others).tracked).toEqual([
    at("root"),
    at("c"),
  ]);
  const proto = JSON.parse(`{"__proto__":${JSON.stringify(link("p"))}}`) as JsonValue;
  expect(walk({ [at("root")]: proto }, ANY).tracked).toEqual([at("root"), at("p")]);
});

test("[PR-Q4] cycles end, and both selectors of a document reached twice are applied", () => {
  const docs = {
    [at("root")]: { self: link("root"), b: link("b") },
    [at("b")]: { back: link("root"), other: link("c") },
  };
  expect(walk(docs, ANY).tracked).toEqual([at("root"), at("b"), at("c")]);
  const both: Selector = {
    kind: "object",
    keys: { self: { kind: "follow", to: VALUE }, b: { kind: "follow", to: ANY } },
  };
  expect(walk(docs, both).tracked).toEqual([at("root"), at("b"), at("c")]);
});

test("[PR-Q5] scoped links lead to the actor's own instance, or nowhere", () => {
  const docs = { [at("root")]: [link("u", { scope: "user" }), link("s", { scope: "session" })] };
  expect(walk(docs, ANY).tracked).toEqual([at("root"), at("u", "user"), at("s", "session")]);
  const asBen: Actor = { user: ben, session: "server" };
  expect(walk(docs, ANY, { actor: asBen }).tracked).toEqual([at("root"), at("u", "user", asBen)]);
  expect(walk(docs, ANY, { actor: {} }).tracked).toEqual([at("root")]);
  const scopedRoot = { id: docId("mine"), scope: "session" as const };
  expect(walk({}, ANY, { root: scopedRoot, actor: asBen }).tracked).toEqual([]);
});

test("[PR-Q6] a link with a path continues there, through links on the way", () => {
  const docs = {
    [at("root")]: link("b", { path: ["list", 0, "x"] }),
    [at("b")]: { list: [link("c", { path: ["in"] })], other: link("no") },
    [at("c")]: { in: { x: { end: link("d") } }, out: link("no") },
  };
  expect(walk(docs, ANY).tracked).toEqual([at("root"), at("b"), at("c"), at("d")]);
  const strict = { [at("root")]: link("b", { path: ["0"] }), [at("b")]: [link("no")] };
  expect(walk(strict, ANY).tracked).toEqual([at("root"), at("b")]);
});

test("[PR-Q7] a redirect is followed whatever the selector, hop by hop and with the path", () => {
  const docs = {
    [at("root")]: link("root", { scope: "user" }),
    [at("root", "user")]: link("root", { scope: "session" }),
    [at("root", "session")]: { a: { b: link("end") } },
  };
  const hops = [at("root"), at("root", "user"), at("root", "session")];
  expect(walk(docs, VALUE).tracked).toEqual(hops);
  expect(walk(docs, ANY, { root: { id: docId("root"), path: ["a", "b"] } }).tracked).toEqual([
    ...hops,
    at("end"),
  ]);
  expect(walk({ [at("root")]: link("root") }, VALUE).tracked).toEqual([at("root")]);
});

test("[PR-Q8] a link into another space is not followed, one that names this space is", () => {
  const docs = { [at("root")]: link("b", { space: elsewhere }) };
  expect(walk(docs, ANY).tracked).toEqual([at("root")]);
  expect(walk(docs, ANY, { space: elsewhere }).tracked).toEqual([at("root"), at("b")]);
});

test("[PR-Q9] each bound cuts the walk and is named", () => {
  const docs: Record<string, JsonValue> = {};
  for (let n = 0; n < 20; n += 1)
    docs[at(n === 0 ? "root" : `d${n}`)] = { next: link(`d${n + 1}`) };
  const cut = (limits: Partial<typeof WALK_LIMITS>) =>
    walk(docs, ANY, {}, { ...WALK_LIMITS, ...limits }).result;
  expect(cut({})).toEqual({ instances: 21 });
  expect(cut({ maxInstances: 5 })).toEqual({ instances: 5, truncated: "maxInstances" });
  expect(cut({ maxHops: 3 })).toEqual({ instances: 4, truncated: "maxHops" });
  expect(cut({ maxSteps: 6 }).truncated).toBe("maxSteps");
});

test("[PR-Q10] `any` reaches what a naive search through all links reaches", () => {
  const names = ["root", "a", "b", "c", "d"];
  const target = fc.constantFrom(...names).map((id) => link(id));
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonValue>(1, null),
      target,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("x", "y"), tie("value")),
    ),
  }));
  fc.assert(
    fc.property(fc.array(value, { minLength: names.length, maxLength: names.length }), (values) => {
      const docs: Docs = Object.fromEntries(names.map((id, index) => [at(id), values[index]]));
      expect(new Set(walk(docs, ANY).tracked)).toEqual(naive(docs));
    }),
    { numRuns: 300 },
  );
});

function naive(docs: Docs): ReadonlySet<InstanceKey> {
  const reached = new Set<InstanceKey>();
  const visit = (value: JsonValue | undefined): void => {
    const found = asLink(value);
    if (found !== undefined) enter(at(found.id));
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(visit);
  };
  const enter = (key: InstanceKey): void => {
    if (reached.has(key)) return;
    reached.add(key);
    visit(docs[key]);
  };
  enter(at("root"));
  return reached;
}
