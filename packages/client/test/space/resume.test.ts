import { expect, test } from "vitest";
import { counter, set, World } from "../support/world.js";

/** Two pieces, the second of which has a value that was there before anybody went offline. */
async function setup() {
  const world = new World();
  const a1 = world.client("alice", "s1");
  await world.found(a1);
  const { piece, space } = world.open(a1);
  await world.run();
  await world.serve({ writes: { count: set(7), double: set(14) } });
  const made = space.create(counter, {}, { cause: "q" });
  await world.run();
  await made.created;
  const b1 = world.client("ben", "s2");
  const other = b1.open(world.space);
  other.piece(made.piece.id, counter);
  await world.run();
  return { world, a1, b1, piece, other };
}

test("[CL-N6] what is first watched while offline is brought by the reconnect", async () => {
  const { world, b1, other } = await setup();
  b1.disconnect();
  const opened = other.piece(world.piece, counter);
  await world.run();
  expect(opened.get("count").pending).toBe(true);
  b1.reconnect();
  await world.run();
  expect([opened.get("count").value, opened.get("double").value]).toEqual([7, 14]);
  // It went on from where it stood: what it held before was not brought again.
  expect(world.frames.get(b1)?.filter(({ reset }) => reset === true)).toHaveLength(1);
});

test("[CL-N6] a watch whose frame was lost with the connection is brought by the next one", async () => {
  const { world, b1, other } = await setup();
  const opened = other.piece(world.piece, counter);
  // The list leaves in this turn; the connection goes before anything can come back.
  await Promise.resolve();
  await Promise.resolve();
  b1.disconnect();
  await world.run();
  b1.reconnect();
  await world.run();
  expect(opened.get("count").value).toBe(7);
});

test("[CL-N6] what is no longer watched is let go of, although it was watched when the connection went", async () => {
  const { world, b1, other } = await setup();
  const opened = other.piece(world.piece, counter);
  await world.run();
  b1.disconnect();
  opened.close();
  b1.reconnect();
  await world.run();
  expect(other.core.local.replica.get(world.key("count"))).toBeUndefined();
  await world.serve({ writes: { count: set(8) } });
  expect(world.errors).toEqual([]);
});

test("[CL-N6] a result that is asked for while offline is there after the reconnect", async () => {
  const { world, a1, piece } = await setup();
  const fired = piece.fire("inc");
  await world.run();
  await world.serve({ events: [fired], writes: { count: set(8) } });
  a1.disconnect();
  const result = fired.result();
  await world.run();
  a1.reconnect();
  await world.run();
  await expect(result).resolves.toEqual({});
});
