import { expect, test } from "vitest";
import { z } from "zod";
import {
  seededRandom,
  streamIdFor,
  type Clock,
  type EventId,
  type JsonValue,
  type Seq,
  type StreamEntry,
} from "@tidemark/protocol";
import { cell, handler, pattern, type Cell, type Stream } from "@tidemark/runtime";
import { HeldLoads } from "../support/loads.js";
import { createWorld, nodeKey, type World } from "../support/world.js";

const STREAMS = ["a", "b", "c"] as const;
const SEEDS = 24;
const ROUNDS = 4;
const DEPTH = 3;

/** What an event makes its handler do: read what may have to be loaded, wait, send on, throw. */
interface Message {
  readonly name: string;
  readonly look: boolean;
  readonly waitMs: number;
  readonly throws: boolean;
  readonly sends: readonly { readonly to: number; readonly message: Message }[];
}

let clock: Pick<Clock, "timer"> | undefined;

const web = pattern({
  id: "web",
  version: "1",
  build: () => {
    const far = cell("far", z.string(), { default: "" });
    const logs: Cell<string[]>[] = [];
    const streams: Stream<unknown>[] = [];
    for (const [at, name] of STREAMS.entries()) {
      const log = cell(`log-${name}`, z.array(z.string()), { default: [] });
      logs.push(log);
      const run = handler(name, z.unknown(), async (payload, ctx) => {
        const { look, waitMs, sends, throws, name: word } = payload as Message;
        if (look) ctx.cell(far).get();
        if (waitMs > 0) await new Promise<void>((go) => void clock?.timer(waitMs, go));
        ctx.cell(log).append(word);
        for (const { to, message } of sends)
          ctx.stream(streams[to] as Stream<unknown>).send(message);
        if (throws) throw new Error("as it was told");
      });
      streams[at] = run;
    }
    return { far, ...named("log-", logs), ...named("", streams) };
  },
});

function named<T>(before: string, nodes: readonly T[]): Record<string, T> {
  return Object.fromEntries(nodes.map((node, at) => [`${before}${STREAMS[at]}`, node]));
}

/** A source of messages, each with a name of its own. */
function messages(pick: (below: number) => number): () => Message {
  let made = 0;
  const make = (depth: number): Message => ({
    name: `m${(made += 1)}`,
    look: pick(6) === 0,
    waitMs: pick(8) === 0 ? 20 + pick(200) : 0,
    throws: pick(12) === 0,
    sends:
      depth === 0 || pick(2) === 0
        ? []
        : Array.from({ length: 1 + pick(3) }, () => ({
            to: pick(STREAMS.length),
            message: make(depth - 1),
          })),
  });
  return () => make(DEPTH);
}

const placeOf = ({ stream, seq, index }: Pick<StreamEntry, "stream" | "seq" | "index">): string =>
  `${stream} ${seq} ${index}`;

/** What was sent to a stream and handled, in the order of its entries. */
function handled(w: World, stream: string, names: ReadonlyMap<string, string>): string[] {
  const { engine } = w.t.server.space(w.space);
  return engine
    .commitsSince(0 as Seq)
    .flatMap(({ appends }) => appends)
    .filter((entry) => entry.stream === stream)
    .filter((entry) => engine.entries.byEvent(entry.stream, entry.eventId)[0]?.status === undefined)
    .map((entry) => names.get(placeOf(entry)) ?? "");
}

test.each(Array.from({ length: SEEDS }, (_, at) => at + 1))(
  "[EX-C11][EX-D8][EX-W13] each stream's events take effect once and in the order of their seqs, copies and all (seed %i)",
  async (seed) => {
    const random = seededRandom(seed);
    const pick = (below: number): number => Math.floor(random.next() * below);
    const message = messages(pick);
    const loads = new HeldLoads();
    const policy2 = { deferralThreshold: 2, deferralBackstopMs: 100 };
    const w = await createWorld({ patterns: [web], loads, policy2 });
    clock = w.t.clock;
    const piece = await w.create(web);
    await w.open(w.owner, piece, ["log-a", "log-b", "log-c"]);
    await w.settle();
    const names = new Map<string, string>();
    w.t.server.space(w.space).feed(w.head(), ({ appends }) => {
      for (const entry of appends) {
        names.set(placeOf(entry), (entry.payload as { name?: string } | null)?.name ?? "");
      }
    });
    const far = nodeKey(piece, "far");
    for (let round = 0; round < ROUNDS; round += 1) {
      if (pick(2) === 0) loads.hold(far);
      // Seqs and arrivals agree as long as nothing arrives while copies of the same wave run.
      w.t.gates.hold("feed:before-apply");
      for (let at = 2 + pick(5); at > 0; at -= 1) {
        if (pick(8) > 0) {
          const to = STREAMS[pick(STREAMS.length)] ?? "a";
          await w.fire(w.owner, piece, to, message() as unknown as JsonValue, `e${round}-${at}`);
        } else {
          const eventId = `nobody${round}-${at}` as EventId;
          await w.owner.append(w.space, streamIdFor(piece, "nobody"), { eventId, payload: null });
        }
      }
      w.t.gates.release("feed:before-apply");
      await w.settle(pick(2) === 0 ? 150 : 3_000);
      if (pick(3) === 0) w.t.gates.fail("wave:before-commit", new Error("the disk is gone"));
      loads.settle(far);
      await w.settle(8_000);
      w.t.gates.open();
      await w.settle(8_000);
    }
    expect(w.t.server.space(w.space).engine.entries.pending()).toEqual([]);
    for (const name of STREAMS) {
      const log = w.value(piece, `log-${name}`) ?? [];
      expect([name, log]).toEqual([name, handled(w, streamIdFor(piece, name), names)]);
    }
    await w.stop();
  },
);
