import { deriveEventKey } from "@tidemark/events";
import { AuthorizationError, eventId, identityFromSeed, TimeoutError } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  abort,
  action,
  cell,
  computed,
  createPiece,
  currentPrincipal,
  eventKey,
  handler,
  now,
  pattern,
  random,
  streamAt,
} from "../src/index.js";
import { createTestSpace } from "../src/testing/index.js";
import { idOf, runsOf, stored } from "./kit.js";

const keys = pattern({
  id: "keys",
  version: "1",
  build: () => ({
    one: handler("one", z.unknown(), () => [eventKey(), now(), random(), random()]),
    two: action("two", () => eventKey()),
    who: action("who", () => currentPrincipal() ?? null),
  }),
});

async function valueOf(run: Promise<{ kind: string; value?: unknown }>): Promise<unknown> {
  const outcome = await run;
  expect(outcome.kind).toBe("sealed");
  return outcome.value;
}

test("[RT-H1] the event key comes from event, actor and stream, whatever the payload claims", async () => {
  const space = createTestSpace();
  const piece = space.start(keys);
  const stream = idOf(piece, "one");
  const event = eventId("e1");
  const payload = { eventKey: "evk:mine", eventId: "other", firedAt: 1 };

  const [key] = (await valueOf(space.fire(stream, payload, { eventId: event }))) as string[];

  const link = { id: stream, space: space.space };
  expect(key).toBe(deriveEventKey({ actor: space.user, event, stream: link }));
});

test("[RT-H1] a retry, another runtime and an echo of one event get the same key, time and chance", async () => {
  const runs = ["serving", "serving", "speculating"] as const;
  const values = await Promise.all(
    runs.map(async (posture) => {
      const space = createTestSpace({ posture });
      const piece = space.start(keys);
      const options = { eventId: eventId("e1"), at: 77 };
      const first = await valueOf(space.fire(idOf(piece, "one"), null, options));
      expect(await valueOf(space.fire(idOf(piece, "one"), null, options))).toEqual(first);
      return first;
    }),
  );

  expect(values[1]).toEqual(values[0]);
  expect(values[2]).toEqual(values[0]);
  const [, at, first, second] = values[0] as [string, number, number, number];
  expect(at).toBe(77);
  expect(first).not.toBe(second);
});

test("[RT-H1] another event, stream or actor gets another key, and a run without a user binds null", async () => {
  const space = createTestSpace();
  const piece = space.start(keys);
  const ben = identityFromSeed(new Uint8Array(32).fill(2)).did;
  const e1 = eventId("e1");
  const one = idOf(piece, "one");
  const keyOf = async (...args: Parameters<typeof space.fire>): Promise<unknown> =>
    [(await valueOf(space.fire(...args))) as unknown].flat()[0];

  const seen = [
    await keyOf(one, null, { eventId: e1 }),
    await keyOf(one, null, { eventId: eventId("e2") }),
    await keyOf(idOf(piece, "two"), null, { eventId: e1 }),
    await keyOf(one, null, { eventId: e1, actor: { user: ben, session: "server" } }),
    await keyOf(one, null, { eventId: e1, actor: { session: "server" } }),
  ];

  expect(new Set(seen).size).toBe(seen.length);
  const stream = { id: one, space: space.space };
  expect(seen.at(-1)).toBe(deriveEventKey({ actor: null, event: e1, stream }));
  const nobody = space.fire(idOf(piece, "who"), null, { actor: { session: "server" } });
  expect(await valueOf(nobody)).toBeNull();
});

test("[RT-H2] the payload is parsed by the schema, defaults included", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "parsing",
      version: "1",
      build: () => ({
        vote: handler(
          "vote",
          z.object({ option: z.string().min(1), n: z.number().default(1) }),
          (p) => p,
        ),
      }),
    }),
  );
  const vote = idOf(piece, "vote");

  expect(await space.fire(vote, { option: "soup", extra: true })).toEqual({
    kind: "sealed",
    value: { option: "soup", n: 1 },
  });
  const refused = await space.fire(vote, { option: "" });
  expect(refused).toMatchObject({ kind: "errored", error: { code: "protocol" } });
  expect(refused).toHaveProperty("error.message", expect.stringContaining("option"));
  expect(space.sealed).toHaveLength(1);
});

