import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import {
  nodeIdFor,
  seededRandom,
  streamIdFor,
  type DocId,
  type EventId,
  type Seq,
} from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { createTestServer, type TestClient } from "@tidemark/memory-engine/testing";
import { action, cell, computed, pattern } from "@tidemark/runtime";
import type { ExecutorHost } from "../../src/index.js";
import { lab } from "../support/patterns.js";
import { createHost, createWorld, type World } from "../support/world.js";

/** One seed by its number, or so many of them, each with its own weather. */
const SEED = Number(process.env["WEATHER_SEED"] ?? 0);
const SEEDS = Number(process.env["WEATHER_SEEDS"] ?? 6);
const STEPS = 40;

/** Values that several write, what is derived of them, and bodies that wait between two reads. */
const lot = pattern({
  id: "lot",
  version: "1",
  build: () => {
    const a = cell("a", z.number(), { default: 0 });
    const b = cell("b", z.number(), { default: 0 });
    const c = cell("c", z.number(), { default: 0 });
    const turn = cell("turn", z.number(), { default: 0 });
    const box = cell("box", z.record(z.string(), z.number()), { default: {} });
    const seen = cell("seen", z.array(z.unknown()), { default: [] });
    const x = computed("x", () => a.get() * 2);
    const y = computed("y", () => x.get() + b.get());
    const turned = computed("turned", () => (turn.get() % 2 === 0 ? y.get() : c.get()));
    const boxed = computed("boxed", () => (box.get()["n"] ?? 0) + c.get());
    const capped = computed("capped", () => (b.get() > 3 ? 1 : 0));
    const sum = computed("sum", () => capped.get() + 10 * turned.get());
    const incA = action("incA", () => a.increment(1));
    const incB = action("incB", () => b.set(b.get() + 1));
    const flip = action("flip", () => turn.increment(1));
    const put = action("put", () => box.key("n").set((box.get()["n"] ?? 0) + 1));
    const renew = action("renew", () => box.set({ n: c.get() }));
    const mark = action("mark", () => box.key("m").set(1));
    const both = action("both", () => {
      a.set(a.get() + 1);
      c.set(sum.get());
      incB.send(null);
    });
    const look = action("look", async (ctx) => {
      const before = ctx.cell(y).get();
      await lab.doors.get("look");
      ctx.cell(seen).append([before, ctx.cell(sum).get(), ctx.cell(boxed).get()]);
    });
    const carry = action("carry", async (ctx) => {
      await lab.doors.get("carry");
      ctx.cell(a).increment(10);
      ctx.cell(c).set(ctx.cell(boxed).get() + ctx.cell(turned).get());
    });
    const cells = { a, b, c, turn, box, seen };
    const nodes = { x, y, turned, boxed, capped, sum };
    return { ...cells, ...nodes, incA, incB, flip, put, renew, mark, both, look, carry };
  },
});

const HANDLERS = ["incA", "incB", "flip", "put", "renew", "mark", "both", "look", "carry"];
const NODES = ["x", "y", "turned", "boxed", "capped", "sum"] as const;
const CELLS = ["a", "b", "c", "turn"];
const DOORS = ["look", "carry"];
const GATES = [
  "feed:before-apply",
  "wave:before-commit",
  "wave:after-commit",
  "seal:before",
  "drain:before-queue",
  "handler:before-run",
] as const;

interface Fired {
  readonly piece: DocId;
  readonly handler: string;
  readonly id: EventId;
}

/** A space that two processes would serve, and everything that may happen to them. */
class Weather {
  readonly log: string[] = [];
  readonly fired: Fired[] = [];
  readonly #random;
  readonly #opens: (() => void)[] = [];
  #suspended = false;
  #restarts = 0;

  constructor(
    readonly w: World,
    readonly clock: ReturnType<VirtualClock["child"]>,
    readonly pieces: readonly DocId[],
    readonly here: readonly TestClient[],
    readonly there: TestClient,
    public host: ExecutorHost,
    seed: number,
  ) {
    this.#random = seededRandom(seed);
  }

