import { AuthorizationError, ProtocolError, TimeoutError } from "@tidemark/protocol";
import type { Acl } from "@tidemark/protocol";
import { failingStore } from "@tidemark/memory-engine/testing";
import type { TestServer, TestServerOptions } from "@tidemark/memory-engine/testing";
import type { Client, FiredEvent, Space } from "@tidemark/client";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { World } from "../support/world.js";
import type { Counter } from "../support/world.js";

/*
 * Field fault EV-10 on a real client and a real memory server: per stream, what is admitted is admitted in
 * the order in which it was fired, whatever is refused meanwhile and however much is under way.
 */

const GATE = "append:before-admit";

interface Table {
  readonly world: World;
  readonly alice: Space;
  readonly b1: Client;
  readonly space: Space;
  readonly piece: Counter;
}

/** Alice owns the space; ben, who fires, has what her list gives. */
async function setup(options: TestServerOptions = {}, burst = 20): Promise<Table> {
  const world = new World(options);
  const a1 = world.client("alice", "s1");
  await world.found(a1);
  const alice = world.open(a1).space;
  const policy = { appendPacing: { burst, ratePerSecond: 20 } };
  const b1 = world.client("ben", "t1", { policy });
  await world.run();
  const { space, piece } = world.open(b1);
  await world.run();
  return { world, alice, b1, space, piece };
}

function stored(world: World, handler: string): string[] {
  return world.server.server
    .space(world.space)
    .engine.entries.list(world.stream(handler), {})
    .map(({ payload }) => String(payload));
}

const refusedOutOfTurn = (world: World): number =>
  world.server.server.stats().refused["out-of-turn"] ?? 0;

test("[CL-X3] access given back between two that are under way lets neither overtake the other", async () => {
  const { world, piece, space } = await setup();
  world.server.gates.fail(GATE, new AuthorizationError("not now", {}));
  const fired = ["x", "y", "z"].map((text) => piece.fire("add", text));
  await world.run();
  expect([stored(world, "add"), space.queued, refusedOutOfTurn(world)]).toEqual([[], 3, 2]);
  expect(fired.map(({ outcome }) => outcome)).toEqual([undefined, undefined, undefined]);
  space.core.outbox.retry();
  await world.run();
  expect([stored(world, "add"), space.queued]).toEqual([["x", "y", "z"], 0]);
});

test("[CL-X3] a disk that is full for one of a transaction's appends keeps the later ones out", async () => {
  let left = 0;
  const commit = (): boolean => (left -= 1) === 0;
  const { world, piece, space } = await setup({ wrap: failingStore({ commit }) });
  left = 2;
  for (const text of ["a", "b", "c", "d"]) piece.fire("add", text);
  await world.run();
  expect([stored(world, "add"), space.queued]).toEqual([["a"], 3]);
  await world.clock.advance(1000);
  expect([stored(world, "add"), space.queued]).toEqual([["a", "b", "c", "d"], 0]);
});

test("[CL-X3] one that is refused for good is told so, and the later ones go on in order", async () => {
  const { world, piece, space } = await setup();
  world.server.gates.fail(GATE, new TimeoutError("busy"));
  const fired = ["x", "y", "z"].map((text) => piece.fire("add", text));
  await world.run();
  world.server.gates.fail(GATE, new ProtocolError("wrong"));
  await world.clock.advance(1000);
  expect(fired.map(({ outcome }) => outcome?.kind)).toEqual([
    "append-refused",
    undefined,
    undefined,
  ]);
  expect([stored(world, "add"), space.queued]).toEqual([["y", "z"], 0]);
});

test("[CL-X3] what is dropped with its space holds nothing of the space that is opened after it", async () => {
  const { world, b1, piece } = await setup();
  world.server.gates.fail(GATE, new AuthorizationError("not now", {}));
  const dropped = piece.fire("add", "dropped");
  await world.run();
  b1.closeSpace(world.space);
  const again = world.open(b1);
  again.piece.fire("add", "next");
  await world.run();
  expect(dropped.outcome?.kind).toBe("append-refused");
  expect([stored(world, "add"), again.space.queued]).toEqual([["next"], 0]);
});

test("[CL-X3] opening the space again while appends are under way lets none overtake", async () => {
  const { world, piece, space } = await setup();
  world.server.gates.fail(GATE, new TimeoutError("busy"));
  piece.fire("add", "x");
  space.core.link.resync();
  piece.fire("add", "y");
  await world.clock.advance(1000);
  expect([stored(world, "add"), space.queued]).toEqual([["x", "y"], 0]);
});

type Level = "READ" | "WRITE";
/** How many of the coming writes the disk has no room for. */
type Faults = Record<"commit" | "transaction", number>;

