import { expect, test } from "vitest";
import { record, set, World } from "../support/world.js";

test("[CL-E1] a fired event shows at once, commits its append alone, and its echo retires with the consequence", async () => {
  const world = new World();
  const a1 = world.client("alice", "s1");
  await world.found(a1);
  const { space, piece } = world.open(a1);
  await world.run();
  expect([piece.get("count").value, piece.get("double").pending]).toEqual([0, false]);
  const seen = record(piece.get("count"));
  const doubles = record(piece.get("double"));
  const before = world.server.server.space(world.space).engine.head();
  const fired = piece.fire("inc");
  await fired.echoed;
  expect([piece.get("count").value, piece.get("double").value]).toEqual([1, 2]);
  await world.run();
  expect(world.server.server.space(world.space).engine.head()).toBe(before + 1);
  expect(world.stored("count")).toBeUndefined();
  expect([space.queued, fired.outcome, space.speculative]).toEqual([0, undefined, 2]);
  await world.serve({ events: [fired], writes: { count: set(1), double: set(2) } });
  expect(fired.outcome).toEqual({ kind: "consequenced" });
  expect(space.speculative).toBe(0);
  expect([seen, doubles]).toEqual([
    [0, 1],
    [0, 2],
  ]);
  expect(world.errors).toEqual([]);
});
