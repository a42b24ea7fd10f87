import { beforeEach, describe, expect, test } from "vitest";
import {
  instanceKey,
  SPACE_SCOPE_KEY,
  userScopeKey,
  type DocId,
  type InstanceKey,
  type Principal,
} from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { DemandPass } from "../../src/loop/demand-pass.js";
import { SpaceStats } from "../../src/stats/counters.js";

const key = (name: string): InstanceKey => instanceKey(`node:${name}` as DocId, SPACE_SCOPE_KEY);
const share = (...keys: InstanceKey[]) => ({ actor: {}, keys: new Set(keys) });

/** A pass over the sessions that a test sets, and a graph that keeps what it is told. */
class Bench {
  readonly stats = new SpaceStats();
  readonly clock = new VirtualClock();
  readonly sessions = new Map<string, ReturnType<typeof share>>();
  readonly roots = new Set<InstanceKey>();
  readonly loaded: DocId[] = [];
  /** Documents whose writers have yet to run. */
  readonly stale = new Set<InstanceKey>();
  refuses: DocId | undefined;
  #enters = 0;
  #leaves = 0;
  staying = true;
  /** Virtual milliseconds of one root's structure. */
  loadMs = 0;
  pass = this.open();

  /** A new tenure's pass, over a graph of its own. */
  open(): DemandPass {
    this.roots.clear();
    [this.#enters, this.#leaves] = [0, 0];
    const bench = this.#graph();
    return new DemandPass({
      served: { demand: () => new Map(this.sessions) },
      scheduler: bench,
      structure: {
        demand: (id) => {
          this.loaded.push(id);
          this.clock.spend(this.loadMs);
        },
        leave: (id) => {
          if (id === this.refuses) throw new Error("the graph is broken");
        },
      },
      clock: this.clock,
      sliceMs: 16,
      stats: this.stats,
      staying: () => this.staying,
    });
  }

  async run(deadlineAt = Number.POSITIVE_INFINITY): Promise<void> {
    await Promise.all([this.pass.run(deadlineAt), this.clock.drain()]);
  }

  #graph(): ConstructorParameters<typeof DemandPass>[0]["scheduler"] {
    const counts = { enters: () => this.#enters, leaves: () => this.#leaves };
    return {
      demand: (one, on) => {
        if (on) this.roots.add(one);
        else this.roots.delete(one);
        if (on) this.#enters += 1;
        else this.#leaves += 1;
      },
      isStale: (one) => this.stale.has(one),
      get stats() {
        return { demandRootEnters: counts.enters(), demandRootLeaves: counts.leaves() } as never;
      },
    };
  }
}

let b: Bench;
beforeEach(() => {
  b = new Bench();
});

describe("the demand pass", () => {
  test("[EX-N6] gauges show the closure it saw: rows by session, instances, pairs and writers, with their peaks", async () => {
    b.sessions.set("ana", share(key("x"), key("y"), key("z")));
    b.sessions.set("ben", share(key("y"), key("z")));
    b.pass.warm([key("w")]);
    await b.run();
    expect(b.stats.demand).toMatchObject({
      demandedRows: 5,
      demandedInstances: 4,
      demandedInstancesMax: 4,
      demandedPairs: 5,
      demandedWriters: 4,
      demandedWritersMax: 4,
    });
    b.sessions.delete("ana");
    b.pass.arm();
    await b.run();
    expect(b.stats.demand).toMatchObject({
      demandedRows: 2,
      demandedInstances: 3,
      demandedInstancesMax: 4,
      demandedPairs: 2,
      demandedWriters: 3,
      demandedWritersMax: 4,
    });
    expect([...b.roots].sort()).toEqual([key("w"), key("y"), key("z")]);
  });

  test("[EX-N7] root transitions accumulate over the tenures of a space", async () => {
    b.sessions.set("ana", share(key("x"), key("y")));
    await b.run();
    b.pass.leave();
    b.pass = b.open();
    await b.run();
    expect(b.stats.demand).toMatchObject({
      demandRootEnters: 4,
      demandRootLeaves: 2,
      demandedWriters: 2,
      demandedWritersMax: 2,
    });
  });

  test("[EX-N8] passes are counted, with the time that they took and the keys that they compared", async () => {
    b.loadMs = 10;
    const ana = share(key("x"), key("y"));
    b.sessions.set("ana", ana);
    await b.run();
    expect(b.stats.demand).toMatchObject({
      demandPasses: 1,
      demandPassMs: 20,
      demandKeysReconciled: 2,
    });
    // Not armed, there is no pass; over the shares that it holds, a pass compares no key.
    await b.run();
    expect(b.stats.demand.demandPasses).toBe(1);
    b.pass.arm();
    await b.run();
    expect(b.stats.demand).toMatchObject({ demandPasses: 2, demandKeysReconciled: 2 });
    // The same set in another object is compared, and moves nothing.
    b.sessions.set("ana", share(...ana.keys));
    b.pass.arm();
    await b.run();
    expect([b.stats.demand.demandKeysReconciled, b.loaded.length]).toEqual([2, 2]);
  });

  test("[EX-N8] a reconcile that throws partway adds nothing", async () => {
    b.sessions.set("ana", share(key("x"), key("y")));
    await b.run();
    b.refuses = "node:x" as DocId;
    b.sessions.set("ana", share(key("z")));
    b.pass.arm();
    await expect(b.run()).rejects.toThrow("the graph is broken");
    expect(b.stats.demand).toMatchObject({ demandPasses: 1, demandKeysReconciled: 2 });
    // Such a throw ends the tenure, and the next one compares every key.
    b.refuses = undefined;
    b.pass = b.open();
    await b.run();
    expect(b.stats.demand).toMatchObject({ demandPasses: 2, demandKeysReconciled: 3 });
    expect([...b.roots]).toEqual([key("z")]);
  });

  test("[EX-N9] root addresses are counted by pass: the demanded instance, and the space's beside a scoped one", async () => {
    const mine = instanceKey("node:x" as DocId, userScopeKey("did:key:ana" as Principal));
    const stream = instanceKey("stream:s" as DocId, SPACE_SCOPE_KEY);
    b.sessions.set("ana", share(mine, key("y"), stream));
    await b.run();
    expect(b.stats.demand.structureRootsPreloaded).toBe(3);
  });

  test("[EX-N10] what enters with a writer that has yet to run is counted, once; what stands is not", async () => {
    b.stale.add(key("x")).add(key("z"));
    b.sessions.set("ana", share(key("x"), key("y")));
    await b.run();
    expect(b.stats.demand.notCurrentRearms).toBe(1);
    // Somebody else's demand for the same arms nothing, whatever the writer owes.
    b.sessions.set("ben", share(key("x"), key("y")));
    b.pass.arm();
    await b.run();
    expect(b.stats.demand.notCurrentRearms).toBe(1);
    b.stale.delete(key("x"));
    b.sessions.set("cy", share(key("z")));
    b.pass.arm();
    await b.run();
    expect(b.stats.demand.notCurrentRearms).toBe(2);
  });

  test("[EX-N11] a notice that comes while a pass is under way brings another behind it", async () => {
    b.loadMs = 20;
    b.sessions.set("ana", share(key("x"), key("y")));
    const under = b.pass.run(Number.POSITIVE_INFINITY);
    expect(b.loaded).toEqual(["node:x"]);
    b.sessions.set("ben", share(key("z")));
    b.pass.arm();
    await Promise.all([under, b.clock.drain()]);
    expect([b.pass.isArmed, b.roots.has(key("z"))]).toEqual([true, false]);
    await b.run();
    expect([b.pass.isArmed, b.roots.has(key("z"))]).toEqual([false, true]);
    expect(b.stats.demand.demandPasses).toBe(2);
  });

  test("[EX-Q9] what its deadline left is entered by the next call, unless it has been left meanwhile", async () => {
    b.loadMs = 10;
    b.sessions.set("ana", share(key("a"), key("b"), key("c"), key("d")));
    await b.run(b.clock.monotonic() + 15);
    expect([b.roots.size, b.pass.isCut, b.pass.isArmed]).toEqual([2, true, true]);
    b.sessions.set("ana", share(key("a"), key("b"), key("d")));
    b.pass.arm();
    await b.run();
    expect([...b.roots].sort()).toEqual([key("a"), key("b"), key("d")]);
    expect([b.pass.isCut, b.pass.isArmed]).toEqual([false, false]);
    expect(b.loaded).toEqual(["node:a", "node:b", "node:d"]);
  });
});
