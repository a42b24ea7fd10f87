import { expect, test } from "vitest";
import { z } from "zod";
import {
  action,
  cell,
  computed,
  handler,
  ifElse,
  pattern,
  sendOnChange,
  unless,
  when,
} from "../src/index.js";
import { createTestSpace } from "../src/testing/index.js";
import { idOf, runsOf, stored } from "./kit.js";

/** A piece with one cell and one computed of it. */
function derived(compute: (n: number) => unknown, posture: "serving" | "speculating" = "serving") {
  const space = createTestSpace({ posture });
  const piece = space.start(
    pattern({
      id: "derived",
      version: "1",
      build: () => {
        const n = cell("n", z.number(), { default: 0 });
        const out = computed("out", () => compute(n.get()));
        return { n, out, read: action("read", () => out.get() ?? null) };
      },
    }),
  );
  return { space, piece, n: idOf(piece, "n"), out: idOf(piece, "out") };
}

test("[RT-D1] an equal value is not written again, and its run is sealed all the same", async () => {
  const { space, piece, n, out } = derived((value) => ({ even: value % 2 === 0 }));
  await space.demand(out);

  space.write(n, 2);
  await space.settle();

  expect(runsOf(space, "out")).toBe(2);
  const last = space.sealed.at(-1);
  expect(last?.writes).toEqual([]);
  expect(last?.elided).toEqual([space.key(out)]);
  expect(last?.reads.map(({ key }) => key)).toContain(space.key(n));
  expect(stored(space, piece, "out")).toEqual({ even: true });
});

test("[RT-D2] undefined deletes the document", async () => {
  const { space, n, out } = derived((value) => (value > 5 ? undefined : value));
  await space.demand(out);
  expect(space.stored(out)).toBe(0);

  space.write(n, 9);
  await space.settle();

  expect(space.sealed.at(-1)?.writes).toEqual([{ key: space.key(out), op: { op: "delete" } }]);
});

test("[RT-D3] a throw keeps the last value, names the computed, and the reads arm it again", async () => {
  const { space, piece, n, out } = derived((value) => {
    if (value === 1) throw new Error("one is not allowed");
    return value;
  });
  await space.demand(out);

  space.write(n, 1);
  await space.settle();
  expect(space.stored(out)).toBe(0);
  expect(space.reports).toMatchObject([
    { kind: "computed-failed", action: `derived/out@${piece.id}` },
  ]);

  space.write(n, 2);
  await space.settle();
  expect(space.stored(out)).toBe(2);
});

test.each([
  ["a promise", () => Promise.resolve(1), "frame"],
  ["NaN", () => Number.NaN, "value"],
  ["a map", () => new Map(), "value"],
])("[RT-D3] %s for a value is a failure of the computed", async (_what, compute, code) => {
  const { space, out } = derived(compute);

  await space.demand(out);

  expect(space.stored(out)).toBeUndefined();
  expect(space.reports).toMatchObject([{ kind: "computed-failed", error: { code } }]);
});

test("[RT-D4] minus zero settles: it is zero", async () => {
  const { space, n, out } = derived((value) => value * -0);
  await space.demand(out);
  space.write(n, 3);
  await space.settle();

  expect(Object.is(space.stored(out), 0)).toBe(true);
  expect(space.sealed.at(-1)?.writes).toEqual([]);
});

test("[RT-D5] a computed of a user- or session-scoped cell is refused by a typed error, never run as anybody", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "narrow",
      version: "1",
      build: () => {
        const mine = cell("mine", z.number(), { scope: "user", default: 1 });
        const tab = cell("tab", z.number(), { scope: "session", default: 1 });
        const a = computed("a", () => mine.get());
        const b = computed("b", () => tab.get());
        return { mine, tab, a, b };
      },
    }),
  );

  await space.demand(idOf(piece, "a"));
  await space.demand(idOf(piece, "b"));

  expect(space.reports).toMatchObject([
    { error: { code: "narrowing-unsupported", details: { scope: "user" } } },
    { error: { code: "narrowing-unsupported", details: { scope: "session" } } },
  ]);
  expect(space.sealed).toEqual([]);
});

test("[RT-D6] reads are those of the last run, and only the path that was read counts", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "paths",
      version: "1",
      build: () => {
        const doc = cell("doc", z.object({ flag: z.boolean(), a: z.number(), b: z.number() }));
        const out = computed("out", () =>
          doc.key("flag").get() === true ? doc.key("b").get() : doc.key("a").get(),
        );
        return { doc, out };
      },
    }),
  );
  const doc = idOf(piece, "doc");
  space.write(doc, { flag: true, a: 1, b: 2 });
  await space.demand(idOf(piece, "out"));

  space.write(doc, { flag: true, a: 7, b: 2 });
  await space.settle();
  expect(runsOf(space, "out")).toBe(1);

  space.write(doc, { flag: true, a: 7, b: 3 });
  await space.settle();
  expect(stored(space, piece, "out")).toBe(3);
});

