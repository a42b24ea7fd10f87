import { systemClock } from "@tidemark/protocol";
import { createToolshed } from "@tidemark/toolshed";
import { percentile } from "../report/numbers.js";
import type { Row } from "../report/row.js";
import type { Figure } from "../support/figure.js";
import { benchCounter } from "../support/pattern.js";
import { newSpace, person } from "../support/people.js";
import { pause } from "../support/wait.js";

/** Events before those that are measured. */
const WARM_UP = 3_000;
const EVERY_MS = 50;
const P50_MS = 2;
const P99_MS = 10;

/** From the fire to the moment at which the derived commit with the event's consequence is durable, at 20 a second. */
export const appendToDurable: Figure = {
  name: "append-to-durable",
  about: "event appended → consequence durable, one client, 20/s, in process",
  async measure({ quick, progress, folder }) {
    const toolshed = await createToolshed({ dataDir: folder(), patterns: [benchCounter] });
    const client = await person(toolshed.loopback, [benchCounter]);
    const space = await newSpace(client);
    const { piece, created } = space.create(benchCounter);
    await created;
    const firedAt = new Map<string, number>();
    const took: number[] = [];
    const served = toolshed.memory.space(space.id);
    const feed = served.feed(served.engine.head(), ({ consequenceOf = [] }) => {
      for (const id of consequenceOf) {
        took.push(systemClock.monotonic() - (firedAt.get(id) ?? Number.NaN));
      }
    });
    // As in every figure, the compiler has seen the code before it is measured.
    for (let i = 0; i < WARM_UP; i += 1) await piece.fire("increment").settled;
    took.length = 0;
    const count = quick ? 60 : 400;
    for (let i = 0; i < count; i += 1) {
      if (i % 20 === 0) progress.step(`${i} of ${count}`);
      const at = systemClock.monotonic();
      const { eventId, settled } = piece.fire("increment");
      firedAt.set(eventId, at);
      await Promise.all([settled, pause(EVERY_MS)]);
    }
    feed.close();
    await client.close();
    await toolshed.stop();
    return [rowOf(took, 50, P50_MS), rowOf(took, 99, P99_MS)];
  },
};

function rowOf(took: readonly number[], p: number, reach: number): Row {
  const ours = percentile(took, p);
  const figure = `event appended → consequence durable, p${p}`;
  return { figure, unit: "ms", ours, target: `≤ ${reach} ms`, met: ours <= reach };
}
