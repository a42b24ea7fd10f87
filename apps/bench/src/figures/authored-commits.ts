import { join } from "node:path";
import { openBetterSqlite3, openEngine } from "@tidemark/memory-engine";
import {
  type ClientConnection,
  type DocId,
  generateIdentity,
  type LocalSeq,
  type SpaceId,
  systemClock,
  systemRandom,
} from "@tidemark/protocol";
import { createToolshed } from "@tidemark/toolshed";
import { inFlight } from "@tidemark/simulation";
import { median } from "../report/numbers.js";
import type { Row } from "../report/row.js";
import type { BenchContext, Figure } from "../support/figure.js";
import { WireSession } from "../support/wire-session.js";
import { CommitsByHand } from "../yardsticks/commits-by-hand.js";
import { RowsByHand } from "../yardsticks/rows-by-hand.js";

const REACH = 0.4;
const IN_FLIGHT = 64;
const RUNS = 5;

const valueOf = (i: number) => ({ title: `document ${i}`, done: false });
const idOf = (run: number, i: number) => `bench:${run}-${i}`;

/** Commits of one new document each, through the store alone and admitted over a connection. */
export const authoredCommits: Figure = {
  name: "authored-commits",
  about: "authored commits/s of one document each, beside the same rows by better-sqlite3",
  async measure(context) {
    const count = context.quick ? 1_000 : 5_000;
    return [storeRow(context, count), await admittedRow(context, count)];
  },
};

function storeRow(context: BenchContext, count: number): Row {
  const dir = context.folder();
  const engine = openEngine({
    driver: openBetterSqlite3({ path: join(dir, "engine.sqlite") }),
    space: generateIdentity(systemRandom).did as string as SpaceId,
    storeClock: systemClock,
    random: systemRandom,
  });
  const raw = new RowsByHand(join(dir, "raw.sqlite"));
  const commit = (run: number, i: number): void => {
    engine.transact((tx) => {
      const op = { op: "set", value: valueOf(i) } as const;
      tx.write({ id: idOf(run, i) as DocId, scopeKey: "space" as never, op });
      return tx.commit({ class: "authored" });
    });
  };
  const ours: number[] = [];
  const yardstick: number[] = [];
  // The first run of each is for the compiler.
  for (let run = 0; run <= RUNS; run += 1) {
    context.progress.step(`store, run ${run} of ${RUNS}`);
    const a = rateOf(count, (i) => commit(run, i));
    const b = rateOf(count, (i) => {
      const seq = run * count + i + 1;
      raw.commit({ seq, id: idOf(run, i), data: JSON.stringify(valueOf(i)) });
    });
    if (run > 0) ours.push(a);
    if (run > 0) yardstick.push(b);
  }
  engine.close();
  raw.close();
  return row("authored commits/s, store, a transaction each", ours, yardstick);
}

function rateOf(count: number, act: (i: number) => void): number {
  const start = systemClock.monotonic();
  for (let i = 0; i < count; i += 1) act(i);
  return (count * 1_000) / (systemClock.monotonic() - start);
}

async function admittedRow(context: BenchContext, count: number): Promise<Row> {
  const dir = context.folder();
  const toolshed = await createToolshed({ dataDir: dir, patterns: [] });
  const session = new WireSession(toolshed.loopback);
  await session.open();
  const space = await session.createSpace();
  const hand = new CommitsByHand(systemClock, join(dir, "hand.sqlite"));
  const asker = new AskerByHand(hand.transport.connect());
  const ours: number[] = [];
  const yardstick: number[] = [];
  for (let run = 0; run <= RUNS; run += 1) {
    context.progress.step(`admitted, run ${run} of ${RUNS}`);
    const bodyOf = (i: number) => ({
      localSeq: (run * count + i + 1) as LocalSeq,
      reads: [],
      ops: [{ id: idOf(run, i) as DocId, op: "set" as const, value: valueOf(i) }],
    });
    const a = await rateInFlight(count, (i) =>
      session.ask({ type: "commit", space, commit: bodyOf(i) }),
    );
    const b = await rateInFlight(count, (i) =>
      asker.ask({ type: "commit", space, commit: bodyOf(i) }),
    );
    if (run > 0) ours.push(a);
    if (run > 0) yardstick.push(b);
  }
  session.close();
  await toolshed.stop();
  hand.close();
  return row(`authored commits/s, admitted in process, ${IN_FLIGHT} in flight`, ours, yardstick);
}

async function rateInFlight(count: number, act: (i: number) => Promise<unknown>): Promise<number> {
  const start = systemClock.monotonic();
  await inFlight(count, IN_FLIGHT, act);
  return (count * 1_000) / (systemClock.monotonic() - start);
}

/** The yardstick's client: a request, and what answers it. */
class AskerByHand {
  readonly #connection: ClientConnection;
  readonly #waiting = new Map<number, () => void>();
  #req = 0;

  constructor(connection: ClientConnection) {
    this.#connection = connection;
    connection.onMessage((text) => {
      const { type, req } = JSON.parse(text) as { readonly type: string; readonly req: number };
      if (type !== "ok") throw new Error(text);
      this.#waiting.get(req)?.();
      this.#waiting.delete(req);
    });
  }

  ask(body: object): Promise<void> {
    const req = (this.#req += 1);
    this.#connection.send(JSON.stringify({ ...body, req }));
    return new Promise((resolve) => {
      this.#waiting.set(req, resolve);
    });
  }
}

function row(figure: string, ours: readonly number[], yardstick: readonly number[]): Row {
  const [a, b] = [median(ours), median(yardstick)];
  const ratio = a / b;
  const target = `≥ ${REACH}×`;
  return { figure, unit: "/s", ours: a, yardstick: b, ratio, target, met: ratio >= REACH };
}
