import type { PieceHandle, ResultOf } from "@tidemark/client";
import { systemClock } from "@tidemark/protocol";
import { inFlight } from "@tidemark/simulation";
import { percentile } from "../report/numbers.js";
import type { Row } from "../report/row.js";
import { Child } from "../support/child.js";
import type { BenchContext, Figure } from "../support/figure.js";
import { benchCounter } from "../support/pattern.js";
import { newSpace, opened, person, socketTransport } from "../support/people.js";

const CLIENTS = [1, 10, 100] as const;
const EACH_IN_FLIGHT = 4;
const WARM = 1_000;

type Counter = PieceHandle<ResultOf<typeof benchCounter>>;

/** One space with ever more people in it who click as fast as they are answered, each over a socket of their own. */
export const clients: Figure = {
  name: "clients",
  about: "wave throughput and settle times at 1, 10 and 100 clients of one space",
  async measure(context) {
    const rows: Row[] = [];
    for (const people of CLIENTS) rows.push(...(await crowd(context, people)));
    return rows;
  },
};

async function crowd(context: BenchContext, people: number): Promise<readonly Row[]> {
  const server = new Child("toolshed", [context.folder()]);
  const { url, socketUrl } = await server.next<{
    readonly url: string;
    readonly socketUrl: string;
  }>();
  const transport = socketTransport(socketUrl);
  const first = await person(transport, [benchCounter]);
  const space = await newSpace(first);
  const { piece, created } = space.create(benchCounter);
  await created;
  const all = [first];
  const counters: Counter[] = [piece];
  while (all.length < people) {
    const client = await person(transport, [benchCounter]);
    all.push(client);
    counters.push((await opened(client, space.id)).piece(piece.id, benchCounter));
  }
  await click(counters, WARM);
  const total = context.quick ? 1_000 : 10_000;
  context.progress.step(`${people} clients`);
  const before = await derivedCommits(url);
  const start = systemClock.monotonic();
  const took = await click(counters, total);
  const seconds = (systemClock.monotonic() - start) / 1_000;
  const waves = (await derivedCommits(url)) - before;
  await Promise.all(all.map((client) => client.close()));
  await server.stop();
  const who = people === 1 ? "1 client" : `${people} clients`;
  const open = { target: "–", met: undefined };
  return [
    {
      figure: `events/s, ${who}, ${EACH_IN_FLIGHT} in flight each`,
      unit: "/s",
      ours: total / seconds,
      ...open,
    },
    { figure: `waves/s, ${who}`, unit: "/s", ours: waves / seconds, ...open },
    { figure: `click → settled, ${who}, p50`, unit: "ms", ours: percentile(took, 50), ...open },
    { figure: `click → settled, ${who}, p99`, unit: "ms", ours: percentile(took, 99), ...open },
  ];
}

/** So many clicks, spread over the people. Answers what each took, ms. */
async function click(counters: readonly Counter[], total: number): Promise<readonly number[]> {
  const took: number[] = [];
  const each = Math.ceil(total / counters.length);
  await Promise.all(
    counters.map((counter) =>
      inFlight(each, EACH_IN_FLIGHT, async () => {
        const start = systemClock.monotonic();
        await counter.fire("increment").settled;
        took.push(systemClock.monotonic() - start);
      }),
    ),
  );
  return took;
}

async function derivedCommits(url: string): Promise<number> {
  const response = await fetch(`${url}/api/health/stats`);
  const stats = (await response.json()) as {
    readonly servingLoop: { readonly derivedCommits: number };
  };
  return stats.servingLoop.derivedCommits;
}