test("[RT-D7] every sealed run rests on its piece's pattern pointer", async () => {
  const { space, piece, out } = derived((value) => value);
  await space.demand(out);

  expect(space.sealed[0]?.reads).toContainEqual({
    key: space.key(piece.id),
    path: ["pattern"],
    kind: "value",
    seq: 1,
  });
});

test("[RT-D8] two computeds that need each other end as failures, not as a hang", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "cycle",
      version: "1",
      build: () => {
        const on = cell("on", z.boolean(), { default: false });
        const x = computed("x", (): number => (on.get() ? y.get() + 1 : 0));
        const y = computed("y", (): number => x.get() + 1);
        return { on, x, y };
      },
    }),
  );
  await space.demand(idOf(piece, "y"));
  expect(stored(space, piece, "y")).toBe(1);

  space.write(idOf(piece, "on"), true);
  await space.settle();
  space.write(idOf(piece, "on"), false);
  await space.settle();

  expect(stored(space, piece, "x")).toBe(0);
  expect(stored(space, piece, "y")).toBe(1);
});

test("[RT-D9] a derivation whose seal is refused is a failure and writes nothing", async () => {
  const { space, n, out } = derived((value) => value + 1);
  await space.demand(out);
  const error = Object.assign(new Error("refused"), { code: "protocol" });
  space.refuse = () => ({ ok: false, error: error as never });

  space.write(n, 5);
  await space.settle();

  expect(space.stored(out)).toBe(1);
  expect(space.reports).toMatchObject([{ kind: "seal-refused" }]);
});

test("[RT-X1] while speculating, a run whose input is not held is given up until it arrives", async () => {
  const { space, n, out } = derived((value) => value + 1, "speculating");
  space.setPending(n, true);
  await space.demand(out);
  expect(space.sealed).toEqual([]);
  expect(space.reports).toEqual([]);

  // It arrives as absent: no value changes, and the run is due all the same.
  space.setPending(n, false);
  await space.settle();

  expect(space.stored(out)).toBe(1);
});

test("[RT-X2] while speculating, a scoped row that is not held reads as the default, a shared one is pending", async () => {
  const space = createTestSpace({ posture: "speculating" });
  const piece = space.start(
    pattern({
      id: "own",
      version: "1",
      build: () => {
        const mine = cell("mine", z.number(), { scope: "user", default: 7 });
        const ours = cell("ours", z.number(), { default: 8 });
        return { mine, ours, go: handler("go", z.unknown(), () => mine.get()) };
      },
    }),
  );
  const held = space.read.bind(space);
  space.read = (key) =>
    key.endsWith(idOf(piece, "mine")) || key.endsWith(idOf(piece, "ours"))
      ? { state: "pending" }
      : held(key);

  expect(await space.fire(idOf(piece, "go"))).toEqual({ kind: "sealed", value: 7 });
  const [mine, ours] = [piece.value("mine"), piece.value("ours")];
  expect(mine === undefined ? undefined : space.runtime.isPending(mine)).toBe(false);
  expect(ours === undefined ? undefined : space.runtime.isPending(ours)).toBe(true);
});

test("[RT-B1] ifElse, when and unless read the branch they take and no other", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "branches",
      version: "1",
      build: () => {
        const on = cell("on", z.boolean(), { default: true });
        const a = cell("a", z.string(), { default: "a" });
        const b = cell("b", z.string(), { default: "b" });
        return {
          on,
          a,
          b,
          either: ifElse("either", on, a, () => b.get().toUpperCase()),
          both: when("both", on, a),
          other: unless("other", on, b),
        };
      },
    }),
  );
  for (const name of ["either", "both", "other"]) await space.demand(idOf(piece, name));
  const values = (): unknown[] =>
    ["either", "both", "other"].map((name) => stored(space, piece, name));
  expect(values()).toEqual(["a", "a", true]);
  const runs = space.sealed.length;

  space.write(idOf(piece, "b"), "c");
  await space.settle();
  expect(space.sealed).toHaveLength(runs);

  space.write(idOf(piece, "on"), false);
  await space.settle();
  expect(values()).toEqual(["C", false, "c"]);
});

test("[RT-B2] sendOnChange sends when the value changes, not at first sight and not again after a restart", async () => {
  const watching = pattern({
    id: "watching",
    version: "1",
    build: () => {
      const n = cell("n", z.number(), { default: 0 });
      const log = handler("log", z.unknown(), () => undefined);
      const tell = sendOnChange(
        "tell",
        n,
        () => log,
        (value) => ({ value }),
      );
      return { n, log, tell };
    },
  });
  const space = createTestSpace();
  const piece = space.start(watching);
  await space.demand(idOf(piece, "tell"));
  space.write(idOf(piece, "n"), 4);
  await space.settle();
  expect(space.sealed.flatMap((run) => run.sends)).toMatchObject([{ payload: { value: 4 } }]);

  const again = createTestSpace({ store: space.contents() });
  const revived = again.start(watching);
  await again.demand(idOf(revived, "tell"));
  expect(again.sealed.flatMap((run) => run.sends)).toEqual([]);
});
