import { marksIn, marksOf, type EventMarks } from "@tidemark/events";
import type { EventId, JsonValue } from "@tidemark/protocol";
import { cell, handler, pattern } from "@tidemark/runtime";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { FiredEvent } from "@tidemark/client";
import { World } from "../support/world.js";

/** What the echoes' handlers were given, and its marks. */
const seen: [payload: unknown, marks: EventMarks][] = [];

const poll = pattern({
  id: "poll",
  version: "1",
  build: () => {
    const last = cell("last", z.unknown(), { default: null });
    const pick = handler("pick", z.strictObject({ option: z.string() }), (vote) => {
      last.set(vote);
    });
    const look = handler("look", z.unknown(), (payload) => {
      seen.push([payload, marksOf(payload, structuredClone(payload) as JsonValue)]);
      last.set(payload);
    });
    const relay = handler("relay", z.unknown(), (payload) => look.send(payload));
    return { last, pick, look, relay };
  },
});

async function setup() {
  seen.length = 0;
  const world = new World();
  const alice = world.client("alice", "s1");
  await world.found(alice);
  const { space } = world.open(alice);
  await world.run();
  const { piece, created } = space.create(poll);
  await world.run();
  await created;
  const stored = async ({ stream, eventId }: FiredEvent) => {
    await world.run();
    const { entries } = world.server.server.space(world.space).engine;
    const [entry] = entries.byEvent(stream, eventId as EventId);
    return entry === undefined ? undefined : { payload: entry.payload, marks: marksIn(entry) };
  };
  return { world, piece, stored };
}

const TRUSTED: EventMarks = { rendererTrusted: true };

test("[CL-T1] what a renderer dispatches is attested by its entry, and what is merely fired is not", async () => {
  const { piece, stored } = await setup();
  const vote = { option: "soup" };
  expect(await stored(piece.dispatch("pick", vote))).toEqual({ payload: vote, marks: TRUSTED });
  expect(await stored(piece.fire("pick", vote))).toEqual({ payload: vote, marks: {} });
  expect(await stored(piece.dispatch("look", null))).toEqual({ payload: null, marks: TRUSTED });
  expectTypeOf(piece.dispatch).parameter(0).toEqualTypeOf<"pick" | "look" | "relay">();
});

test("[CL-T1] a payload that claims to come from a renderer is a payload", async () => {
  const { piece, stored } = await setup();
  const payload = { ...TRUSTED, runtimeInjectedEventKeys: ["option"] };
  expect(await stored(piece.fire("look", payload))).toEqual({ payload, marks: {} });
});

test("[CL-T1] the echo's handler gets the marked payload, and forwards it as such", async () => {
  const { piece, world } = await setup();
  piece.dispatch("relay", { option: "soup" });
  piece.fire("relay", { option: "soup" });
  await world.run();
  expect(seen).toEqual([
    [{ option: "soup" }, TRUSTED],
    [{ option: "soup" }, {}],
  ]);
});

test("[CL-T2] what the page captures stands in the payload and is named as its own; the payload's words stand", async () => {
  const { piece, stored } = await setup();
  const captured = { at: 3, option: "of the page" };
  expect(await stored(piece.dispatch("look", { option: "soup" }, captured))).toEqual({
    payload: { option: "soup", at: 3 },
    marks: { ...TRUSTED, runtimeInjectedEventKeys: ["at"] },
  });
  expect(await stored(piece.dispatch("look", null, { width: 800 }))).toEqual({
    payload: { width: 800 },
    marks: { ...TRUSTED, runtimeInjectedEventKeys: ["width"] },
  });
});

test("[CL-T2] a closed handler echoes as it will be served: what was captured is no fault of the payload", async () => {
  const { piece, world } = await setup();
  piece.dispatch("pick", { option: "soup" }, { at: 3 });
  await world.run();
  expect(piece.get("last").value).toEqual({ option: "soup" });
});

test.each([["text"], [7], [["a", "list"]]])(
  "[CL-T2] nothing is captured into what is no object: %j",
  async (payload) => {
    const { piece } = await setup();
    expect(() => piece.dispatch("look", payload, { at: 3 })).toThrow(
      expect.objectContaining({ code: "protocol" }) as Error,
    );
    expect(() => piece.dispatch("look", payload)).not.toThrow();
  },
);

test("[CL-T2] a captured key named __proto__ is data", async () => {
  const { piece, stored } = await setup();
  const captured = JSON.parse('{"__proto__": 1}') as Record<string, unknown>;
  const entry = await stored(piece.dispatch("look", {}, captured));
  expect(Object.keys(entry?.payload as object)).toEqual(["__proto__"]);
});