  below(n: number): number {
    return Math.floor(this.#random.next() * n);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  async step(): Promise<void> {
    const turns = [
      ...[0, 1, 2, 3].map(() => () => this.#fire(this.pick([...this.here, this.there]))),
      ...[0, 1, 2].map(() => () => this.#write(this.pick([...this.here, this.there]))),
      () => this.w.t.clock.advance(this.pick([1, 30, 101, 250])),
      () => this.#gate(true),
      () => this.#gate(false),
      () => this.#door(),
      () => (this.below(4) === 0 ? this.#restart() : undefined),
      () => (this.below(3) === 0 ? this.#suspend() : undefined),
    ];
    await this.pick(turns)();
  }

  /** Whatever was held goes on, and everything comes to rest. */
  async calm(): Promise<void> {
    await this.#wake();
    this.w.t.gates.open();
    this.#openDoors();
    await this.w.settle(30_000);
  }

  async #fire(client: TestClient): Promise<void> {
    const [piece, handler] = [this.pick(this.pieces), this.pick(HANDLERS)];
    const id = `w${this.fired.length}` as EventId;
    this.log.push(`fire ${handler}`);
    const stream = streamIdFor(piece, handler);
    const answer = await client.append(this.w.space, stream, { eventId: id, payload: null });
    if (answer.ok) this.fired.push({ piece, handler, id });
  }

  async #write(client: TestClient): Promise<void> {
    const name = this.pick([...CELLS, "box"]);
    const id = nodeIdFor(this.pick(this.pieces), name);
    const path = name === "box" ? [this.pick(["n", "k"])] : [];
    const ifAbsent = name === "box" ? {} : 0;
    const value = [{ op: "increment", path, value: 1 + this.below(3), ifAbsent }];
    const whole = { op: "set", id, value: name === "box" ? { n: this.below(9) } : this.below(9) };
    this.log.push(`write ${name}`);
    const op = this.below(3) === 0 ? whole : { op: "patch", id, value };
    await client.commit(this.w.space, { ops: [op] as never });
  }

  async #gate(holds: boolean): Promise<void> {
    const gate = this.pick(GATES);
    this.log.push(`${holds ? "hold" : "release"} ${gate}`);
    if (holds) this.w.t.gates.hold(gate);
    else this.w.t.gates.release(gate);
    await this.w.t.run();
  }

  async #door(): Promise<void> {
    this.log.push("door");
    if (this.below(2) === 0) this.#opens.push(lab.door(this.pick(DOORS)));
    else this.#openDoors();
    await this.w.t.run();
  }

  #openDoors(): void {
    for (const open of this.#opens.splice(0)) open();
    lab.doors.clear();
  }

  async #suspend(): Promise<void> {
    if (this.#suspended) return this.#wake();
    this.log.push("suspend");
    this.clock.suspend();
    this.#suspended = true;
    await this.w.t.clock.advance(this.pick([100, 20_000]));
  }

  async #wake(): Promise<void> {
    if (!this.#suspended) return;
    this.clock.resume();
    this.#suspended = false;
    await this.w.t.run();
  }

  async #restart(): Promise<void> {
    this.log.push("restart");
    await this.#wake();
    this.w.t.gates.open();
    this.#openDoors();
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    const stopping = this.host.stop();
    await this.w.t.clock.advance(10_000);
    await stopping;
  }

