import { identityFromSeed, isTidemarkError, type Principal } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  abort,
  action,
  cell,
  computed,
  createPiece,
  currentPrincipal,
  defineModule,
  emit,
  eventKey,
  grantSpaceAccess,
  type HandlerContext,
  inSpace,
  navigateTo,
  now,
  pattern,
  random,
  revokeSpaceAccess,
} from "../src/index.js";
import { createTestSpace } from "../src/testing/index.js";
import { idOf } from "./kit.js";

const BEN: Principal = identityFromSeed(new Uint8Array(32).fill(9)).did;

const AMBIENT: readonly (readonly [name: string, call: () => unknown])[] = [
  ["eventKey", eventKey],
  ["now", now],
  ["random", random],
  ["currentPrincipal", currentPrincipal],
  ["abort", () => abort("no")],
  ["createPiece", () => createPiece(pattern({ id: "x", version: "1", build: () => ({}) }))],
  ["navigateTo", () => navigateTo("there")],
  ["inSpace", () => inSpace("new")],
  ["emit", () => emit("work.done", {})],
  ["grantSpaceAccess", () => grantSpaceAccess(BEN, "READ")],
  ["revokeSpaceAccess", () => revokeSpaceAccess(BEN)],
];

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** Runs code in each kind of frame and after an await, and returns what it threw there. */
async function thrownEverywhere(call: () => unknown): Promise<Record<string, unknown>> {
  const space = createTestSpace();
  const thrown: Record<string, unknown> = { outside: thrownBy(call) };
  const piece = space.start(
    pattern({
      id: "frames",
      version: "1",
      build: () => {
        thrown["body"] = thrownBy(call);
        const value = computed("value", () => {
          thrown["computed"] = thrownBy(call);
          return 1;
        });
        const late = action("late", async () => {
          await Promise.resolve();
          thrown["after an await"] = thrownBy(call);
        });
        return { value, late };
      },
    }),
  );
  await space.demand(idOf(piece, "value"));
  await space.fire(idOf(piece, "late"));
  return thrown;
}

test.each(AMBIENT)(
  "[RT-F1] %s throws outside a handler, and after an await",
  async (name, call) => {
    const thrown = await thrownEverywhere(call);

    expect(Object.keys(thrown).sort()).toEqual(["after an await", "body", "computed", "outside"]);
    for (const [place, error] of Object.entries(thrown)) {
      expect(isTidemarkError(error, "frame"), place).toBe(true);
      expect(String(error), place).toContain(`${name}()`);
      expect(String(error), place).toContain("handler");
    }
  },
);

const LATER: readonly (readonly [name: string, call: (ctx: HandlerContext) => unknown])[] = [
  ["navigateTo", (ctx) => ctx.navigateTo("there")],
  ["inSpace", (ctx) => ctx.inSpace("new")],
  ["emit", (ctx) => ctx.emit("work.done", {})],
];

test.each(LATER)(
  "[RT-F2] %s is a typed refusal in a handler until it is served",
  async (name, call) => {
    const space = createTestSpace();
    const piece = space.start(
      pattern({
        id: "later",
        version: "1",
        build: () => ({ go: action("go", (ctx) => call(ctx)) }),
      }),
    );

    expect(await space.fire(idOf(piece, "go"))).toMatchObject({
      kind: "errored",
      error: { code: "not-served", message: expect.stringContaining(name) },
    });
  },
);

test("[RT-F2] defineModule refuses, so that no declaration is taken and then ignored", () => {
  expect(thrownBy(() => defineModule({}))).toMatchObject({ code: "frame" });
});

test("[RT-F3] nodes are declared in a pattern's build and nowhere else", async () => {
  const thrown = await thrownEverywhere(() => {
    // A node of the body itself is what the body is for.
    if (thrownBy(() => cell("again", z.number())) === undefined) throw new Error("declared");
    throw thrownBy(() => cell("more", z.number()));
  });

  for (const place of ["outside", "computed", "after an await"]) {
    expect(thrown[place], place).toMatchObject({ code: "frame" });
  }
  expect(String(thrown["body"])).toContain("declared");
});

const CHANCE: readonly (readonly [name: string, call: () => unknown])[] = [
  ["Date.now", () => Date.now()],
  // oxlint-disable-next-line no-restricted-properties -- that it throws is what is tested
  ["Math.random", () => Math.random()],
];

test.each(CHANCE)(
  "[RT-F4] %s throws in a body, a computed and a handler, and says what to use",
  async (_name, call) => {
    const space = createTestSpace();
    const thrown: unknown[] = [];
    const piece = space.start(
      pattern({
        id: "chance",
        version: "1",
        build: () => {
          thrown.push(thrownBy(call));
          return {
            value: computed("value", () => void thrown.push(thrownBy(call))),
            go: action("go", () => void thrown.push(thrownBy(call))),
          };
        },
      }),
    );
    await space.demand(idOf(piece, "value"));
    await space.fire(idOf(piece, "go"));

    // describePiece builds once, startPiece once, and then the two runs.
    expect(thrown).toHaveLength(4);
    for (const error of thrown) {
      expect(error).toMatchObject({ code: "frame" });
      expect(String(error)).toContain("in a handler");
    }
    expect(thrownBy(call)).toBeUndefined();
  },
);