test("[RT-H3] a handler that throws seals nothing, whatever it had written", async () => {
  const space = createTestSpace();
  const piece = space.start(throwing);

  expect(await space.fire(idOf(piece, "bad"))).toMatchObject({
    kind: "errored",
    error: { message: "boom" },
  });
  expect(space.sealed).toEqual([]);
  expect(stored(space, piece, "x")).toBeUndefined();
});

const throwing = pattern({
  id: "throwing",
  version: "1",
  build: () => {
    const x = cell("x", z.number(), { default: 0 });
    return {
      x,
      bad: action("bad", () => {
        x.set(9);
        throw new Error("boom");
      }),
      odd: action("odd", () => {
        throw null;
      }),
      quit: action("quit", () => {
        x.set(9);
        try {
          abort("not today");
        } catch {
          // A pattern cannot take an abort back.
        }
        return 1;
      }),
      wrong: action("wrong", () => ({ when: new Date(0) })),
      late: action("late", async (ctx) => {
        await Promise.resolve();
        ctx.cell(x).set(9);
        throw new Error("late boom");
      }),
    };
  },
});

test("[RT-H3] an abort is an error in the pattern's own words, also where the pattern catches it", async () => {
  const space = createTestSpace();
  const piece = space.start(throwing);

  expect(await space.fire(idOf(piece, "quit"))).toMatchObject({
    kind: "errored",
    error: { code: "aborted", message: "not today", details: { reason: "not today" } },
  });
  expect(space.sealed).toEqual([]);
});

test("[RT-H3] whatever is thrown, early or late, becomes a typed error, and so does a result that is not JSON", async () => {
  const space = createTestSpace();
  const piece = space.start(throwing);

  expect(await space.fire(idOf(piece, "odd"))).toMatchObject({
    kind: "errored",
    error: { code: "internal", message: "null" },
  });
  expect(await space.fire(idOf(piece, "late"))).toMatchObject({ error: { message: "late boom" } });
  expect(await space.fire(idOf(piece, "wrong"))).toMatchObject({ error: { code: "value" } });
  expect(space.sealed).toEqual([]);
});

test("[RT-H4] a stream without a started handler is a body that did not run", async () => {
  const space = createTestSpace();
  const piece = space.start(keys);
  space.runtime.stopPiece(piece.id);

  expect(await space.fire(idOf(piece, "one"))).toMatchObject({ kind: "not-run" });
});

test("[RT-H5] sends carry fresh ids of the attempt and a checked payload", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "sending",
      version: "1",
      build: () => {
        const target = handler("target", z.unknown(), () => undefined);
        return {
          target,
          go: action("go", () => {
            target.send({ n: 1 });
            streamAt({ id: idOf(piece, "target") }).send(undefined);
          }),
          bad: action("bad", () => target.send(new Map())),
        };
      },
    }),
  );

  await space.fire(idOf(piece, "go"));
  await space.fire(idOf(piece, "go"));
  const bad = await space.fire(idOf(piece, "bad"));

  const sends = space.sealed.flatMap((run) => run.sends);
  expect(sends.map(({ payload }) => payload)).toEqual([{ n: 1 }, null, { n: 1 }, null]);
  expect(sends.every(({ stream }) => stream.id === idOf(piece, "target"))).toBe(true);
  expect(new Set(sends.map((sent) => sent.eventId)).size).toBe(4);
  expect(bad).toMatchObject({ kind: "errored", error: { code: "value" } });
});

