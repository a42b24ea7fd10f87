import { computed, cell, pattern } from "@tidemark/runtime";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { FiredEvent, ValueHandle } from "@tidemark/client";
import { counter, record, served, set } from "../support/world.js";

test("[CL-P1] names, values and payloads of a piece are typed by its pattern", async () => {
  const { piece, space, world } = await served();
  expectTypeOf(piece.get("count")).toEqualTypeOf<ValueHandle<number>>();
  expectTypeOf(piece.get("items")).toEqualTypeOf<ValueHandle<string[]>>();
  expectTypeOf(piece.get("double").value).toEqualTypeOf<number | undefined>();
  expectTypeOf(piece.fire("add", "text")).toEqualTypeOf<FiredEvent>();
  // @ts-expect-error a stream has no value
  const stream = piece.get("add");
  // @ts-expect-error the payload is text
  const wrong = (): unknown => piece.fire("add", 3);
  // @ts-expect-error a computed is not written
  const computedWrite = (): unknown => piece.set("double", 3);
  const untyped = space.piece(world.piece);
  expectTypeOf(untyped.get("anything").value).not.toBeAny();
  await world.run();
  expect([stream.value, typeof wrong, typeof computedWrite]).toEqual([
    undefined,
    "function",
    "function",
  ]);
  expect(untyped.get("count").value).toBe(0);
});

test("[CL-P2] a created piece shows at once, with what is derived from it, and stays through its commit", async () => {
  const { world, space } = await served();
  const { piece, created } = space.create(counter);
  expect([piece.get("count").value, piece.get("double").value]).toEqual([0, 0]);
  const doubles = record(piece.get("double"));
  piece.fire("inc");
  await world.run();
  await created;
  expect([piece.get("count").value, doubles]).toEqual([1, [0, 2]]);
  expect(world.errors).toEqual([]);
});

test("[CL-P3] a creation that is refused leaves the screen and rejects", async () => {
  const { world, space } = await served();
  const { piece, created } = space.create(counter, {}, { cause: "p" });
  created.catch(() => undefined);
  await world.run();
  await expect(created).rejects.toMatchObject({ code: "precondition" });
  expect(piece.id).toBe(world.piece);
  expect(piece.get("count").value).toBe(0);
  expect(() => space.create(pattern({ id: "counter", version: "1", build: () => ({}) }))).toThrow(
    /another pattern counter/,
  );
});

test("[CL-P4] the list of pieces is live, this client's own creations included", async () => {
  const { world, space } = await served();
  const lists = record(space.pieces);
  await world.run();
  const { piece } = space.create(counter);
  await world.run();
  expect(space.pieces.value?.map(({ id }) => id)).toEqual([world.piece, piece.id].sort());
  expect(space.pieces.value?.[0]?.pattern).toEqual({ id: "counter", version: "1" });
  expect(lists.at(-1)).toHaveLength(2);
});

test("[CL-P5] a swapped piece is shown and echoes by its new pattern, here and with others", async () => {
  const { world, piece } = await served();
  const counter2 = pattern({
    id: "counter",
    version: "2",
    build: () => {
      const count = cell("count", z.number(), { default: 0 });
      const triple = computed("triple", () => count.get() * 3);
      return { count, triple };
    },
  });
  const b1 = world.client("ben", "t1", { patterns: [counter, counter2] });
  await world.run();
  const other = b1.open(world.space).piece(world.piece);
  await world.run();
  const swapped = piece.swap(counter2);
  await world.run();
  await swapped;
  expect(other.model?.pattern?.version).toBe("2");
  void other.set("count", 4);
  await world.run();
  expect(other.get("triple").value).toBe(12);
  expect(other.get("double").value).toBeUndefined();
});

test("[CL-P6] a piece is watched whole, by names, or not at all; only what is watched is held", async () => {
  const { world } = await served();
  const held = async (watch?: readonly string[]): Promise<unknown[]> => {
    const client = world.client("ben", `t${world.frames.size}`);
    await world.run();
    const options = watch === undefined ? {} : { watch };
    const piece = client.open(world.space).piece(world.piece, counter, options);
    await world.run();
    const pending = [piece.get("count").pending, piece.get("double").pending];
    const rows = (world.frames.get(client) ?? []).flatMap((frame) => frame.rows).length;
    return [...pending, rows];
  };
  expect(await held()).toEqual([false, false, expect.any(Number)]);
  expect((await held(["double"])).slice(0, 2)).toEqual([true, false]);
  expect(await held([])).toEqual([true, true, 0]);
});

test("[CL-P7] an event of a piece that is not watched is sent all the same, without an echo", async () => {
  const { world } = await served();
  const b1 = world.client("ben", "t1");
  await world.run();
  const space = b1.open(world.space);
  const fired = space.piece(world.piece, counter, { watch: [] }).fire("inc");
  await world.run();
  expect([space.queued, b1.speculative]).toEqual([0, 0]);
  await world.serve({ events: [fired], writes: { count: set(1), double: set(2) } });
  expect(fired.outcome).toEqual({ kind: "consequenced" });
});

test("[CL-P8] the access list is live and its owner changes it", async () => {
  const { world, a1, space } = await served();
  const acl = record(space.acl);
  await world.run();
  const set = space.setAcl({ [a1.whoami.principal]: "OWNER" } as never);
  await world.run();
  await set;
  expect(acl.at(-1)).toEqual({ [a1.whoami.principal]: "OWNER" });
});

test("[CL-P9] a space that was taken from a reader says so", async () => {
  const { world, a1, space } = await served();
  const b1 = world.client("ben", "t1");
  await world.run();
  const other = world.open(b1);
  await world.run();
  void space.setAcl({ [a1.whoami.principal]: "OWNER" } as never);
  await world.run();
  expect(other.space.state.value).toMatchObject({ state: "denied" });
});

test("[CL-P10] closing a piece withdraws its watch, and its values keep their last state", async () => {
  const { world, piece, space } = await served();
  const count = piece.get("count");
  expect(space.core.watches.list().map(({ id }) => id)).toContain(world.piece);
  // The handle that created the piece watches it too.
  piece.close();
  piece.close();
  await world.run();
  expect(count.value).toBe(0);
});

test("[CL-P11] a first path into a cell that was never written starts from its default", async () => {
  const { world, space } = await served();
  const nested = pattern({
    id: "nested",
    version: "1",
    build: () => ({
      profile: cell("profile", z.object({ name: z.string(), tags: z.array(z.string()) }), {
        default: { name: "nobody", tags: ["new"] },
      }),
    }),
  });
  const { piece } = space.create(nested);
  world.piece = piece.id;
  void piece.set("profile", "Ana", ["name"]);
  expect(piece.get("profile").value).toEqual({ name: "Ana", tags: ["new"] });
  void piece.set("profile", "Anna", ["name"]);
  void piece.patch("profile", [{ op: "append", path: ["tags"], value: "old" }]);
  await world.run();
  expect(world.stored("profile")).toEqual({ name: "Anna", tags: ["new", "old"] });
  expect(piece.get("profile").value).toEqual({ name: "Anna", tags: ["new", "old"] });
});

test("[CL-P13] a cell that holds null shows null, and not its default", async () => {
  const { world, piece } = await served();
  void piece.set("draft", null);
  await world.run();
  expect(piece.get("draft").value).toBeNull();
});
