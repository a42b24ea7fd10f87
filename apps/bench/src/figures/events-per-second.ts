import { join } from "node:path";
import { systemClock } from "@tidemark/protocol";
import { inFlight } from "@tidemark/simulation";
import { formatNumber, median } from "../report/numbers.js";
import { Child } from "../support/child.js";
import type { BenchContext, Figure } from "../support/figure.js";
import { benchCounter } from "../support/pattern.js";
import { newSpace, person, socketTransport } from "../support/people.js";
import { rawSocket } from "../support/raw-socket.js";

const IN_FLIGHT = 64;
const RUNS = 5;
const REACH_RATIO = 0.15;
const REACH = 8_000;

/** One run: events a second, and what each cost the server's processor. */
interface Run {
  readonly rate: number;
  readonly serverMs: number;
}

/** Something that counts events durably, and has counted one when its promise resolves. */
interface Counting {
  readonly server: Child;
  fire(): Promise<unknown>;
  close(): Promise<void>;
}

/** A durable counter over WebSocket, server in a process of its own, and the same by hand. */
export const eventsPerSecond: Figure = {
  name: "events-per-second",
  about: "events/s through one space, 64 in flight, over WebSocket, beside the same by hand",
  async measure(context) {
    const count = context.quick ? 2_000 : 20_000;
    const ours = await ourCounter(context);
    const hand = await counterByHand(context);
    const [a, b]: [Run[], Run[]] = [[], []];
    for (let run = 0; run <= RUNS; run += 1) {
      context.progress.step(`run ${run} of ${RUNS}`);
      const mine = await runOf(ours, count);
      const theirs = await runOf(hand, count);
      // The first run of each is for the compiler.
      if (run > 0) a.push(mine);
      if (run > 0) b.push(theirs);
    }
    await ours.close();
    await hand.close();
    const [rate, yardstick] = [rateOf(a), rateOf(b)];
    const ratio = rate / yardstick;
    return [
      {
        figure: `events/s over WebSocket, ${IN_FLIGHT} in flight`,
        unit: "/s",
        ours: rate,
        yardstick,
        ratio,
        target: `≥ ${REACH_RATIO}× and ≥ ${REACH.toLocaleString("en")}`,
        met: ratio >= REACH_RATIO && rate >= REACH,
        note: `the server's processor was busy ${costOf(a)} ms an event, by hand ${costOf(b)} ms`,
      },
    ];
  },
};

const rateOf = (runs: readonly Run[]): number => median(runs.map(({ rate }) => rate));

function costOf(runs: readonly Run[]): string {
  return formatNumber(median(runs.map(({ serverMs }) => serverMs)));
}

async function runOf({ server, fire }: Counting, count: number): Promise<Run> {
  const before = await server.cpuMs();
  const start = systemClock.monotonic();
  await inFlight(count, IN_FLIGHT, fire);
  const ms = systemClock.monotonic() - start;
  const after = await server.cpuMs();
  return { rate: (count * 1_000) / ms, serverMs: (after - before) / count };
}

async function ourCounter(context: BenchContext): Promise<Counting> {
  const server = new Child("toolshed", [context.folder()]);
  const { socketUrl } = await server.next<{ readonly socketUrl: string }>();
  const client = await person(socketTransport(socketUrl), [benchCounter]);
  const space = await newSpace(client);
  const { piece, created } = space.create(benchCounter);
  await created;
  let fired = 0;
  return {
    server,
    fire() {
      fired += 1;
      return piece.fire("increment").settled;
    },
    async close() {
      await space.waitForSettled();
      const counted = piece.get("count").value;
      await client.close();
      await server.stop();
      if (counted !== fired) throw new Error(`${fired} events were counted as ${counted}`);
    },
  };
}

async function counterByHand(context: BenchContext): Promise<Counting> {
  const server = new Child("by-hand", [join(context.folder(), "counter.sqlite")]);
  const { socketUrl } = await server.next<{ readonly socketUrl: string }>();
  const waiting = new Map<string, () => void>();
  let counted = 0;
  const socket = await rawSocket(socketUrl, (text) => {
    const message = JSON.parse(text) as FrameByHand;
    if (message.type !== "frame") return;
    counted = message.count;
    for (const id of message.done) {
      waiting.get(id)?.();
      waiting.delete(id);
    }
  });
  let fired = 0;
  return {
    server,
    fire() {
      fired += 1;
      const eventId = `event-${fired}`;
      const entry = { eventId, payload: null };
      socket.send(JSON.stringify({ type: "append", req: fired, stream: "increment", entry }));
      return new Promise<void>((resolve) => {
        waiting.set(eventId, resolve);
      });
    },
    async close() {
      socket.close();
      await server.stop();
      if (counted !== fired) throw new Error(`${fired} events were counted as ${counted} by hand`);
    },
  };
}

interface FrameByHand {
  readonly type: string;
  readonly count: number;
  readonly done: readonly string[];
}
