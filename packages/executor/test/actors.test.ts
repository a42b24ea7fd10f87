import { beforeEach, expect, test } from "vitest";
import { sessionScopeKey, streamIdFor, type DocId, type StreamEntry } from "@tidemark/protocol";
import { cell, handler, pattern, sendOnChange } from "@tidemark/runtime";
import { z } from "zod";
import { createWorld, type World } from "./support/world.js";

let spend: () => void = () => undefined;

/** A chain of three that ends in a session's own document, begun by a click or by a derivation. */
const relay = pattern({
  id: "relay",
  version: "1",
  build: () => {
    const n = cell("n", z.number(), { default: 0 });
    const ends = cell("ends", z.number(), { default: 0 });
    const mine = cell("mine", z.unknown(), { scope: "session", default: null });
    const own = handler("own", z.unknown(), (payload) => mine.set(payload ?? null));
    const last = handler("last", z.unknown(), (payload) => {
      ends.increment(1);
      own.send(payload);
    });
    const middle = handler("middle", z.unknown(), (payload) => {
      last.send(payload);
      spend();
    });
    const first = handler("first", z.unknown(), (payload) => middle.send(payload));
    const told = sendOnChange(
      "told",
      n,
      () => middle,
      (value) => value,
    );
    return { n, ends, mine, own, last, middle, first, told };
  },
});

beforeEach(() => {
  spend = () => undefined;
});

async function served(): Promise<World & { readonly piece: DocId }> {
  const w = await createWorld({ patterns: [relay] });
  const piece = await w.create(relay);
  await w.open(w.owner, piece, ["told", "ends"]);
  await w.settle();
  return { ...w, piece };
}

/** What the chain appended, hop by hop. */
function hops(w: World & { readonly piece: DocId }): readonly StreamEntry["firedAt"][] {
  const streams = new Set(["middle", "last", "own"].map((name) => streamIdFor(w.piece, name)));
  return (w.t.engines.get(w.space)?.commitsSince(0 as never) ?? [])
    .flatMap(({ appends }) => appends)
    .filter(({ stream }) => streams.has(stream))
    .map(({ firedAt }) => firedAt);
}

test("[EX-C9] each hop of a chain runs as the session that began it, and lands where that session is", async () => {
  const w = await served();
  const other = await w.t.connected("ana", "ana2");
  await other.call("space.open", { space: w.space, watches: [] });
  await w.fire(other, w.piece, "first", 7);
  await w.settle();
  const root = { user: other.identity.did, session: other.sessionId };
  expect(hops(w)).toEqual([root, root, root]);
  expect(w.value(w.piece, "mine", sessionScopeKey(root.user, root.session))).toBe(7);
  expect(
    w.value(w.piece, "mine", sessionScopeKey(w.owner.identity.did, w.owner.sessionId)),
  ).toBeUndefined();
  await w.stop();
});

test("[EX-C9] so does a hop that the deadline left to the drain", async () => {
  const w = await served();
  spend = () => w.t.clock.spend(200);
  await w.fire(w.owner, w.piece, "first", 8);
  await w.settle();
  const root = { user: w.owner.identity.did, session: w.owner.sessionId };
  expect(w.host.spaceStats(w.space).events.lt1LeftoversPurged).toBeGreaterThanOrEqual(1);
  expect(hops(w)).toEqual([root, root, root]);
  expect(w.value(w.piece, "mine", sessionScopeKey(root.user, root.session))).toBe(8);
  await w.stop();
});

test("[EX-C10] a chain that a derivation of the space begins enters as the server, without a user, at each hop", async () => {
  const w = await served();
  await w.write(w.owner, w.piece, "n", 5);
  await w.settle();
  expect(hops(w)).toEqual([{ session: "server" }, { session: "server" }, { session: "server" }]);
  expect(w.value(w.piece, "ends")).toBe(1);
  // There is no session's document to write: that is the event's error, and no fallback.
  const [entry] = w.t.engines
    .get(w.space)!
    .commitsSince(0 as never)
    .flatMap(({ appends }) => appends)
    .filter(({ stream }) => stream === streamIdFor(w.piece, "own"));
  expect(w.entry(w.piece, "own", entry!.eventId)).toMatchObject({
    status: "errored",
    error: expect.stringContaining("session"),
  });
  expect(w.value(w.piece, "mine")).toBeUndefined();
  await w.stop();
});
