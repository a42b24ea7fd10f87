import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dataFolder, RECORDINGS } from "../../src/replay/recordings.js";
import { replayOn } from "../../src/replay/replay.js";
import { ReplayServer } from "../../src/replay/server.js";
import { syntheticTrace } from "../../src/replay/synthetic-trace.js";
import { prefixOf, readTrace, traceFile } from "../../src/replay/trace.js";

/** Short enough for every run of the tests; `npm run replay` does the whole. Turns cost more than events in flight. */
const EVENTS = { 1: 300, 2: 100 } as const;
const WORDS = { 1: "one client with events in flight", 2: "two clients taking turns" } as const;
const SEED = 20_260_101;
const LEASE_TTL_MS = 1_000;
const TIMEOUT_MS = 120_000;

/** The recording where it is there; where it is not, the output must not look as if it had been. */
function recorded(name: string, count: number) {
  const folder = dataFolder(undefined, process.env);
  const trace = readTrace(folder, name);
  if (trace !== undefined) return prefixOf(trace, count);
  console.warn(`THE RECORDING WAS NOT REPLAYED: there is no ${traceFile(folder, name)}`);
  return undefined;
}

const cases = RECORDINGS.map(({ name, writers }) => {
  const count = EVENTS[writers];
  // Made-up texts run everywhere, and go beyond the basic plane, which the recordings do not.
  const madeUp = syntheticTrace(SEED + writers, count);
  const recording = recorded(name, count);
  const beside =
    recording === undefined
      ? `(the recording ${name} IS NOT THERE AND WAS NOT REPLAYED)`
      : `and beside it the first ${count} events of ${name}`;
  const traces = recording === undefined ? [madeUp] : [recording, madeUp];
  return { words: `a made-up text ${beside}`, traces, writers };
});

describe("over a kill -9 of a real server", () => {
  let server: ReplayServer;

  beforeAll(async () => {
    server = await ReplayServer.start(LEASE_TTL_MS);
  }, TIMEOUT_MS);

  afterAll(() => server.stop(), TIMEOUT_MS);

  for (const { words, traces, writers } of cases) {
    test(
      `[SI-T1] [SI-T2] [SI-T6] ${words}, by ${WORDS[writers]}, come out as written, each event applied once, those sent again included`,
      async () => {
        const life = server.life;
        // One kills the server, and the others live with it.
        const results = await Promise.all(
          traces.map((trace, i) =>
            replayOn(server, { trace, writers, kills: i === 0 ? 1 : 0, seed: SEED }),
          ),
        );
        expect(results.flatMap(({ problems }) => problems)).toEqual([]);
        expect(server.life).toBe(life + 1);
        expect(await server.resent()).toBeGreaterThan(0);
      },
      TIMEOUT_MS,
    );
  }
});
