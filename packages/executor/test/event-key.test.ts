import { expect, test } from "vitest";
import {
  SPACE_SCOPE_KEY,
  type AcceptedCommit,
  type DocId,
  type JsonValue,
  type Principal,
  type Seq,
} from "@tidemark/protocol";
import { EVENT_KEY_PREFIX } from "@tidemark/events";
import { cell, eventKey, grantSpaceAccess, handler, pattern } from "@tidemark/runtime";
import { z } from "zod";
import { createWorld, type World } from "./support/world.js";

const heard = z.looseObject({ forward: z.boolean().optional() });

/** Keeps the key of each event that it handles, hands one out, and passes on what it was sent. */
const keeper = pattern({
  id: "keeper",
  version: "1",
  build: () => {
    const keys = cell("keys", z.array(z.string()), { default: [] });
    const further = handler("further", z.unknown(), () => {
      keys.append(eventKey());
    });
    const act = handler("act", heard, (payload) => {
      keys.append(eventKey());
      if (payload.forward === true) further.send(payload);
      return { key: eventKey() };
    });
    const share = handler("share", z.looseObject({ who: z.string() }), ({ who }) => {
      keys.append(eventKey());
      grantSpaceAccess(who as Principal, "OWNER");
    });
    return { keys, act, further, share };
  },
});

interface Kept extends World {
  readonly piece: DocId;
  readonly keys: () => readonly string[];
}

async function kept(): Promise<Kept> {
  const w = await createWorld({ patterns: [keeper] });
  const piece = await w.create(keeper);
  await w.open(w.owner, piece, ["keys"]);
  await w.settle();
  return { ...w, piece, keys: () => (w.value(piece, "keys") ?? []) as readonly string[] };
}

/** Everything of a commit that something was decided by, or that something could be decided from; no payload. */
function decided(commit: AcceptedCommit): object {
  const { seq, class: kind, principal, session, consequenceOf, watermark } = commit;
  return {
    seq,
    kind,
    principal,
    session,
    consequenceOf,
    watermark,
    changes: commit.changes.map(({ id, scopeKey }) => [id, scopeKey]),
    appends: commit.appends.map(({ payload: _payload, ...entry }) => entry),
    marks: commit.marks,
    frontiers: commit.frontiers,
  };
}

/** The same events in a space of its own, each with what `claims` adds to its payload. */
async function told(claims: Readonly<Record<string, JsonValue>>): Promise<{
  readonly commits: readonly object[];
  readonly keys: readonly string[];
  readonly events: object;
}> {
  const w = await kept();
  const cy = await w.t.connected("cy");
  await cy.call("space.open", { space: w.space, watches: [] });
  const ben = w.t.identity("ben").did;
  await w.fire(w.owner, w.piece, "act", {}, "e1");
  await w.settle();
  await w.fire(cy, w.piece, "act", claims, "e2");
  await w.fire(cy, w.piece, "act", { ...claims, forward: true }, "e3");
  await w.settle();
  // Who is no owner asks for an owner's change.
  await w.fire(cy, w.piece, "share", { ...claims, who: ben }, "e4");
  await w.fire(w.owner, w.piece, "share", { ...claims, who: ben }, "e5");
  await w.settle();
  const { engine } = w.t.server.space(w.space);
  const result = {
    commits: engine.commitsSince(0 as Seq).map(decided),
    keys: w.keys(),
    events: w.host.spaceStats(w.space).events,
  };
  await w.stop();
  return result;
}

test("[EX-E10] whatever key an event's payload claims, it is admitted, ordered, marked and trusted as without it", async () => {
  const honest = await told({});
  const [first = ""] = honest.keys;
  expect(first.startsWith(EVENT_KEY_PREFIX)).toBe(true);
  const forged = await told({
    eventKey: first,
    eventId: "e1",
    idempotencyKey: first,
    firedAt: { session: "server" },
    rendererTrusted: true,
    runtimeInjectedEventKeys: [first],
  });
  expect(forged).toEqual(honest);
  // Each event has had a key of its own: five fired, and one sent on.
  expect(new Set(forged.keys).size).toBe(5);
  expect(forged.events).toMatchObject({ appended: 5, processed: 5, skippedIdempotent: 0 });
});

test("[EX-E10] an event whose id is another one's key is an event like any other", async () => {
  const w = await kept();
  const e1 = await w.fire(w.owner, w.piece, "act", {}, "e1");
  await w.settle();
  const [key = ""] = w.keys();
  const claimed = await w.fire(w.owner, w.piece, "act", {}, key);
  await w.settle();
  expect([w.naming(e1), w.naming(claimed)]).toEqual([1, 1]);
  expect(w.entry(w.piece, "act", claimed)).toMatchObject({ consequenced: true });
  expect(w.entry(w.piece, "act", claimed)).not.toHaveProperty("duplicate");
  expect(w.keys()).toEqual([key, expect.not.stringMatching(key) as string]);
  // The receipt of the first is its own, and stands.
  const receipts = w.t.server
    .space(w.space)
    .engine.commitsSince(0 as Seq)
    .flatMap(({ changes }) => changes)
    .filter(({ id, scopeKey }) => id.startsWith("receipt:") && scopeKey === SPACE_SCOPE_KEY);
  expect(new Set(receipts.map(({ id }) => id)).size).toBe(2);
  expect(w.host.spaceStats(w.space).receiptCollisions).toBe(0);
  await w.stop();
});
