import { expect, test } from "vitest";
import {
  type Held,
  type InstanceKey,
  type JsonValue,
  LayeredView,
  seq,
  type SkippedLayer,
  type ValueOperation,
  type ViewLayer,
} from "../../src/index.js";

const D = "space node:d" as InstanceKey;
const E = "space node:e" as InstanceKey;

function held(value: JsonValue | undefined, at = 1): Held {
  return { value, seq: seq(at) };
}

function layer(...ops: readonly (readonly [InstanceKey, ...ValueOperation[]])[]): ViewLayer {
  return { ops: new Map(ops.map(([key, ...list]) => [key, list])) };
}

const append = (value: JsonValue): ValueOperation => ({
  op: "patch",
  value: [{ op: "append", path: [], value }],
});
const increment = (value: number): ValueOperation => ({
  op: "patch",
  value: [{ op: "increment", path: [], value }],
});
const set = (value: JsonValue): ValueOperation => ({ op: "set", value });

/** A base of a Map that counts its reads, and a view over it. */
function setup(values: readonly (readonly [InstanceKey, Held])[] = []) {
  const base = new Map(values);
  const skips: SkippedLayer[] = [];
  const view = new LayeredView(base, { onSkip: (skip) => skips.push(skip) });
  return { base, view, skips, value: (key: InstanceKey) => view.get(key)?.value };
}

test("[PR-L1] layers apply in order over the base, and leave other instances alone", () => {
  const { view, value } = setup([
    [D, held([1])],
    [E, held("e")],
  ]);
  view.push(layer([D, append(2)]));
  view.push(layer([D, append(3), append(4)]));
  expect(value(D)).toEqual([1, 2, 3, 4]);
  expect(view.get(D)?.seq).toBe(1);
  expect(value(E)).toBe("e");
  expect([view.has(D), view.has(E), view.size]).toEqual([true, false, 2]);
});

test("[PR-L1] a delete is visible as an absent value", () => {
  const { view } = setup([[D, held([1])]]);
  view.push(layer([D, { op: "delete" }]));
  expect(view.get(D)).toEqual(held(undefined));
});

test("[PR-L2] a layer is taken out of the middle, with the instances it wrote", () => {
  const { view, value } = setup([[D, held([])]]);
  const [a, b, c] = [
    layer([D, append("a")]),
    layer([D, append("b")], [E, set(1)]),
    layer([D, append("c")]),
  ];
  for (const each of [a, b, c]) view.push(each);
  expect(value(D)).toEqual(["a", "b", "c"]);
  expect(view.remove(b)).toEqual([D, E]);
  expect(value(D)).toEqual(["a", "c"]);
  expect(view.layersOn(D)).toEqual([a, c]);
  expect(view.has(E)).toBe(false);
  expect(view.remove(b)).toEqual([]);
});

test("[PR-L2] a replacement takes the place of what it replaces, also where that wrote nothing", () => {
  const { view, value } = setup([
    [D, held([])],
    [E, held([])],
  ]);
  const [a, b, c] = [
    layer([D, append("a")]),
    layer([D, append("b")]),
    layer([D, append("c")], [E, append("c")]),
  ];
  for (const each of [a, b, c]) view.push(each);
  const next = layer([D, append("B")], [E, append("B")]);
  expect(view.replace(b, next)).toEqual([D, E]);
  expect([value(D), value(E)]).toEqual([
    ["a", "B", "c"],
    ["B", "c"],
  ]);
  expect(view.layers()).toEqual([a, next, c]);
  const only = layer([E, append("x")]);
  expect(view.replace(next, only)).toEqual([D, E]);
  expect([value(D), value(E)]).toEqual([
    ["a", "c"],
    ["x", "c"],
  ]);
  expect(() => view.replace(b, layer())).toThrow(TypeError);
  expect(() => view.push(a)).toThrow(TypeError);
});

test("[PR-L3] a base that moves is seen through the layers at once", () => {
  const { base, view, value } = setup([[D, held(["x"])]]);
  view.push(layer([D, append("z")]));
  expect(value(D)).toEqual(["x", "z"]);
  base.set(D, held(["x", "y"], 2));
  expect(value(D)).toEqual(["x", "y", "z"]);
  expect(view.get(D)?.seq).toBe(2);
  base.set(D, held(["y"], 3));
  view.push(layer([D, append("w")]));
  expect(value(D)).toEqual(["y", "z", "w"]);
});

test("[PR-L3] a base that changes at the same seq, as a resync may, is seen too", () => {
  const { base, view, value } = setup([[D, held(["x"])]]);
  view.push(layer([D, append("z")]));
  expect(value(D)).toEqual(["x", "z"]);
  base.set(D, held(["y"]));
  expect(value(D)).toEqual(["y", "z"]);
});