  async start(): Promise<void> {
    this.#restarts += 1;
    const options = { patterns: [lot], hostClock: this.clock };
    this.host = createHost(this.w.t, options, this.w.reports, 100 + this.#restarts);
    this.host.start();
    await this.w.t.run();
  }
}

/** What the nodes of a piece say of its cells as they stand. */
function derived(w: World, piece: DocId): Record<(typeof NODES)[number], number> {
  const of = (name: string): number => (w.value(piece, name) as number | undefined) ?? 0;
  const box = (w.value(piece, "box") as { readonly n?: number } | undefined) ?? {};
  const [x, capped] = [of("a") * 2, of("b") > 3 ? 1 : 0];
  const y = x + of("b");
  const turned = of("turn") % 2 === 0 ? y : of("c");
  const boxed = (box.n ?? 0) + of("c");
  return { x, y, turned, boxed, capped, sum: capped + 10 * turned };
}

const watchOf = (piece: DocId, node: string) => ({
  id: `${piece} ${node}`,
  root: { id: nodeIdFor(piece, node) },
});

beforeEach(() => lab.doors.clear());

async function weather(seed: number, dir: string) {
  const clock = new VirtualClock();
  const child = clock.child({ name: "host" });
  // Half of the seeds split every wave.
  const policy2 = { waveMaxBytes: seed % 2 === 0 ? 60 : 1_000_000 };
  const w = await createWorld({ patterns: [lot], policy2, dir, clock, hostClock: child });
  const pieces = [await w.create(lot, "one"), await w.create(lot, "two")];
  const ben = await w.t.connected("ben");
  await ben.call("space.open", { space: w.space, watches: [] });
  const other = createTestServer({ clock, dir, seed: 9 });
  const carla = await other.connected("carla");
  other.server.space(w.space);
  await carla.call("space.open", { space: w.space, watches: [] });
  const options = { patterns: [lot], hostClock: clock.child({ name: "rival" }) };
  const rival = createHost(other, options, w.reports, 55);
  rival.start();
  const all = new Weather(w, child, pieces, [w.owner, ben], carla, w.host, seed);
  const stopRival = async (): Promise<void> => {
    const stopping = rival.stop();
    await clock.advance(10_000);
    await stopping;
    await other.stop();
  };
  return { all, w, pieces, stopRival };
}

for (let seed = SEED || 1; seed < (SEED || SEEDS) + 1; seed += 1) {
  test(`[EX-W11] whatever comes, in weather ${seed}: each event ends once, and what is derived is of what stands`, async () => {
    const dir = mkdtempSync(join(tmpdir(), "tidemark-"));
    const { all, w, pieces, stopRival } = await weather(seed, dir);
    const watched = pieces.flatMap((piece) =>
      NODES.filter(() => all.below(5) < 2).map((node) => ({ piece, node })),
    );
    const watches = watched.map(({ piece, node }) => watchOf(piece, node));
    await w.owner.call("space.open", { space: w.space, watches });
    await w.settle();
    for (let step = 0; step < STEPS; step += 1) await all.step();
    await all.calm();
    // What it served last is this process's again, whose sessions it did not know.
    await stopRival();
    await w.write(w.owner, pieces[0] as DocId, "seen", []);
    await w.settle(5_000);

    for (const { piece, node } of watched) {
      expect([node, w.value(piece, node), all.log]).toEqual([
        node,
        derived(w, piece)[node],
        all.log,
      ]);
    }
    const commits = w.t.engines.get(w.space)?.commitsSince(0 as Seq) ?? [];
    const marks = commits.flatMap((commit) => commit.marks.map((mark) => mark.eventId));
    expect(marks.filter((id) => id.startsWith("w")).sort()).toEqual(
      all.fired.map(({ id }) => id).sort(),
    );
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 2);
    expect(
      w.reports.filter((one) => one.kind === "tenure-ended" && one.reason === "failed"),
    ).toEqual([]);

    // What rows vouch for is so: a fresh tenure shows it without having run it.
    await all.stop();
    await all.start();
    const everything = pieces.flatMap((piece) => NODES.map((node) => watchOf(piece, node)));
    await w.owner.call("space.open", { space: w.space, watches: everything });
    await w.settle(3_000);
    for (const piece of pieces) {
      const shown = Object.fromEntries(NODES.map((node) => [node, w.value(piece, node)]));
      expect([shown, all.log]).toEqual([derived(w, piece), all.log]);
    }
    await all.stop();
    await w.t.stop();
    rmSync(dir, { recursive: true });
  });
}