test("[RT-H6] a handler reads a computed that is dirty or has never run as it is now", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "fresh",
      version: "1",
      build: () => {
        const s = cell("s", z.number(), { default: 0 });
        const m = computed("m", () => s.get() + 1);
        const o = computed("o", () => m.get() * 2);
        const unrelated = computed("unrelated", () => s.get());
        return { s, m, o, unrelated, take: action("take", () => o.get()) };
      },
    }),
  );

  expect(await space.fire(idOf(piece, "take"))).toEqual({ kind: "sealed", value: 2 });
  space.write(idOf(piece, "s"), 4);
  expect(await space.fire(idOf(piece, "take"))).toEqual({ kind: "sealed", value: 10 });

  expect(runsOf(space, "unrelated")).toBe(0);
  const order = space.sealed.map(({ context }) => context.kind);
  expect(order.at(-1)).toBe("event-handler");
  expect(space.runtime.handlerReads(idOf(piece, "take")).map(({ key }) => key)).toContain(
    space.key(idOf(piece, "o")),
  );
});

test("[RT-H7] one handler runs at a time, and the one that runs is known by name", async () => {
  const space = createTestSpace();
  let release = (): void => undefined;
  const piece = space.start(
    pattern({
      id: "slow",
      version: "1",
      build: () => ({
        wait: action("wait", () => new Promise<void>((resolve) => (release = resolve))),
      }),
    }),
  );
  const wait = idOf(piece, "wait");

  const first = space.fire(wait, null, { eventId: eventId("e1") });
  expect(space.runtime.runningHandler()).toMatchObject({
    action: `slow/wait@${piece.id}`,
    eventId: "e1",
    startedAt: space.clock.now(),
  });
  await expect(space.fire(wait)).rejects.toMatchObject({ code: "frame" });
  release();

  expect(await first).toMatchObject({ kind: "sealed" });
  expect(space.runtime.runningHandler()).toBeUndefined();
});

test("[RT-H8] a handler that never ends can be given up, and what it does later has no effect", async () => {
  const space = createTestSpace();
  let later: () => void = () => undefined;
  let ended: unknown;
  const piece = space.start(
    pattern({
      id: "endless",
      version: "1",
      build: () => {
        const n = cell("n", z.number(), { default: 0 });
        const endless = action("endless", async (ctx) => {
          await new Promise<void>((resolve) => (later = resolve));
          try {
            ctx.cell(n).set(1);
          } catch (error) {
            ended = error;
          }
        });
        return { n, endless, next: action("next", () => n.get()) };
      },
    }),
  );
  const running = space.fire(idOf(piece, "endless"));

  space.runtime.abandonHandler(new TimeoutError("endless did not end", { afterMs: 5 }));

  expect(await running).toMatchObject({ kind: "errored", error: { code: "timeout" } });
  expect(await space.fire(idOf(piece, "next"))).toEqual({ kind: "sealed", value: 0 });
  later();
  await Promise.resolve();
  await Promise.resolve();
  expect(ended).toMatchObject({ code: "frame" });
  expect(space.sealed.flatMap((run) => run.writes)).toEqual([]);
});

test("[RT-H9] a run that its destination refuses is a typed refusal, reported", async () => {
  const space = createTestSpace();
  const piece = space.start(throwing);
  const counter = space.start(keys, undefined, "k");
  const error = new AuthorizationError("no run writes an access list", {});
  space.refuse = () => ({ ok: false, error });

  expect(await space.fire(idOf(counter, "two"))).toEqual({ kind: "refused", error });
  expect(space.reports).toMatchObject([{ kind: "seal-refused", error }]);
  expect(piece.id).not.toBe(counter.id);
});

test("[RT-H10] an event creates the same piece on every run of it, and leaves one that is there alone", async () => {
  const space = createTestSpace();
  const child = pattern({
    id: "child",
    version: "1",
    argument: z.object({ title: z.string().default("untitled") }),
    build: ({ argument }) => ({ title: argument.key("title") }),
  });
  const piece = space.start(
    pattern({
      id: "parent",
      version: "1",
      build: () => ({
        make: action("make", (ctx) => [
          createPiece(child, { title: "one" }).id,
          ctx.createPiece(child, {}, { name: "second" }).id,
        ]),
      }),
    }),
  );
  const make = idOf(piece, "make");
  const first = await valueOf(space.fire(make, null, { eventId: eventId("e1") }));
  const [one, two] = first as [never, never];
  space.write(one, { pattern: { id: "child", version: "1" }, changed: true });

  const again = await valueOf(space.fire(make, null, { eventId: eventId("e1") }));
  const other = await valueOf(space.fire(make, null, { eventId: eventId("e2") }));

  expect(again).toEqual(first);
  expect(new Set([one, two, ...(other as string[])]).size).toBe(4);
  expect(space.stored(one)).toHaveProperty("changed", true);
  expect(space.stored(two)).toMatchObject({ argument: { title: "untitled" } });
});

