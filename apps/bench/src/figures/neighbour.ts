import type { PieceHandle, ResultOf } from "@tidemark/client";
import { systemClock } from "@tidemark/protocol";
import { formatNumber, percentile } from "../report/numbers.js";
import { Child } from "../support/child.js";
import type { BenchContext, Figure } from "../support/figure.js";
import { benchCounter } from "../support/pattern.js";
import { newSpace, person, socketTransport } from "../support/people.js";
import { pause } from "../support/wait.js";

/** Two slices of the scheduler (seed 001 §3): what another space may cost. */
const REACH_MS = 32;
const EVERY_MS = 20;
const WARM = 200;

/** A space that is used beside one that gets no rest, in one process: what the one costs the other. */
export const neighbour: Figure = {
  name: "neighbour",
  about: "p99 of a used space beside a hostile one (endless cascade, huge payloads, model fan-out)",
  async measure(context) {
    const server = new Child("toolshed", [context.folder()]);
    const { socketUrl } = await server.next<{ readonly socketUrl: string }>();
    const client = await person(socketTransport(socketUrl), [benchCounter]);
    const space = await newSpace(client);
    const { piece, created } = space.create(benchCounter);
    await created;
    for (let i = 0; i < WARM; i += 1) await piece.fire("increment").settled;
    const alone = await clicks(context, piece, "alone");
    const hostile = new Child("hostile", [socketUrl]);
    await hostile.next();
    const beside = await clicks(context, piece, "beside");
    await hostile.stop();
    await client.close();
    await server.stop();
    const [a, b] = [percentile(alone, 99), percentile(beside, 99)];
    return [
      {
        figure: "click → settled beside a hostile space, p99",
        unit: "ms",
        ours: b,
        yardstick: a,
        ratio: b / a,
        target: `≤ ${REACH_MS} ms over alone`,
        met: b - a <= REACH_MS,
        note: `p50 ${formatNumber(percentile(beside, 50))} ms, alone ${formatNumber(percentile(alone, 50))} ms`,
      },
    ];
  },
};

async function clicks(
  { quick, progress }: BenchContext,
  piece: PieceHandle<ResultOf<typeof benchCounter>>,
  how: string,
): Promise<readonly number[]> {
  const count = quick ? 60 : 500;
  const took: number[] = [];
  for (let i = 0; i < count; i += 1) {
    if (i % 20 === 0) progress.step(`${how}: ${i} of ${count}`);
    const start = systemClock.monotonic();
    await piece.fire("increment").settled;
    took.push(systemClock.monotonic() - start);
    await pause(EVERY_MS);
  }
  return took;
}
