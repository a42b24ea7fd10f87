import { action, cell, grantSpaceAccess, pattern, revokeSpaceAccess } from "@tidemark/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { set, World } from "../support/world.js";

const door = pattern({
  id: "door",
  version: "1",
  build: () => {
    const open = cell("open", z.boolean(), { default: false });
    const share = action("share", () => {
      open.set(true);
      grantSpaceAccess("*", "OWNER");
    });
    const shut = action("shut", () => {
      open.set(false);
      revokeSpaceAccess("*");
    });
    return { open, share, shut };
  },
});

test("[CL-E21] an echo that asks for access shows what it wrote, and no list changes, here or at the server", async () => {
  const world = new World();
  const alice = world.client("alice", "s1");
  await world.found(alice);
  const { space } = world.open(alice);
  const { piece, created } = space.create(door);
  const acl = space.acl;
  await world.run();
  await created;
  await world.serve({ writes: { double: set(0) } });
  const before = acl.value;
  const { engine } = world.server.server.space(world.space);
  const head = engine.head();
  const share = piece.fire("share");
  const shut = piece.fire("shut");
  await Promise.all([share.echoed, shut.echoed]);
  expect(piece.get("open").value).toBe(false);
  await world.run();
  expect(acl.value).toEqual(before);
  expect(
    engine.commitsSince(head).map(({ appends, changes }) => [appends.length, changes]),
  ).toEqual([
    [1, []],
    [1, []],
  ]);
  expect(world.errors).toEqual([]);
});
