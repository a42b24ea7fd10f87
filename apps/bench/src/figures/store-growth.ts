import { join } from "node:path";
import { openBetterSqlite3, openEngine } from "@tidemark/memory-engine";
import { storeFileOf } from "@tidemark/memory-engine";
import { type Clock, type SpaceId, systemClock, systemRandom } from "@tidemark/protocol";
import { createToolshed } from "@tidemark/toolshed";
import { inFlight } from "@tidemark/simulation";
import Database from "better-sqlite3";
import type { BenchContext, Figure } from "../support/figure.js";
import { benchCounter } from "../support/pattern.js";
import { newSpace, person } from "../support/people.js";

const REACH_KB = 0.5;
const IN_FLIGHT = 64;
/** What the default policy waits before an entry or a commit may go, and a second. */
const POLICY_AGE_MS = 10 * 60_000 + 1_000;

/** What an event leaves in the store for good: pages in use before and after, with the default policy's age gone by. */
export const storeGrowth: Figure = {
  name: "store-growth",
  about: "store growth per trivial event after compaction and pruning by default policy",
  async measure(context) {
    const count = context.quick ? 3_000 : 20_000;
    const dataDir = context.folder();
    const toolshed = await createToolshed({ dataDir, patterns: [benchCounter] });
    const client = await person(toolshed.loopback, [benchCounter]);
    const space = await newSpace(client);
    const { piece, created } = space.create(benchCounter);
    await created;
    await piece.fire("increment").settled;
    const file = storeFileOf(join(dataDir, "spaces"), space.id);
    const before = usedBytes(file);
    await fireAll(context, count, () => piece.fire("increment").settled);
    await client.close();
    await toolshed.stop();
    clean(file, space.id);
    const ours = (usedBytes(file) - before) / count / 1_024;
    const target = `≤ ${REACH_KB} KB`;
    const met = ours <= REACH_KB;
    return [{ figure: "store growth per trivial event", unit: "KB", ours, target, met }];
  },
};

async function fireAll(
  { progress }: BenchContext,
  count: number,
  fire: () => Promise<unknown>,
): Promise<void> {
  await inFlight(count, IN_FLIGHT, (i) => {
    if (i % 500 === 0) progress.step(`${i} of ${count}`);
    return fire();
  });
}

/** Compacts and prunes by the default policy until nothing more goes. */
function clean(file: string, space: SpaceId): void {
  const later: Clock = { ...systemClock, now: () => systemClock.now() + POLICY_AGE_MS };
  const driver = openBetterSqlite3({ path: file });
  const engine = openEngine({ driver, space, storeClock: later, random: systemRandom });
  while (engine.compact().more) continue;
  while (engine.prune().more) continue;
  engine.checkpoint("truncate");
  engine.close();
}

/** Bytes of the pages that hold something; those that were freed are used again first. */
function usedBytes(file: string): number {
  const db = new Database(file, { readonly: true });
  const pragma = (name: string): number => db.pragma(name, { simple: true }) as number;
  const used = (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
  db.close();
  return used;
}
