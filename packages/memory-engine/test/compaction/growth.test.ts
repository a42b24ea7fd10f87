import { statSync } from "node:fs";
import { join } from "node:path";
import { receiptIdFor, seededRandom } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import {
  DEFAULT_COMPACTION_POLICY,
  DEFAULT_PRUNE_POLICY,
  openBetterSqlite3,
  openEngine,
  type Engine,
} from "../../src/index.js";
import { A1, ANA, doc, event, fired, HOLDER, S, SPACE } from "../../src/testing/harness.js";
import { temporaryFolder } from "../support/harness.js";

const STREAM = "stream:55vfqyzmmdlf4mhwcvdbzzyoqcv2wsfjhrdcyjgn5ndzxgy3tgsq";
const COUNT = doc("node:l2dpsvs3gbi6o4kxyqbnpvxxr2nz5egqmshyu5o6ahsrxcd6dmpa");
const EVENTS_PER_ROUND = 2_000;
const BOUND_BYTES = 512;

/** An event of the smallest kind: appended, counted, answered by a receipt. */
function oneEvent(engine: Engine, n: number): void {
  const eventId = event(`01JDZXZG4M${String(n).padStart(16, "0")}`);
  const appended = engine.transact((tx) => {
    tx.append({ ...fired(STREAM, eventId), payload: { by: 1 } });
    const key = { principal: ANA, session: A1, openNonce: "nonce", localSeq: n as never };
    tx.remember(key, "LWwkXO7yITSFjtHWyAgWteL-Os-7MCYnSG8N5O7mg6w", 0);
    return tx.commit({ class: "authored", principal: ANA, session: A1 });
  });
  engine.transact((tx) => {
    const bump = { op: "increment", path: [], value: 1 } as const;
    tx.write({ id: COUNT, scopeKey: S, op: { op: "patch", value: [bump] } });
    const receipt = receiptIdFor(eventId, doc(STREAM));
    tx.write({ id: receipt, scopeKey: S, op: { op: "set", value: {} } });
    tx.mark({ stream: doc(STREAM), seq: appended.seq, index: 0, eventId });
    tx.frontier(doc(STREAM), appended.seq);
    tx.watermark(appended.seq);
    tx.commit({ class: "derived", holder: HOLDER, consequenceOf: [eventId] });
  });
}

test("[ME-G10] a trivial event, compacted and pruned by the default policy, leaves at most half a kilobyte", async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, "store.db");
  const clock = new VirtualClock();
  const engine = openEngine({
    driver: openBetterSqlite3({ path }),
    space: SPACE,
    storeClock: clock,
    random: seededRandom(1),
  });
  const sizes: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    engine.batch(() => {
      for (let n = 0; n < EVENTS_PER_ROUND; n += 1) oneEvent(engine, round * EVENTS_PER_ROUND + n);
    });
    const { compactAfterMs } = DEFAULT_COMPACTION_POLICY;
    await clock.advance(Math.max(compactAfterMs, DEFAULT_PRUNE_POLICY.pruneAfterMs));
    while (engine.compact().more);
    while (engine.prune().more);
    engine.checkpoint("truncate");
    sizes.push(statSync(path).size);
  }
  const last = (sizes.at(-1) ?? 0) - (sizes[0] ?? 0);
  expect(last / (3 * EVENTS_PER_ROUND)).toBeLessThan(BOUND_BYTES);
  expect(last).toBeGreaterThan(0);
  engine.close();
  folder.remove();
}, 60_000);