/** What a step of a play does. `n`: how often, from 1. */
const MOVES = {
  add: (play: Play) => play.fire("add"),
  type: (play: Play) => play.fire("type"),
  /** Refusals for now, before admission and by the store, and refusals for good. */
  busy: ({ gates }: Play, n: number) =>
    gates.fail(GATE, () => new TimeoutError("busy"), { times: n }),
  unproven: ({ gates }: Play) => gates.fail(GATE, new AuthorizationError("not now", {})),
  fullForOne: (play: Play, n: number) => (play.faults.commit = n),
  fullForAll: (play: Play, n: number) => (play.faults.transaction = n),
  wrong: ({ gates }: Play) => gates.fail(GATE, new ProtocolError("wrong")),
  revoke: (play: Play) => play.share("READ"),
  grant: (play: Play) => play.share("WRITE"),
  hold: ({ gates }: Play) => gates.hold(GATE),
  release: ({ gates }: Play) => gates.release(GATE),
  /** What the connection and the client do. */
  cut: async ({ table, gates, losesAnswers }: Play) => {
    if (!losesAnswers) {
      // What is held has no answer yet either.
      do await table.world.run();
      while (gates.release(GATE));
    }
    table.b1.disconnect();
    table.b1.reconnect();
  },
  resync: ({ table }: Play) => table.space.core.link.resync(),
  retry: ({ table }: Play) => table.space.core.outbox.retry(),
  some: ({ table }: Play) => table.world.clock.runImmediates(),
  all: ({ table }: Play) => table.world.run(),
  later: ({ table }: Play) => table.world.clock.advance(300),
} as const;

type Move = keyof typeof MOVES;

const moves = (weight: number, ...names: Move[]) => ({
  weight,
  arbitrary: fc.tuple(fc.constantFrom(...names), fc.integer({ min: 1, max: 3 })),
});
/**
 * With refusals for good, connections end between answers: a verdict that nobody heard is asked for again,
 * and may be another one then (docs/deltas). Without them, they end anywhere.
 */
const histories = fc.boolean().chain((losesAnswers) => {
  const step = fc.oneof(
    moves(12, "add", "add", "type"),
    moves(4, "busy", "unproven", "fullForOne", "fullForAll"),
    moves(losesAnswers ? 0 : 2, "wrong", "revoke", "grant"),
    moves(2, "hold", "release", "release"),
    moves(2, "cut", "resync", "retry"),
    moves(6, "some", "some", "all", "later"),
  );
  const steps = fc.array(step, { minLength: 20, maxLength: 60 });
  return fc.record({ losesAnswers: fc.constant(losesAnswers), steps });
});

/** One history: what was fired, and what is still to fail. */
class Play {
  readonly fired = { add: [] as FiredEvent[], type: [] as FiredEvent[] };
  readonly faults: Faults;
  readonly table: Table;
  readonly losesAnswers: boolean;

  private constructor(table: Table, faults: Faults, losesAnswers: boolean) {
    this.table = table;
    this.faults = faults;
    this.losesAnswers = losesAnswers;
  }

  static async begin(losesAnswers: boolean, burst: number): Promise<Play> {
    const faults: Faults = { commit: 0, transaction: 0 };
    const strikes = (kind: keyof Faults) => (): boolean =>
      faults[kind] > 0 && (faults[kind] -= 1) >= 0;
    const wrap = failingStore({ commit: strikes("commit"), transaction: strikes("transaction") });
    return new Play(await setup({ wrap }, burst), faults, losesAnswers);
  }

  get gates(): TestServer["gates"] {
    return this.table.world.server.gates;
  }

  fire(on: "add" | "type"): void {
    this.fired[on].push(this.table.piece.fire(on, `${this.fired[on].length}`));
  }

  share(level: Level): void {
    const { alice } = this.table;
    const acl = { [alice.core.context.identity.did]: "OWNER", "*": level } as Acl;
    alice.setAcl(acl).catch(() => undefined);
  }

  /** Whatever is in the way goes; what is queued then arrives. */
  async end(): Promise<void> {
    const { world, space } = this.table;
    this.faults.commit = 0;
    this.faults.transaction = 0;
    this.gates.open();
    this.share("WRITE");
    for (let n = 0; n < 60 && (n === 0 || space.queued > 0); n += 1) {
      await world.clock.advance(5000);
      space.core.outbox.retry();
    }
    await world.run();
  }
}

test("[CL-X3] per stream, what is admitted is admitted in the order it was fired, whatever is refused", async () => {
  const reached = { stored: 0, outOfTurn: 0, refused: 0 };
  const property = fc.asyncProperty(
    histories,
    fc.constantFrom(1, 3, 20),
    async (history, burst) => {
      const play = await Play.begin(history.losesAnswers, burst);
      for (const [move, n] of history.steps) await MOVES[move](play, n);
      await play.end();
      const { world, space } = play.table;
      expect(space.queued).toBe(0);
      for (const on of ["add", "type"] as const) {
        const order = stored(world, on);
        expect(order).toEqual([...order].sort((a, b) => Number(a) - Number(b)));
        expect(new Set(order).size).toBe(order.length);
        const refused = play.fired[on].filter(({ outcome }) => outcome?.kind === "append-refused");
        const missing = play.fired[on].filter((_, n) => !order.includes(`${n}`));
        expect(refused).toEqual(missing);
        reached.stored += order.length;
        reached.refused += refused.length;
      }
      reached.outOfTurn += refusedOutOfTurn(world);
      await world.server.stop();
    },
  );
  await fc.assert(property, { numRuns: Number(process.env["FUZZ_RUNS"] ?? 40) });
  expect(Math.min(reached.stored, reached.outOfTurn, reached.refused)).toBeGreaterThan(0);
}, 120_000);
