import { action, cell, computed, pattern } from "@tidemark/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { record, World } from "../support/world.js";

/** One write of each kind, to state of every scope. */
const every = pattern({
  id: "every",
  version: "1",
  build: () => {
    const count = cell("count", z.number(), { default: 0 });
    const list = cell("list", z.array(z.number()), { default: [] });
    const set = cell("set", z.number(), { default: 0 });
    const users = cell("users", z.number(), { default: 0, scope: "user" });
    const tabs = cell("tabs", z.array(z.number()), { default: [], scope: "session" });
    const double = computed("double", () => count.get() * 2);
    const go = action("go", () => {
      count.increment();
      list.append(1);
      set.set(set.get() + 1);
      users.increment();
      tabs.append(1);
    });
    return { count, list, set, users, tabs, double, go };
  },
});

const NAMES = ["count", "list", "set", "users", "tabs", "double"] as const;
const ONCE = [1, [1], 1, 1, [1], 2];
const TWICE = [2, [1, 1], 2, 2, [1, 1], 4];

async function made(online: boolean) {
  const world = new World();
  const client = world.client("ana", "tab-1", { patterns: [every] });
  await world.found(client);
  const space = client.open(world.space);
  await world.run();
  if (!online) client.disconnect();
  const { piece } = space.create(every, {}, { cause: "every" });
  const counts = record(piece.get("count"));
  const shown = () => NAMES.map((name) => piece.get(name).value);
  return { world, client, space, piece, counts, shown };
}

for (const online of [true, false]) {
  test(`[CL-E1] merging writes to a piece that was just made show at once, ${online ? "before a frame has come" : "offline too"}`, async () => {
    const { world, client, piece, counts, shown } = await made(online);
    await piece.fire("go").echoed;
    expect(shown()).toEqual(ONCE);
    await piece.fire("go").echoed;
    expect(shown()).toEqual(TWICE);
    if (!online) client.reconnect();
    await world.run();
    expect(shown()).toEqual(TWICE);
    expect(counts).toEqual([0, 1, 2]);
  });
}

test("[CL-E12] merging writes to a user's and a session's own cells that were never written show at once", async () => {
  const { world, space, piece, shown } = await made(true);
  await world.run();
  const again = world.client("ben", "tab-2", { patterns: [every] });
  await world.run();
  const theirs = again.open(space.id).piece(piece.id, every);
  await world.run();
  await theirs.fire("go").echoed;
  expect(NAMES.map((name) => theirs.get(name).value)).toEqual(ONCE);
  await world.run();
  expect(shown()).toEqual([0, [], 0, 0, [], 0]);
});
