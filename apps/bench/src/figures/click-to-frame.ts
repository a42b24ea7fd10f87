import { nodeIdFor, systemClock } from "@tidemark/protocol";
import { percentile } from "../report/numbers.js";
import { Child } from "../support/child.js";
import type { BenchContext, Figure } from "../support/figure.js";
import { benchCounter } from "../support/pattern.js";
import { newSpace, opened, person, socketTransport } from "../support/people.js";
import { rawSocket } from "../support/raw-socket.js";
import { pause } from "../support/wait.js";

const REACH_MS = 5;
const WARM = 50;
/** One click at a time, as fingers do. */
const BETWEEN_MS = 10;
/** About what an append and a frame of one row weigh. */
const PADDING = "x".repeat(250);

/** From one client's click to the frame at the other, and the same way for one message by `ws`. In turns. */
export const clickToFrame: Figure = {
  name: "click-to-frame",
  about: "click → other client's frame over WebSocket, beside a `ws` round trip",
  async measure(context) {
    const ours = await ourPair(context);
    const theirs = await wsPair();
    const count = context.quick ? 60 : 400;
    const took: number[] = [];
    const trips: number[] = [];
    for (let i = 0; i < WARM + count; i += 1) {
      if (i % 20 === 0) context.progress.step(`${i} of ${WARM + count}`);
      const click = await ours.click();
      await pause(BETWEEN_MS);
      const trip = await theirs.trip();
      await pause(BETWEEN_MS);
      if (i < WARM) continue;
      took.push(click);
      trips.push(trip);
    }
    await ours.close();
    await theirs.close();
    const [a, b] = [percentile(took, 50), percentile(trips, 50)];
    return [
      {
        figure: "click → other client's frame, p50",
        unit: "ms",
        ours: a,
        yardstick: b,
        ratio: a / b,
        target: `≤ ${REACH_MS} ms over it`,
        met: a - b <= REACH_MS,
      },
    ];
  },
};

async function ourPair(context: BenchContext) {
  const server = new Child("toolshed", [context.folder()]);
  const { socketUrl } = await server.next<{ readonly socketUrl: string }>();
  const transport = socketTransport(socketUrl);
  const ana = await person(transport, [benchCounter]);
  const ben = await person(transport, [benchCounter]);
  const space = await newSpace(ana);
  const { piece, created } = space.create(benchCounter);
  await created;
  const other = (await opened(ben, space.id)).piece(piece.id, benchCounter);
  await new Promise<void>((resolve) => {
    other.get("count").subscribe((count) => {
      if (count !== undefined) resolve();
    });
  });
  const counter = nodeIdFor(piece.id, "count");
  let seen: () => void = () => undefined;
  ben.onFrame(({ rows }) => {
    if (rows.some(({ id }) => id === counter)) seen();
  });
  return {
    async click(): Promise<number> {
      const frame = new Promise<void>((resolve) => {
        seen = resolve;
      });
      const start = systemClock.monotonic();
      const { settled } = piece.fire("increment");
      await frame;
      const took = systemClock.monotonic() - start;
      await settled;
      return took;
    },
    async close(): Promise<void> {
      await Promise.all([ana.close(), ben.close()]);
      await server.stop();
    },
  };
}

async function wsPair() {
  const server = new Child("echo");
  const { socketUrl } = await server.next<{ readonly socketUrl: string }>();
  let seen: () => void = () => undefined;
  const near = await rawSocket(socketUrl, () => undefined);
  const far = await rawSocket(socketUrl, () => seen());
  return {
    async trip(): Promise<number> {
      const message = new Promise<void>((resolve) => {
        seen = resolve;
      });
      const start = systemClock.monotonic();
      near.send(JSON.stringify({ type: "append", padding: PADDING }));
      await message;
      return systemClock.monotonic() - start;
    },
    async close(): Promise<void> {
      near.close();
      far.close();
      await server.stop();
    },
  };
}
