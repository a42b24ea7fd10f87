import { z } from "zod";
import { lab } from "../support/patterns.js";
import { action, cell, computed, handler, pattern } from "@tidemark/runtime";

/** Things that are thrown, and are no errors to look at. */
export const THROWN: Readonly<Record<string, () => never>> = {
  nothing: () => {
    throw undefined;
  },
  null: () => {
    throw null;
  },
  symbol: () => {
    throw Symbol("s");
  },
  hostile: () => {
    throw {
      get message(): string {
        throw new Error("no");
      },
      toString(): string {
        throw new Error("no");
      },
    };
  },
  proxy: () => {
    throw new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
        has: () => {
          throw new Error("no");
        },
        getPrototypeOf: () => {
          throw new Error("no");
        },
      },
    );
  },
  surrogate: () => {
    throw new Error("\ud800 and \u0000");
  },
  long: () => {
    throw new Error("x".repeat(5_000_000));
  },
};

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;

/** Values that are no JSON. */
export const NO_JSON: Readonly<Record<string, unknown>> = {
  nan: Number.NaN,
  infinity: Number.POSITIVE_INFINITY,
  bigint: 1n,
  function: () => 1,
  symbol: Symbol("s"),
  date: new Date(0),
  map: new Map(),
  cyclic,
  surrogate: "\ud800",
  key: { "\udc00": 1 },
  deep: JSON.parse(`${"[".repeat(500)}${"]".repeat(500)}`) as unknown,
  holes: [undefined],
  getter: {
    get x(): number {
      throw new Error("no");
    },
  },
  array: Array.from({ length: 3 }, () => Number.NaN),
};

/** Does what its payload says, and mostly what it may not. */
export const rogue = pattern({
  id: "rogue",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const any = cell("any", z.unknown(), { default: null });
    const which = cell("which", z.string(), { default: "" });
    const odd = computed("odd", () => {
      const name = which.get();
      if (name in THROWN) THROWN[name]?.();
      return (name in NO_JSON ? NO_JSON[name] : n.get()) as number;
    });
    const double = computed("double", () => n.get() * 2);
    const inc = action("inc", () => n.increment(1));
    const toss = handler("toss", z.string(), (name) => {
      n.set(99);
      THROWN[name]?.();
    });
    const put = handler("put", z.string(), (name) => {
      n.set(99);
      any.set(NO_JSON[name]);
    });
    const answer = handler("answer", z.string(), (name) => {
      n.set(99);
      return NO_JSON[name];
    });
    const sendOdd = handler("sendOdd", z.string(), (name) => {
      n.set(99);
      sink.send(NO_JSON[name]);
    });
    const sink = handler("sink", z.unknown(), () => undefined);
    const again = handler("again", z.number(), (left) => {
      n.increment(1);
      lab.spend(1);
      again.send(left + 1);
    });
    const never = action("never", () => new Promise<void>(() => undefined));
    const link = handler("link", z.unknown(), () => {
      any.get();
      n.increment(1);
    });
    return {
      n,
      any,
      which,
      odd,
      double,
      inc,
      toss,
      put,
      answer,
      sendOdd,
      sink,
      again,
      never,
      link,
    };
  },
});

/** The rogue's next version: its build throws. */
export const unbuildable = pattern({
  id: "rogue",
  version: "2",
  build: () => {
    throw new Error("this version was never finished");
  },
});

/** Two computeds of two pieces that may lead to each other through their arguments. */
export const follower = pattern({
  id: "follower",
  version: "1",
  argument: z.object({ from: z.number().default(0) }),
  build: ({ argument }) => {
    const own = cell("own", z.number(), { default: 0 });
    const out = computed("out", () => argument.key("from").get() + own.get());
    const inc = action("inc", () => own.increment(1));
    return { own, out, inc };
  },
});
