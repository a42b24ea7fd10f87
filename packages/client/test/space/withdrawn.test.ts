import { toLinkValue, type DocId, type SpaceId } from "@tidemark/protocol";
import { cell, computed, handler, pattern } from "@tidemark/runtime";
import type { PieceHandle, ResultOf } from "@tidemark/client";
import { expect, test } from "vitest";
import { z } from "zod";
import { record, set, World } from "../support/world.js";

const either = pattern({
  id: "either",
  version: "1",
  argument: z.object({ there: z.number() }),
  build: ({ argument }) => {
    const far = cell("far", z.boolean(), { default: false });
    const near = cell("near", z.number(), { default: 1 });
    const chosen = computed("chosen", () => (far.get() ? argument.get().there : near.get()));
    const twice = computed("twice", () => chosen.get() * 2);
    const move = handler("move", z.number(), (to) => near.set(to));
    const look = handler("look", z.boolean(), (to) => far.set(to));
    return { far, near, chosen, twice, move, look };
  },
});

type Either = PieceHandle<ResultOf<typeof either>>;

/** A piece whose argument lies in another space, which this client cannot read. */
async function besideAnother() {
  const w = new World();
  const founder = w.client("ana", "founding", { patterns: [either] });
  await w.found(founder);
  const elsewhere = toLinkValue({
    id: "node:elsewhere" as DocId,
    space: w.server.identity("elsewhere").did as string as SpaceId,
  });
  const { piece: made, created } = founder
    .open(w.space)
    .create(either, { there: elsewhere }, { cause: "e" });
  await w.run();
  await created;
  w.piece = made.id;
  await w.serve({ writes: { chosen: set(1), twice: set(2) } });
  const client = w.client("ana", "tab-1", { patterns: [either] });
  await w.run();
  const space = client.open(w.space);
  const piece: Either = space.piece(made.id, either);
  const seen = { chosen: record(piece.get("chosen")), twice: record(piece.get("twice")) };
  for (const name of ["far", "near"] as const) piece.get(name).subscribe(() => undefined);
  await w.run();
  return { w, space, piece, seen };
}

test("[CL-E22] a computed that an echo leads to what is not held shows what the server has, and to its readers too", async () => {
  const { w, piece, seen } = await besideAnother();
  const moved = piece.fire("move", 5);
  await w.run();
  expect([seen.chosen.at(-1), seen.twice.at(-1)]).toEqual([5, 10]);
  const looked = piece.fire("look", true);
  await w.run();
  expect([piece.get("chosen").value, piece.get("twice").value]).toEqual([1, 2]);
  await w.serve({ events: [moved], writes: { near: set(5), chosen: set(5), twice: set(10) } });
  await w.serve({ events: [looked], writes: { far: set(true), chosen: set(2), twice: set(4) } });
  expect([piece.get("chosen").value, piece.get("twice").value]).toEqual([2, 4]);
});
