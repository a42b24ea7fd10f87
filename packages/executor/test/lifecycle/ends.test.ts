import { beforeEach, describe, expect, test } from "vitest";
import {
  StorageError,
  type DocId,
  type GateName,
  type HolderId,
  type SpaceId,
} from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import type { NotServedError } from "../../src/index.js";
import { createHost, createWorld, type World, type WorldOptions } from "../support/world.js";
import { counter, counter2, lab } from "../support/patterns.js";
import {
  ask,
  create,
  document,
  engineOf,
  setsrc,
  THE_PIECE,
  type Asked,
} from "../support/verbs.js";

beforeEach(() => {
  lab.runs.clear();
  lab.doors.clear();
});

const PATTERNS = [counter, counter2];
const did = (w: World) => w.owner.identity.did;
const io = (): StorageError => new StorageError("disk on fire", { kind: "io" });
const world = (options: Partial<WorldOptions> = {}) =>
  createWorld({ patterns: PATTERNS, ...options });
const activations = (w: World) => w.t.gates.arrivals("activate:after-lease");
const notServed = (reason: string) => ({ code: "not-served", details: { reason } });

/** Lets a stop's own timers come. */
async function stopped(w: World, host = w.host): Promise<void> {
  const stopping = host.stop();
  await w.t.clock.advance(10_000);
  await stopping;
}

describe("a tenure that ends before the verb's wave", () => {
  test("[EX-V11] of a failed activation refuses it as not served, and the verb re-activates nothing", async () => {
    const w = await world();
    w.t.gates.fail("activate:after-lease", io);
    const asked = ask(w, create(did(w), counter));
    await w.settle(60_000);
    expect(asked.error).toMatchObject(notServed("failed"));
    expect((asked.error as Error).cause).toMatchObject({ code: "storage" });
    expect([activations(w), w.host.isActive(w.space)]).toEqual([1, false]);
    const again = ask(w, create(did(w), counter));
    await w.settle();
    expect(again.result?.changed).toBe(true);
    await w.stop();
  });

  test("[EX-V11] of a store that does not open refuses it, too", async () => {
    const w = await world();
    const open = w.t.server.space.bind(w.t.server);
    Object.assign(w.t.server, {
      space: () => {
        throw io();
      },
    });
    const asked = ask(w, create(did(w), counter));
    await w.settle();
    expect(asked.error).toMatchObject(notServed("failed"));
    Object.assign(w.t.server, { space: open });
    await w.settle(60_000);
    expect(activations(w)).toBe(0);
    await w.stop();
  });

  test("[EX-V11] on a rival's lease refuses it, and leaves the space to the rival", async () => {
    const w = await world();
    engineOf(w).lease.acquire("server:rival" as HolderId, 60_000);
    const asked = ask(w, create(did(w), counter));
    await w.settle(30_000);
    expect(asked.error).toMatchObject(notServed("rival"));
    expect([activations(w), document(w, THE_PIECE)]).toEqual([0, undefined]);
    await w.stop();
  });

  test("[EX-V11] at a stop refuses what has not run, and what comes after it", async () => {
    const w = await world();
    w.t.gates.hold("activate:after-lease");
    const asked = ask(w, create(did(w), counter));
    await w.t.run();
    const stopping = stopped(w);
    await w.t.run();
    w.t.gates.open();
    await stopping;
    expect(asked.error).toMatchObject(notServed("stopped"));
    const late = ask(w, create(did(w), counter));
    await w.t.run();
    expect(late.error).toMatchObject(notServed("stopped"));
    await w.t.stop();
  });

  test("[EX-V11] at a stop lets the cycle that runs it commit, and answers it", async () => {
    const w = await world();
    w.t.gates.hold("wave:before-commit");
    const asked = ask(w, create(did(w), counter));
    await w.t.run();
    const stopping = w.host.stop();
    await w.t.run();
    w.t.gates.open();
    await w.t.run();
    await stopping;
    expect([asked.result?.changed, document(w, THE_PIECE) === undefined]).toEqual([true, false]);
    await w.t.stop();
  });

  test("[EX-V11] behind a body that never ends refuses it at the stop's deadline", async () => {
    const w = await world();
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    const asked = ask(w, create(did(w), counter));
    await w.t.run();
    await stopped(w);
    expect(asked.error).toMatchObject(notServed("stopped"));
    w.t.gates.open();
    await w.t.run();
    await w.t.stop();
  });
});

