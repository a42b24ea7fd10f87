import { receiptIdFor, MAX_WATCHES } from "@tidemark/protocol";
import type { DocId } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { PIECE_WATCHES } from "../../src/space/watch-book.js";
import { counter, served, set } from "../support/world.js";

test("[CL-D25] results of more events than a session may have watches come, each its own", async () => {
  const { world, space, piece } = await served();
  const count = MAX_WATCHES + 100;
  const stream = (n: number): DocId => `stream:s${n % 60}` as DocId;
  const fired = Array.from({ length: count }, (_, n) => space.raw.fire(stream(n), null));
  for (let n = 0; space.queued > 0 && n < 100; n += 1) await world.clock.advance(1_000);
  const results = Promise.all(fired.map((event) => event.result()));
  const { engine } = world.server.server.space(world.space);
  engine.transact((tx) => {
    for (const [n, { eventId, stream: at }] of fired.entries()) {
      const id = receiptIdFor(eventId, at);
      tx.write({ id, scopeKey: "space" as never, op: set(n) });
    }
    return tx.commit({ class: "system" });
  });
  await world.serve({ events: fired });
  await world.clock.advance(1_000);
  for (let n = 0; n < count / 50; n += 1) await world.run();
  expect(await results).toEqual(Array.from({ length: count }, (_, n) => n));
  expect([piece.get("count").value, world.errors]).toEqual([0, []]);
});

test("[CL-D25] null is a handler's value like any other", async () => {
  const { world, piece } = await served();
  const fired = piece.fire("inc");
  await world.run();
  const { engine } = world.server.server.space(world.space);
  engine.transact((tx) => {
    const id = receiptIdFor(fired.eventId, fired.stream);
    tx.write({ id, scopeKey: "space" as never, op: set(null) });
    return tx.commit({ class: "system" });
  });
  const result = fired.result();
  await world.serve({ events: [fired] });
  await expect(result).resolves.toBeNull();
});

test("[CL-D25] a result that nobody can read any more is refused when the client is closed", async () => {
  const { world, a1, piece } = await served();
  const fired = piece.fire("inc");
  await world.run();
  await world.serve({ events: [fired] });
  a1.disconnect();
  const result = fired.result();
  result.catch(() => undefined);
  await world.run();
  void a1.close();
  await world.run();
  await expect(result).rejects.toMatchObject({ code: "connection" });
});

test("[CL-P14] more pieces than a session may watch are refused by name, and those that are watched stay so", async () => {
  const { world, space, piece } = await served();
  const left = PIECE_WATCHES - 1;
  const others = Array.from({ length: left }, (_, n) =>
    space.piece(`piece:p${n}` as DocId, counter),
  );
  expect(() => space.piece("piece:more" as DocId, counter)).toThrow(
    expect.objectContaining({
      code: "limit",
      details: { limit: "watched pieces", max: PIECE_WATCHES },
    }),
  );
  void space.acl;
  void space.pieces;
  await world.run();
  const fired = piece.fire("inc");
  const result = fired.result();
  await world.run();
  await world.serve({ events: [fired], writes: { count: set(1) } });
  expect([await result, piece.get("count").value, world.errors]).toEqual([{}, 1, []]);
  others[0]?.close();
  await world.run();
  expect(space.piece("piece:more" as DocId, counter).id).toBe("piece:more");
});

test("[CL-P15] handles of one piece that watch different names each show their own", async () => {
  const { world, a1, space } = await served();
  await world.serve({ writes: { count: set(1), double: set(2) } });
  const long = Array.from({ length: 40 }, (_, n) => `name-${n}`);
  const first = space.piece(world.piece, counter, { watch: [...long, "count"] });
  const second = space.piece(world.piece, counter, { watch: [...long, "double"] });
  expect(a1.status.value.state).toBe("online");
  expect(space.core.watches.list()).toHaveLength(3);
  second.close();
  expect(space.core.watches.list()).toHaveLength(2);
  expect(first.get("count").value).toBe(1);
});

test("[CL-D26] a reconnect after a long time offline asks for no more than one message holds, and everything arrives", async () => {
  const { world, a1, space } = await served();
  const first = space.raw.fire("stream:first" as DocId, null);
  await world.run();
  a1.disconnect();
  const count = 40_000;
  const long = `stream:${"r".repeat(52)}` as DocId;
  const more = Array.from({ length: count }, () => space.raw.fire(long, null));
  a1.reconnect();
  await world.run();
  expect([space.state.value.state, space.queued < count]).toEqual(["open", true]);
  await world.serve({ events: [first] });
  expect([first.outcome?.kind, more.length]).toEqual(["consequenced", count]);
});
