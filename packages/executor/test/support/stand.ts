import type { DocId, HolderId } from "@tidemark/protocol";
import type { Pattern } from "@tidemark/runtime";
import { TenureParts } from "../../src/tenure/parts.js";
import { createWorld, tenureOptions, type World } from "./world.js";

/** A tenure without a host, over one watched piece, whose cycles a test takes one by one. */
export interface Stand {
  readonly w: World;
  readonly piece: DocId;
  readonly parts: TenureParts;
}

/** Stands quiet: everything demanded has been derived. */
export async function stand(pattern: Pattern, names: readonly string[]): Promise<Stand> {
  const w = await createWorld({ patterns: [pattern], started: false });
  const piece = await w.create(pattern);
  await w.open(w.owner, piece, names);
  const options = tenureOptions(w.t, w.space, [pattern]);
  options.served.engine.lease.acquire("server/one" as HolderId, 1e9);
  const parts = new TenureParts(options);
  parts.enter({
    wake: () => undefined,
    live: () => true,
    staying: () => true,
    onYield: () => undefined,
    confirmLease: () => true,
    leaseLives: () => true,
  });
  while ((await parts.loop.cycle()).again);
  return { w, piece, parts };
}