describe("a verb that comes while no tenure takes it", () => {
  /** A space whose tenure is on its way out, held at a gate. */
  async function parking(): Promise<World> {
    const w = await world();
    w.host.warm(w.space);
    await w.settle();
    w.t.gates.hold("park:before");
    await w.settle(120_000);
    expect(w.t.gates.waiting("park:before")).toBe(1);
    return w;
  }

  test("[EX-V12] during a park is the successor's, which is activated for it", async () => {
    const w = await parking();
    const asked = ask(w, create(did(w), counter));
    await w.t.run();
    expect([asked.result, activations(w)]).toEqual([undefined, 1]);
    w.t.gates.release("park:before");
    await w.settle();
    expect([asked.result?.changed, activations(w)]).toEqual([true, 2]);
    await w.stop();
  });

  test("[EX-V12] during a park is refused by the stop that comes first", async () => {
    const w = await parking();
    const asked = ask(w, create(did(w), counter));
    await w.t.run();
    const stopping = stopped(w);
    await w.t.run();
    expect(asked.error).toMatchObject(notServed("stopped"));
    w.t.gates.open();
    await stopping;
    await w.t.stop();
  });

  test("[EX-V12] during a backoff waits for its end", async () => {
    const w = await world({ policy2: { activationBackoffMs: 400 } });
    w.t.gates.fail("activate:after-lease", io);
    ask(w, create(did(w), counter));
    await w.t.run();
    const asked = ask(w, create(did(w), counter));
    await w.t.clock.advance(399);
    expect([asked.result, activations(w)]).toEqual([undefined, 1]);
    await w.settle();
    expect([asked.result?.changed, activations(w)]).toEqual([true, 2]);
    await w.stop();
  });

  test("[EX-V12] during a park on a rival's lease makes one attempt of its own", async () => {
    const w = await world({ patterns: PATTERNS });
    w.t.gates.hold("dispose:before");
    w.host.warm(w.space);
    await w.settle();
    // The lease is lost to a rival under the tenure: a re-acquire is refused.
    const { lease } = engineOf(w);
    lease.release(w.host.holder);
    lease.acquire("server:rival" as HolderId, 20_000);
    await w.t.clock.advance(6_000);
    expect(w.t.gates.waiting("dispose:before")).toBe(1);
    const asked = ask(w, create(did(w), counter));
    w.t.gates.open();
    await w.t.run();
    expect(asked.error).toMatchObject(notServed("rival"));
    await w.stop();
  });
});