test("[PR-L4] a layer is judged against the base as it is now, not as it was last read", () => {
  const { base, view, value, skips } = setup([[D, held("text")]]);
  view.push(layer([D, append(1)]));
  expect([value(D), skips.length]).toEqual(["text", 1]);
  base.set(D, held([], 2));
  view.push(layer([D, append(2)]));
  expect(skips.length).toBe(1);
  expect([value(D), skips.length]).toEqual([[1, 2], 1]);
});

test("[PR-L4] a layer that no longer applies is skipped whole and reported, the others apply", () => {
  const { base, view, value, skips } = setup([[D, held([1])]]);
  const bad = layer([
    D,
    append(2),
    { op: "patch", value: [{ op: "replace", path: ["k"], value: 1 }] },
  ]);
  const good = layer([D, append(3)]);
  view.push(bad);
  view.push(good);
  expect(value(D)).toEqual([1, 3]);
  expect(skips.map((skip) => [skip.layer === bad, skip.key])).toEqual([[true, D]]);
  expect(view.skipped(D).map((skip) => skip.layer)).toEqual([bad]);
  base.set(D, held("text", 2));
  expect(value(D)).toBe("text");
  expect(view.skipped(D).map((skip) => skip.layer)).toEqual([bad, good]);
  expect(view.skipped(E)).toEqual([]);
});

test.each<[string, JsonValue, ValueOperation, JsonValue]>([
  ["an append", ["x", "y"], append("z"), ["x", "y", "z"]],
  ["an increment", 4, increment(3), 7],
  [
    "a removal by place",
    ["x", "y", "z"],
    { op: "patch", value: [{ op: "remove", path: [2] }] },
    ["x", "y"],
  ],
])(
  "[PR-L5] %s whose commit the base has reached is shown once at every tick",
  (_title, old, op, confirmed) => {
    const { base, view, value } = setup([[D, held(old, 4)]]);
    const mine = layer([D, op]);
    view.push(mine);
    expect(value(D)).toEqual(confirmed);
    expect(view.cover(mine, seq(5))).toEqual([D]);
    expect(value(D)).toEqual(confirmed);
    base.set(D, held(confirmed, 5));
    expect(value(D)).toEqual(confirmed);
    view.remove(mine);
    expect(value(D)).toEqual(confirmed);
    expect(view.cover(mine, seq(5))).toEqual([]);
  },
);

test("[PR-L5] the seq of a commit may become known after the base has reached it", () => {
  const { base, view, value } = setup([[D, held([], 4)]]);
  const mine = layer([D, append("z")]);
  view.push(mine);
  base.set(D, held(["z"], 5));
  expect(value(D)).toEqual(["z", "z"]);
  view.cover(mine, seq(5));
  expect(value(D)).toEqual(["z"]);
  const next = layer([D, append("w")]);
  view.replace(mine, next);
  view.push(mine);
  expect(value(D)).toEqual(["z", "w", "z"]);
});

test("[PR-L6] over an instance that is not held a set is visible and a patch is pending", () => {
  const { base, view } = setup();
  view.push(layer([D, append(1)], [E, set("new"), append("!")]));
  expect(view.get(D)).toBeUndefined();
  expect(view.get(E)).toBeUndefined();
  expect(view.skipped(E).length).toBe(1);
  view.push(layer([E, set(["new"])]));
  view.push(layer([E, append("more")]));
  expect(view.get(E)).toEqual({ value: ["new", "more"], seq: 0 });
  base.set(D, { value: undefined, seq: seq(0) });
  expect(view.get(D)).toEqual({ value: [1], seq: 0 });
});

test("[PR-L7] a read that repeats gives the same object, and a base that only gives fresh ones too", () => {
  const value = [1];
  const fresh = new LayeredView({ get: () => ({ value, seq: seq(1) }) });
  fresh.push(layer([D, append(2)]));
  expect(fresh.get(D)).toBe(fresh.get(D));
});

test("[PR-L7] ten thousand layers elsewhere cost an instance nothing", () => {
  const applied: InstanceKey[] = [];
  const base = new Map<InstanceKey, Held>([[D, held([])]]);
  const view = new LayeredView(base);
  const watched = (key: InstanceKey, op: ValueOperation): ViewLayer => {
    const ops = new Map<InstanceKey, readonly ValueOperation[]>([[key, [op]]]);
    const get = (asked: InstanceKey) => {
      applied.push(asked);
      return ops.get(asked);
    };
    return { ops: { keys: () => ops.keys(), get } as unknown as ViewLayer["ops"] };
  };
  for (let at = 0; at < 10_000; at += 1)
    view.push(watched(`space node:${at}` as InstanceKey, set(at)));
  const mine = watched(D, append(1));
  view.push(mine);
  expect(view.get(D)?.value).toEqual([1]);
  view.get(D);
  view.push(watched(D, append(2)));
  expect(view.get(D)?.value).toEqual([1, 2]);
  expect(applied).toEqual([D, D]);
  view.remove(mine);
  expect(view.get(D)?.value).toEqual([2]);
  expect(applied).toEqual([D, D, D]);
});