test("[RT-F5] the host's functions are put back exactly, also after a throw and a nested run", async () => {
  const before = {
    now: Object.getOwnPropertyDescriptor(Date, "now"),
    random: Object.getOwnPropertyDescriptor(Math, "random"),
  };
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "nested",
      version: "1",
      build: () => {
        const broken = computed("broken", () => {
          throw new Error("broken");
        });
        const inner = computed("inner", () => broken.get());
        const go = action("go", () => {
          inner.get();
          return thrownBy(() => Date.now()) === undefined;
        });
        return { broken, inner, go };
      },
    }),
  );

  const outcome = await space.fire(idOf(piece, "go"));

  // After the nested runs the handler's own frame stands again.
  expect(outcome).toEqual({ kind: "sealed", value: false });
  expect(Object.getOwnPropertyDescriptor(Date, "now")).toEqual(before.now);
  expect(Object.getOwnPropertyDescriptor(Math, "random")).toEqual(before.random);
});

test("[RT-F6] the runtime's own work for a run, and code between the parts of an async handler, see the real clock", async () => {
  const space = createTestSpace();
  const seen: unknown[] = [];
  const reading = space.read.bind(space);
  space.read = (key) => {
    seen.push(thrownBy(() => Date.now()));
    return reading(key);
  };
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const piece = space.start(
    pattern({
      id: "outside",
      version: "1",
      build: () => {
        const n = cell("n", z.number(), { default: 0 });
        return { n, go: action("go", async () => (n.get(), gate)) };
      },
    }),
  );

  const running = space.fire(idOf(piece, "go"));
  expect(thrownBy(() => Date.now())).toBeUndefined();
  release();
  await running;

  expect(seen.length).toBeGreaterThan(0);
  expect(seen.every((error) => error === undefined)).toBe(true);
});

test("[RT-F7] after an await ctx reads, writes, sends and answers, and cells used without it throw", async () => {
  const space = createTestSpace();
  const seen: Record<string, unknown> = {};
  const piece = space.start(
    pattern({
      id: "async",
      version: "1",
      build: () => {
        const n = cell("n", z.number(), { default: 1 });
        const other = action("other", () => undefined);
        const go = action("go", async (ctx) => {
          const early = [eventKey(), now(), currentPrincipal()];
          await Promise.resolve();
          seen["plain"] = thrownBy(() => n.get());
          seen["write"] = thrownBy(() => n.set(4));
          ctx.cell(n).set(ctx.cell(n).get() + 1);
          ctx.stream(other).send(null);
          return [early, [ctx.eventKey(), ctx.now(), ctx.currentPrincipal()], ctx.cell(n).get()];
        });
        return { n, other, go };
      },
    }),
  );

  const outcome = await space.fire(idOf(piece, "go"), null, { at: 1_234 });

  const event = [expect.stringMatching(/^evk:/), 1_234, space.user];
  expect(outcome).toEqual({ kind: "sealed", value: [event, event, 2] });
  expect(seen["plain"]).toMatchObject({ code: "frame" });
  expect(String(seen["plain"])).toContain("ctx.cell()");
  expect(seen["write"]).toMatchObject({ code: "frame" });
  expect(space.sealed.at(-1)?.sends).toHaveLength(1);
});

test("[RT-F8] a context used after its run has ended throws", async () => {
  const space = createTestSpace();
  let kept: HandlerContext | undefined;
  const piece = space.start(
    pattern({
      id: "kept",
      version: "1",
      build: () => {
        const n = cell("n", z.number(), { default: 1 });
        const go = action("go", (ctx) => {
          kept = ctx;
          leaked = () => ctx.cell(n).set(5);
        });
        return { n, go };
      },
    }),
  );
  let leaked = (): void => undefined;
  await space.fire(idOf(piece, "go"));

  expect(thrownBy(leaked)).toMatchObject({ code: "frame" });
  expect(kept).toBeDefined();
});

test("[RT-F9] a computed may not write or send, and a body may not read", async () => {
  const space = createTestSpace();
  const thrown: unknown[] = [];
  const piece = space.start(
    pattern({
      id: "limits",
      version: "1",
      build: () => {
        const n = cell("n", z.number(), { default: 1 });
        const go = action("go", () => undefined);
        thrown.push(thrownBy(() => n.get()));
        const value = computed("value", () => {
          thrown.push(
            thrownBy(() => n.set(2)),
            thrownBy(() => go.send(null)),
          );
          return n.get();
        });
        const write = action("write", () => {
          thrown.push(thrownBy(() => (value as typeof n).set(9)));
        });
        return { n, go, value, write };
      },
    }),
  );
  await space.demand(idOf(piece, "value"));
  await space.fire(idOf(piece, "write"));

  expect(thrown).toHaveLength(5);
  for (const error of thrown) expect(error).toMatchObject({ code: "frame" });
});