describe("a process that dies", () => {
  interface Death {
    readonly w: World;
    readonly asked: Asked;
    readonly rival: ReturnType<typeof createHost>;
  }

  /** Held at a gate until its lease has run out, and another process serves. */
  async function deadAt(
    gate: GateName,
    verb: (w: World) => Parameters<typeof ask>[1],
    w: World,
  ): Promise<Death> {
    w.t.gates.hold(gate);
    w.t.gates.hold("lease:before-renew", { times: 10 });
    const asked = ask(w, verb(w));
    await w.t.run();
    expect(w.t.gates.waiting(gate)).toBe(1);
    await w.t.clock.advance(20_000);
    const rival = createHost(w.t, { patterns: PATTERNS }, [], 8);
    rival.start();
    await w.t.run();
    expect(asked.result).toBeUndefined();
    return { w, asked, rival };
  }

  async function over({ w, rival }: Death): Promise<void> {
    w.t.gates.open();
    await w.settle(5_000);
    await stopped(w, rival);
    await w.stop();
  }

  const made = (w: World) => engineOf(w).history(THE_PIECE, "space" as never).length;

  test.each([
    ["wave:before-commit", { before: 0, changed: true }],
    ["wave:after-commit", { before: 1, changed: false }],
  ] as const)(
    "[EX-V13] at %s has created once, for whoever asks again under the cause",
    async (gate, { before, changed }) => {
      const w = await world();
      const death = await deadAt(gate, () => create(did(w), counter), w);
      expect(made(w)).toBe(before);
      const again = ask(w, create(did(w), counter), death.rival);
      await w.t.run();
      expect([again.result?.changed, made(w)]).toEqual([changed, 1]);
      w.t.gates.open();
      await w.settle(5_000);
      // The first process finds out, and does nothing more: what it answers is what became of its wave.
      expect(made(w)).toBe(1);
      if (changed) expect(death.asked.error).toMatchObject(notServed("rival"));
      else expect(death.asked.result).toMatchObject({ seq: again.result?.seq, changed: true });
      await over(death);
    },
  );

  test.each([["verb:after-commit"], ["wave:before-commit"], ["wave:after-commit"]] as const)(
    "[EX-V13] at %s has moved the pointer once, and the new pattern derives",
    async (gate) => {
      const w = await world();
      const piece: DocId = await w.create(counter);
      await w.open(w.owner, piece, ["double"]);
      await w.write(w.owner, piece, "count", 4);
      await w.settle();
      const before = w.head();
      const verb = setsrc(did(w), piece, counter2, { cause: "rollout" });
      const death = await deadAt(gate, () => verb, w);
      const again = ask(w, verb, death.rival);
      await w.t.run();
      expect(again.result).toEqual({ seq: before + 1, piece, changed: false });
      expect(w.value(piece, "double")).toBe(12);
      w.t.gates.open();
      await w.settle(5_000);
      const moves = engineOf(w)
        .commitsSince(before)
        .filter(({ changes }) => changes.some(({ id }) => id === piece));
      expect(moves).toHaveLength(1);
      // What it had done before it died is told, with the refusal or as the answer.
      const told = (death.asked.error as NotServedError | undefined)?.landed;
      expect(told ?? death.asked.result?.seq).toBe(before + 1);
      expect(death.asked.result === undefined).toBe(gate !== "wave:after-commit");
      await over(death);
    },
  );

  test("[EX-V13] that only stood still behind the direct commit goes on, under the row that it asked for again", async () => {
    const clock = new VirtualClock();
    const child = clock.child({ name: "host" });
    const w = await world({ clock, hostClock: child });
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["double"]);
    await w.write(w.owner, piece, "count", 4);
    await w.settle();
    w.t.gates.hold("verb:after-commit");
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.t.run();
    child.suspend();
    await clock.advance(20_000);
    child.resume();
    await clock.advance(1);
    expect(w.host.spaceStats(w.space).lease).toEqual({ held: 1, lost: 1 });
    w.t.gates.release("verb:after-commit");
    await w.settle();
    expect([asked.result?.changed, w.value(piece, "double")]).toEqual([true, 12]);
    expect(activations(w)).toBe(1);
    await w.stop();
  });

  test("[EX-V13] an I/O error behind the direct commit ends the tenure, and the next one derives what stands", async () => {
    const w = await world();
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["double"]);
    await w.write(w.owner, piece, "count", 4);
    await w.settle();
    const before = w.head();
    w.t.gates.fail("verb:after-commit", io);
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.settle(5_000);
    expect(asked.error).toMatchObject({
      code: "not-served",
      details: { reason: "failed", landed: before + 1 },
    });
    expect([w.value(piece, "double"), activations(w)]).toEqual([12, 2]);
    await w.stop();
  });

  test("[EX-V11] an I/O error behind a creation's wave names the commit that stands", async () => {
    const w = await world();
    const before = w.head();
    w.t.gates.fail("wave:after-commit", io);
    const asked = ask(w, create(did(w), counter));
    await w.settle(5_000);
    expect(asked.error).toMatchObject({
      code: "not-served",
      details: { reason: "failed", landed: before + 1 },
    });
    expect(document(w, THE_PIECE)).toBeDefined();
    await w.stop();
  });

  test("[EX-V13] a direct commit that the store fails leaves the pointer and the old graph", async () => {
    const w = await world();
    const piece = await w.create(counter);
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    const served = w.t.server.space(w.space as SpaceId);
    const commitDirect = served.commitDirect.bind(served);
    Object.assign(served, { commitDirect: () => ({ ok: false, error: io() }) });
    const head = w.head();
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.t.run();
    expect(asked.error).toMatchObject(notServed("failed"));
    expect(asked.error).not.toHaveProperty("details.landed");
    Object.assign(served, { commitDirect });
    await w.settle(5_000);
    expect(w.head()).toBe(head);
    await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect(w.value(piece, "double")).toBe(2);
    await w.stop();
  });
});
