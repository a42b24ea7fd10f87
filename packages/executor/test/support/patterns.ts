import { z } from "zod";
import { abort, action, cell, computed, handler, pattern } from "@tidemark/runtime";

/** What the patterns of these tests reach out to: virtual work, and doors that a test opens. */
export const lab = {
  spend: (_ms: number): void => undefined,
  /** Virtual work of one step of the form. */
  stepMs: 0,
  doors: new Map<string, Promise<void>>(),
  runs: new Map<string, number>(),
  ran(name: string): void {
    lab.runs.set(name, (lab.runs.get(name) ?? 0) + 1);
  },
  door(name: string): () => void {
    let open: () => void = () => undefined;
    lab.doors.set(name, new Promise<void>((resolve) => (open = resolve)));
    return open;
  },
};

export const counter = pattern({
  id: "counter",
  version: "1",
  build: () => {
    const count = cell("count", z.number(), { default: 0 });
    const double = computed("double", () => {
      lab.ran("double");
      return count.get() * 2;
    });
    const inc = action("inc", () => {
      lab.ran("inc");
      count.increment(1);
    });
    const bump = action("bump", () => {
      lab.ran("bump");
      count.set(count.get() + 1);
    });
    const bad = action("bad", () => {
      count.set(99);
      throw new Error("boom");
    });
    const quit = action("quit", () => {
      count.set(99);
      abort("not today");
    });
    const answer = action("answer", () => ({ said: count.get() }));
    return { count, double, inc, bump, bad, quit, answer };
  },
});

/** n → x = n + 10 → z = x + 1, and y = n + 2 beside them. */
export const chain = pattern({
  id: "chain",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const x = computed("x", () => {
      lab.ran("x");
      return n.get() + 10;
    });
    const zz = computed("z", () => {
      lab.ran("z");
      return x.get() + 1;
    });
    const y = computed("y", () => {
      lab.ran("y");
      return n.get() + 2;
    });
    const capped = computed("capped", () => (n.get() > 5 ? 7 : 0));
    return { n, x, z: zz, y, capped };
  },
});

/** A cascade and a log that tells the order of runs. */
export const cascade = pattern({
  id: "cascade",
  version: "1",
  build: () => {
    const p = cell("p", z.number(), { default: 0 });
    const q = cell("q", z.number(), { default: 0 });
    const log = cell("log", z.array(z.unknown()), { default: [] });
    const mine = cell("mine", z.unknown(), { scope: "session", default: null });
    const second = handler("second", z.unknown(), (payload) => {
      lab.ran("second");
      q.increment(10);
      mine.set(payload ?? null);
    });
    const slow = handler("slow", z.unknown(), async (_payload, ctx) => {
      lab.ran("slow");
      await lab.doors.get("slow");
      ctx.cell(q).increment(100);
    });
    const first = handler("first", z.unknown(), (payload) => {
      lab.ran("first");
      p.set(p.get() + 1);
      second.send(payload);
    });
    const both = action("both", () => {
      p.increment(1);
      slow.send(null);
      second.send(null);
    });
    const note = handler("note", z.unknown(), (payload) => {
      log.append(payload);
    });
    const note2 = handler("note2", z.unknown(), (payload) => {
      log.append(payload);
    });
    return { p, q, log, mine, first, second, slow, both, note, note2 };
  },
});

/** Text that a click fills and a sender may overwrite. */
export const form = pattern({
  id: "form",
  version: "1",
  build: () => {
    const text = cell("text", z.string(), { default: "" });
    const edits = cell("edits", z.number(), { default: 0 });
    const fields = cell("fields", z.record(z.string(), z.unknown()), { default: {} });
    const fill = handler("fill", z.string(), (payload) => {
      lab.ran("fill");
      text.set(payload);
      edits.increment(1);
    });
    const fillBoth = handler("fillBoth", z.string(), (payload) => {
      fields.key("a").set(payload);
      fields.key("b").set(payload);
    });
    const setA = action("setA", () => {
      lab.ran("setA");
      fields.key("a").set(2);
    });
    const bumpA = action("bumpA", () => {
      lab.ran("bumpA");
      fields.key("a").set((fields.get()["a"] as number) + 1);
    });
    const reset = action("reset", () => {
      lab.ran("reset");
      fields.set({ a: 7, b: 7 });
    });
    const order = cell("order", z.array(z.string()), { default: [] });
    const step = handler("step", z.string(), (payload) => {
      lab.spend(lab.stepMs);
      fields.key("a").set((fields.get()["a"] as number) + 1);
      order.append(payload);
    });
    const beside = computed("beside", () => {
      const other = fields.key("b").get();
      return edits.get() + (typeof other === "number" ? other : 0);
    });
    return { text, edits, fields, order, beside, fill, fillBoth, setA, bumpA, reset, step };
  },
});

/** Four links of 60 ms each. */
export const deep = pattern({
  id: "deep",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const link = (name: string, from: { get(): number }) =>
      computed(name, () => {
        const value = from.get();
        if (value > 0) lab.spend(60);
        return value;
      });
    const c1 = link("c1", n);
    const c2 = link("c2", c1);
    const c3 = link("c3", c2);
    const c4 = link("c4", c3);
    const inc = action("inc", () => {
      n.increment(1);
    });
    return { n, c1, c2, c3, c4, inc };
  },
});

/** One click spreads to two hundred derivations of 10 ms each: twenty flush deadlines of work. */
export const fanOut = pattern({
  id: "fanOut",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const leaves = Array.from({ length: FAN_OUT }, (_, i) =>
      computed(`leaf${i}`, () => {
        const value = n.get();
        if (value > 0) lab.spend(10);
        return value;
      }),
    );
    const spread = action("spread", () => {
      n.increment(1);
    });
    return { n, spread, ...Object.fromEntries(leaves.map((leaf, i) => [`leaf${i}`, leaf])) };
  },
});

export const FAN_OUT = 200;

/** The counter again, with other arithmetic. */
export const counter2 = pattern({
  id: "counter",
  version: "2",
  build: () => {
    const count = cell("count", z.number(), { default: 0 });
    const double = computed("double", () => count.get() * 3);
    const inc = action("inc", () => {
      count.increment(10);
    });
    return { count, double, inc };
  },
});

/** Handlers that do not behave. */
export const unkept = pattern({
  id: "unkept",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const typed = handler("typed", z.object({ by: z.number() }), ({ by }) => {
      n.increment(by);
    });
    const never = action("never", () => new Promise<void>(() => undefined));
    return { n, typed, never };
  },
});

/** A handler that reads before and after it waits. */
export const patient = pattern({
  id: "patient",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const seen = cell("seen", z.array(z.number()), { default: [] });
    const out = cell("out", z.number(), { default: 0 });
    const twice = computed("twice", () => n.get() * 2);
    const look = action("look", async (ctx) => {
      lab.ran("look");
      const before = ctx.cell(n).get();
      await lab.doors.get("look");
      ctx.cell(seen).set([before, ctx.cell(n).get()]);
    });
    const copy = action("copy", async (ctx) => {
      lab.ran("copy");
      const value = ctx.cell(out).get();
      await lab.doors.get("look");
      ctx.cell(seen).set([value, ctx.cell(out).get()]);
    });
    const raise = action("raise", () => {
      out.set(n.get() + 1);
      n.set(n.get() + 1);
    });
    return { n, seen, out, twice, look, copy, raise };
  },
});
