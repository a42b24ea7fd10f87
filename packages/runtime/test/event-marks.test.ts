import { expect, test } from "vitest";
import type { EventMarks } from "@tidemark/events";
import type { JsonValue } from "@tidemark/protocol";
import { z } from "zod";
import { cell, computed, handler, pattern, sendOnChange } from "../src/index.js";
import * as api from "../src/index.js";
import { createTestSpace } from "../src/testing/index.js";
import { idOf } from "./kit.js";

const TRUSTED: EventMarks = { rendererTrusted: true };
const MARKS: EventMarks = { ...TRUSTED, runtimeInjectedEventKeys: ["at"] };

type Vote = { option: string; at?: number };

/** A handler that sends on what it was given, in each of the ways that a test names. */
const relay = pattern({
  id: "relay",
  version: "1",
  build: () => {
    const last = cell("last", z.unknown(), { default: null });
    const sink = handler("sink", z.unknown(), (payload) => last.set(payload));
    const forward = handler("forward", z.unknown(), (payload) => sink.send(payload));
    const parsed = handler("parsed", z.object({ option: z.string() }), (vote) => sink.send(vote));
    const copy = handler("copy", z.unknown(), (payload) => sink.send({ ...(payload as Vote) }));
    const wrap = handler("wrap", z.unknown(), (payload) => sink.send({ payload }));
    const change = handler("change", z.unknown(), (payload) => {
      (payload as Vote).option = "steak";
      sink.send(payload);
    });
    const later = handler("later", z.unknown(), async (payload, ctx) => {
      await Promise.resolve();
      ctx.stream(sink).send(payload);
    });
    const pretend = handler("pretend", z.unknown(), () => {
      sink.send({ rendererTrusted: true, runtimeInjectedEventKeys: ["at"] });
    });
    const watch = sendOnChange(
      "watch",
      () => last.get(),
      () => sink,
      (value) => value,
    );
    const seen = computed("seen", () => last.get());
    return { last, sink, forward, parsed, copy, wrap, change, later, pretend, watch, seen };
  },
});

/** The marks that the run of the handler gave what it sent. */
async function forwarded(name: string, payload: JsonValue, marks: EventMarks): Promise<object> {
  const space = createTestSpace();
  const piece = space.start(relay);
  await space.fire(idOf(piece, name), payload, { marks });
  const [sent] = space.sealed.at(-1)?.sends ?? [];
  const { stream: _stream, eventId: _id, payload: _payload, ...rest } = sent ?? {};
  return rest;
}

const vote = (): JsonValue => ({ option: "soup", at: 3 });

test.each(["forward", "later"])(
  "[RT-T1] the event object itself is forwarded with its marks: %s",
  async (name) => {
    expect(await forwarded(name, vote(), MARKS)).toEqual(MARKS);
    expect(await forwarded(name, vote(), {})).toEqual({});
  },
);

test("[RT-T1] what a schema made of the payload is what bears the marks", async () => {
  expect(await forwarded("parsed", vote(), TRUSTED)).toEqual(TRUSTED);
});

test.each(["copy", "wrap", "change", "pretend"])(
  "[RT-T1] anything else that the handler sends bears none: %s",
  async (name) => {
    expect(await forwarded(name, vote(), MARKS)).toEqual({});
  },
);

test("[RT-T1] a payload that only claims to be trusted is not", async () => {
  expect(await forwarded("forward", { ...MARKS } as JsonValue, {})).toEqual({});
});

test("[RT-T1] what a derivation sends bears none, though the value came with some", async () => {
  const space = createTestSpace();
  const piece = space.start(relay);
  await space.demand(idOf(piece, "watch"));
  await space.fire(idOf(piece, "sink"), vote(), { marks: MARKS });
  await space.demand(idOf(piece, "seen"));
  const sends = space.sealed.flatMap((run) => run.sends);
  expect(sends).toHaveLength(1);
  expect(sends[0]).not.toHaveProperty("rendererTrusted");
});

test("[RT-T1] patterns are given no way to mark", () => {
  expect(Object.keys(api).filter((name) => /mark|trust/iu.test(name))).toEqual([]);
});

const closed = pattern({
  id: "closed",
  version: "1",
  build: () => {
    const got = cell("got", z.array(z.unknown()), { default: [] });
    const vote = handler("vote", z.strictObject({ option: z.string() }), (payload) => {
      got.append(payload);
    });
    const deep = handler("deep", z.object({ in: z.strictObject({}) }), () => undefined);
    return { got, vote, deep };
  },
});

test.each(["serving", "speculating"] as const)(
  "[RT-T2] a closed schema is judged without the injected keys that it does not know: %s",
  async (posture) => {
    const space = createTestSpace({ posture });
    const piece = space.start(closed);
    const fire = (payload: JsonValue, keys: readonly string[]) =>
      space.fire(idOf(piece, "vote"), payload, { marks: { runtimeInjectedEventKeys: keys } });
    expect(await fire(vote(), ["at"])).toMatchObject({ kind: "sealed" });
    expect(space.stored(idOf(piece, "got"))).toEqual([{ option: "soup" }]);
    // Named and not there, one more than named, and one that the schema asks for.
    expect(await fire({ option: "soup" }, ["at"])).toMatchObject({ kind: "sealed" });
    expect(await fire(vote(), ["other"])).toMatchObject({ kind: "errored" });
    expect(await fire({ option: 7, at: 3 }, ["at", "option"])).toMatchObject({ kind: "errored" });
    expect(await fire({ option: "soup", at: 3, x: 1 }, ["at"])).toMatchObject({ kind: "errored" });
  },
);

test("[RT-T2] what is injected stands at the payload's own level", async () => {
  const space = createTestSpace();
  const piece = space.start(closed);
  const marks = { runtimeInjectedEventKeys: ["at"] };
  const outcome = await space.fire(idOf(piece, "deep"), { in: { at: 3 } }, { marks });
  expect(outcome).toMatchObject({ kind: "errored" });
});