test("[RT-H11] an input that is not there yet ends the attempt, whatever the pattern catches", async () => {
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "parking",
      version: "1",
      build: () => {
        const n = cell("n", z.number(), { default: 0 });
        return {
          n,
          go: action("go", () => {
            try {
              return n.get();
            } catch {
              return "swallowed";
            }
          }),
          blind: action("blind", () => n.set(3)),
        };
      },
    }),
  );
  const n = idOf(piece, "n");
  space.setPending(n, true);
  expect(await space.fire(idOf(piece, "go"))).toEqual({ kind: "pending", on: space.key(n) });
  expect(space.sealed).toEqual([]);

  space.setPending(n, false);
  expect(await space.fire(idOf(piece, "go"))).toEqual({ kind: "sealed", value: 0 });

  space.setFailing(n, new Error("session revoked"));
  expect(await space.fire(idOf(piece, "go"))).toMatchObject({
    kind: "not-run",
    error: { message: "session revoked" },
  });
});

test("[RT-H12] a blind overwrite does not wait for what it overwrites", async () => {
  const space = createTestSpace({ posture: "speculating" });
  const piece = space.start(
    pattern({
      id: "blind",
      version: "1",
      build: () => {
        const n = cell("n", z.number(), { default: 0 });
        return { n, set: action("set", () => n.set(3)), add: action("add", () => n.increment()) };
      },
    }),
  );
  space.setPending(idOf(piece, "n"), true);

  expect(await space.fire(idOf(piece, "add"))).toMatchObject({ kind: "pending" });
  expect(await space.fire(idOf(piece, "set"))).toMatchObject({ kind: "sealed" });
});

/** Every string that can be reached from a value by its properties, hidden ones and prototypes included. */
function stringsWithin(start: unknown): readonly string[] {
  const seen = new Set<unknown>();
  const strings: string[] = [];
  const open = [start];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "string") strings.push(value);
    if ((typeof value !== "object" && typeof value !== "function") || value === null) continue;
    if (seen.has(value)) continue;
    seen.add(value);
    open.push(Object.getPrototypeOf(value));
    for (const name of Reflect.ownKeys(value)) {
      open.push(typeof name === "string" ? name : name.description);
      try {
        open.push((value as Record<PropertyKey, unknown>)[name]);
      } catch {
        // A property that refuses to be read tells nothing.
      }
    }
  }
  return strings;
}

test("[RT-H15] nothing that a handler is given leads to its event's id, and what it makes does not show it", async () => {
  const secret = "the-id-of-the-event";
  let given: readonly unknown[] = [];
  const nosy = pattern({
    id: "nosy",
    version: "1",
    build: () => {
      const n = cell("n", z.number(), { default: 0 });
      const other = action("other", () => undefined);
      const look = handler("look", z.unknown(), (payload, ctx) => {
        const [mine, theirs] = [ctx.cell(n), ctx.stream(other)];
        mine.set(1);
        const sent: unknown = theirs.send(null);
        const piece = ctx.createPiece(keys, {});
        const told = [ctx.eventKey(), ctx.now(), ctx.random(), ctx.currentPrincipal()];
        given = [payload, ctx, mine, theirs, sent, piece, told, n, other];
      });
      return { n, other, look };
    },
  });
  const space = createTestSpace();
  const piece = space.start(nosy);
  const payload = { text: "visible" };
  await valueOf(space.fire(idOf(piece, "look"), payload, { eventId: eventId(secret) }));

  const strings = stringsWithin(given);
  expect(strings).toContain("visible");
  expect(strings.filter((text) => text.includes(secret))).toEqual([]);
  expect(JSON.stringify(space.sealed.at(-1)?.writes)).not.toContain(secret);
});
