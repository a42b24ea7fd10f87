import {
  instanceKey,
  nodeIdFor,
  SPACE_SCOPE_KEY,
  streamIdFor,
  systemClock,
} from "@tidemark/protocol";
import type { DocId, EventId, InstanceKey, LocalSeq, SpaceId } from "@tidemark/protocol";
import { createToolshed, type Toolshed } from "@tidemark/toolshed";
import { median } from "../report/numbers.js";
import type { BenchContext, Figure } from "../support/figure.js";
import { benchWide } from "../support/pattern.js";
import { newSpace, person } from "../support/people.js";
import { until } from "../support/wait.js";
import { WireSession } from "../support/wire-session.js";

const NODES = 1_000;
const REACH = 5;
const IDLE_PARK_MS = 50;
const WITHIN_MS = 30_000;

/** From the wake of a parked space until its event is consequenced: with the runtime that the park kept, and without. */
export const activation: Figure = {
  name: "activation",
  about: "wake of a parked space of 1,000 demanded nodes, runtime kept beside built anew",
  async measure(context) {
    const kept = await wakes(context, 600_000);
    const fresh = await wakes(context, 0);
    const [ours, yardstick] = [median(kept), median(fresh)];
    return [
      {
        figure: "wake of a parked space, runtime kept beside built anew",
        unit: "ms",
        ours,
        yardstick,
        ratio: ours / yardstick,
        target: `≤ 1/${REACH} of it`,
        met: yardstick / ours >= REACH,
        note: `${NODES} demanded nodes, an event; median of ${kept.length}`,
      },
    ];
  },
};

/** What each wake took, ms. */
async function wakes(context: BenchContext, retentionMs: number): Promise<readonly number[]> {
  const wide = benchWide(NODES);
  const toolshed = await createToolshed({
    dataDir: context.folder(),
    patterns: [wide],
    serving: { idleParkMs: IDLE_PARK_MS, parkedRuntimeRetentionMs: retentionMs },
  });
  const client = await person(toolshed.loopback, [wide]);
  const space = await newSpace(client);
  const { piece, created } = space.create(wide, undefined, { watch: [] });
  await created;
  await client.close();
  const wire = new WireSession(toolshed.loopback);
  await wire.open();
  const keys = Array.from({ length: NODES }, (_, i) =>
    instanceKey(nodeIdFor(piece.id, `d${i}`), SPACE_SCOPE_KEY),
  );
  const took: number[] = [];
  const rounds = context.quick ? 5 : 21;
  for (let i = 0; i < rounds; i += 1) {
    context.progress.step(`${retentionMs === 0 ? "anew" : "kept"}: ${i} of ${rounds}`);
    await until("the space parked", WITHIN_MS, () => !toolshed.host.isActive(space.id));
    const ms = await wake(toolshed, wire, {
      space: space.id,
      stream: streamIdFor(piece.id, "increment"),
      keys,
      i,
    });
    // The first round starts the piece for the first time.
    if (i > 0) took.push(ms);
  }
  wire.close();
  await toolshed.stop();
  return took;
}

async function wake(
  { host, memory }: Toolshed,
  wire: WireSession,
  {
    space,
    stream,
    keys,
    i,
  }: { space: SpaceId; stream: DocId; keys: readonly InstanceKey[]; i: number },
): Promise<number> {
  const served = memory.space(space);
  const eventId = `wake${i}` as EventId;
  const ended = new Promise<void>((resolve) => {
    const feed = served.feed(served.engine.head(), ({ consequenceOf = [] }) => {
      if (!consequenceOf.includes(eventId)) return;
      feed.close();
      resolve();
    });
  });
  const start = systemClock.monotonic();
  host.warm(space, keys);
  while (!host.isActive(space)) {
    await new Promise<void>((resolve) => {
      systemClock.immediate(resolve);
    });
  }
  const append = { localSeq: (i + 1) as LocalSeq, stream, entry: { eventId, payload: null } };
  await wire.ask({ type: "append", space, append });
  await ended;
  return systemClock.monotonic() - start;
}
