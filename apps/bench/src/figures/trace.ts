import { systemClock } from "@tidemark/protocol";
import { inFlight, readTrace, recordedText, type Trace } from "@tidemark/simulation";
import { formatNumber, halfSpread } from "../report/numbers.js";
import type { Row } from "../report/row.js";
import { Child } from "../support/child.js";
import { heapBytes } from "../support/collect.js";
import type { BenchContext, Figure } from "../support/figure.js";
import { newSpace, person, socketTransport } from "../support/people.js";

const REACH = 2_000;
const REACH_MB = 30;
const IN_FLIGHT = 64;
const PARTS = 10;
const MB = 1_048_576;
const QUICK_TXNS = 2_000;
const SPEED = "events/s, sveltecomponent trace, one client";
const MEMORY = "memory over the trace, ±";

/** One person's keystrokes as events into a text; the text has to come out as it was recorded. */
export const trace: Figure = {
  name: "trace",
  about: "the sveltecomponent trace by one client over WebSocket: events/s and memory",
  async measure(context) {
    const recorded = readTrace(context.dataDir, "sveltecomponent");
    if (recorded === undefined) return absent(context);
    const { ms, count, server, client } = await replay(context, recorded);
    const rate = (count * 1_000) / ms;
    const spread = Math.max(halfSpread(server), halfSpread(client)) / MB;
    const [s, c] = [halfSpread(server), halfSpread(client)].map((bytes) =>
      formatNumber(bytes / MB),
    );
    const target = `≥ ${REACH.toLocaleString("en")}`;
    return [
      { figure: SPEED, unit: "/s", ours: rate, target, met: rate >= REACH },
      {
        figure: MEMORY,
        unit: "MB",
        ours: spread,
        target: `≤ ${REACH_MB} MB`,
        met: spread <= REACH_MB,
        note: `server ± ${s} MB, client ± ${c} MB, after a collection at each tenth but the first`,
      },
    ];
  },
};

function absent({ progress, dataDir }: BenchContext): readonly Row[] {
  const where = dataDir ?? "../shared/data";
  const note = `NOT MEASURED: there is no sveltecomponent.json.gz in ${where}; give its folder by --data PATH`;
  progress.warn(`trace: ${note}`);
  const row = { ours: undefined, met: undefined, note };
  return [
    { figure: SPEED, unit: "/s", target: `≥ ${REACH.toLocaleString("en")}`, ...row },
    { figure: MEMORY, unit: "MB", target: `≤ ${REACH_MB} MB`, ...row },
  ];
}

async function replay(context: BenchContext, recorded: Trace) {
  const server = new Child("toolshed", [context.folder()]);
  const { socketUrl } = await server.next<{ readonly socketUrl: string }>();
  const client = await person(socketTransport(socketUrl), [recordedText]);
  const space = await newSpace(client);
  const { piece, created } = space.create(recordedText);
  await created;
  const txns = context.quick ? recorded.txns.slice(0, QUICK_TXNS) : recorded.txns;
  const memory: { server: number[]; client: number[] } = { server: [], client: [] };
  let ms = 0;
  for (let part = 0; part < PARTS; part += 1) {
    context.progress.step(`part ${part + 1} of ${PARTS}`);
    const from = Math.floor((part * txns.length) / PARTS);
    const until = Math.floor(((part + 1) * txns.length) / PARTS);
    const start = systemClock.monotonic();
    await inFlight(until - from, IN_FLIGHT, (i) => {
      const patches = txns[from + i]?.patches ?? [];
      return piece.fire(
        "edit",
        patches.map(([at, remove, insert]) => [at, remove, insert]),
      ).settled;
    });
    ms += systemClock.monotonic() - start;
    // What the first part leaves is code and caches that later parts have too.
    const { heapBytes: held } = await server.usage();
    if (part > 0) memory.server.push(held);
    if (part > 0) memory.client.push(heapBytes());
  }
  await space.waitForSettled();
  const text = piece.get("text").value;
  if (!context.quick && text !== recorded.endContent) throw new Error("the text came out wrong");
  await client.close();
  await server.stop();
  return { ms, count: txns.length, ...memory };
}
