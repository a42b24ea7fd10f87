import {
  instanceKey,
  type ActionId,
  type DocId,
  type HolderId,
  type InstanceKey,
  type JsonValue,
  type ScopeKey,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { pendingValue, storedMemo, type EffectRequest } from "@tidemark/runtime";
import { describe, expect, test } from "vitest";
import { EgressBudget } from "../../src/effects/budget.js";
import { completionOf, type Completion } from "../../src/effects/completion.js";
import { CompletionStep } from "../../src/effects/completion-step.js";
import { EffectOutbox, type EffectOutboxOptions } from "../../src/effects/outbox.js";
import { requestsOf } from "../../src/effects/requests.js";
import { CoverageKeeper } from "../../src/loop/coverage-keeper.js";
import { SpaceStats } from "../../src/stats/counters.js";
import { ManualPerformer } from "../../src/testing/index.js";
import { Wave, WaveAccumulator, type Draft } from "../../src/wave/accumulator.js";
import type { Contribution } from "../../src/wave/contribution.js";
import { planWave, type WavePlan } from "../../src/wave/plan.js";

const TARGET = instanceKey("node:data" as DocId, "space" as ScopeKey);

function requestOf(key: string, target: InstanceKey = TARGET): EffectRequest {
  return { builtIn: "fetchData", key, target, request: { url: key } };
}

/** A run that asks, as the wave has it. */
function asking(id: number, key: string, more: Partial<Contribution> = {}): Contribution {
  return {
    id,
    kind: "derivation",
    action: "p/data@piece:x" as ActionId,
    instance: "space" as ScopeKey,
    basis: 0 as Seq,
    reads: [],
    elided: [],
    writes: [{ key: TARGET, op: { op: "set", value: pendingValue(key) } }],
    sends: [],
    effect: requestOf(key),
    layer: { ops: new Map() },
    ...more,
  };
}

function planOf(contributions: readonly Contribution[], intruded = false): WavePlan {
  const theirs = { seq: 5 as Seq, op: { op: "set" as const, value: 1 }, authored: true };
  return planWave(contributions, {
    intrusions: () => (intruded ? [theirs] : []),
    head: () => 0 as Seq,
    read: () => ({ value: undefined, seq: 0 as Seq }),
  });
}

interface Rig {
  readonly outbox: EffectOutbox;
  readonly performer: ManualPerformer;
  readonly landed: Completion[];
  readonly woken: () => number;
  /** Selects a request in the store. */
  select(key: string): void;
  ask(key: string, id?: number): void;
  blocked: boolean;
}

function rig(more: Partial<EffectOutboxOptions> = {}): Rig {
  const performer = new ManualPerformer();
  const landed: Completion[] = [];
  let selected: JsonValue | undefined;
  let woken = 0;
  const clock = new VirtualClock();
  const outbox = new EffectOutbox({
    space: "did:key:x" as SpaceId,
    clock,
    stats: new SpaceStats(),
    performers: { fetchData: performer },
    budget: new EgressBudget(clock, { maxOutstanding: 0, ratePerSecond: 0 }),
    completions: {
      waits: () => self.blocked,
      land: (completion) => {
        landed.push(completion);
        return Promise.resolve("lands");
      },
    },
    pass: () => undefined,
    wake: () => {
      woken += 1;
    },
    selected: () => storedMemo(selected),
    stands: () => true,
    reportFailure: () => undefined,
    ...more,
  });
  const self: Rig = {
    outbox,
    performer,
    landed,
    woken: () => woken,
    select: (key) => {
      selected = pendingValue(key);
    },
    ask: (key, id = 1) => {
      self.select(key);
      const asked = [asking(id, key)];
      outbox.take(asked, planOf(asked));
    },
    blocked: false,
  };
  outbox.open();
  return self;
}

describe("the queue", () => {
  test("[EX-O11] an answer that waits keeps its place and its key", async () => {
    const r = rig();
    r.ask("a");
    r.performer.answer(1);
    await settled();
    expect([r.outbox.due, r.woken()]).toEqual([true, 1]);
    r.blocked = true;
    await r.outbox.land();
    expect([r.landed.length, r.outbox.due, r.outbox.held]).toEqual([0, true, 1]);

    r.ask("a", 2);
    expect(r.performer.calls).toHaveLength(1);
    r.blocked = false;
    await r.outbox.land();
    expect([r.landed.length, r.outbox.due, r.outbox.held]).toEqual([1, false, 0]);
  });

  test("[EX-O7] an answer that stands at a gate when the tenure ends is nobody's", async () => {
    let release: () => void = () => undefined;
    const r = rig({
      pass: (gate) =>
        gate === "effect:before-completion"
          ? new Promise<void>((resolve) => (release = resolve))
          : undefined,
    });
    r.ask("a");
    r.performer.answer(1);
    await settled();
    r.outbox.close();
    release();
    await settled();
    expect([r.outbox.due, r.outbox.held, r.woken()]).toEqual([false, 0, 0]);
  });

  test("[EX-O7] a closed queue takes nothing, and one that is opened again begins afresh", () => {
    const r = rig();
    r.ask("a");
    r.outbox.close();
    expect([r.outbox.abandoned, r.performer.outstanding().length]).toEqual([true, 0]);
    r.ask("b");
    expect(r.performer.calls).toHaveLength(1);
    r.outbox.open();
    expect(r.outbox.abandoned).toBe(false);
    r.ask("b");
    expect(r.performer.outstanding()).toHaveLength(1);
  });

  test("[EX-O6] of two runs that ask, the one whose node stands lends its identity", async () => {
    const standing = new Set(["second"]);
    const told: string[] = [];
    const r = rig({
      stands: ({ action }) => standing.has(action),
      reportFailure: (_builtIn, { action }) => told.push(action),
    });
    r.select("a");
    const asked = ["first", "second"].map((action, id) =>
      asking(id, "a", { action: action as ActionId }),
    );
    r.outbox.take(asked, planOf(asked));
    r.performer.fail("odd");
    await settled();
    expect(told).toEqual(["second"]);

    standing.clear();
    const alone = [asking(3, "b", { action: "third" as ActionId })];
    r.select("b");
    r.outbox.take(alone, planOf(alone));
    expect([r.performer.calls.length, r.outbox.held]).toEqual([1, 1]);
  });

  test("[EX-O8] a request that is refused at its gate gives its place back", async () => {
    const clock = new VirtualClock();
    const budget = new EgressBudget(clock, { maxOutstanding: 1, ratePerSecond: 0 });
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let passes = 0;
    const r = rig({ budget, pass: () => (passes++ === 0 ? held : undefined) });
    r.ask("a");
    r.ask("b");
    expect(r.performer.calls).toHaveLength(0);
    release();
    await settled();
    expect(r.performer.calls.map(({ key }) => key)).toEqual(["b"]);
    expect(budget.outstanding).toBe(1);
  });

  test("[EX-O19] a call that a tenure's end cut off is counted neither way", async () => {
    const stats = new SpaceStats();
    const r = rig({ stats });
    r.ask("a");
    expect(stats.memo.inflight).toBe(1);
    r.outbox.close();
    await settled();
    expect(stats.outbox).toMatchObject({ queued: 1, completed: 0, failed: 0, landing: 0 });
    expect(stats.memo.inflight).toBe(0);
  });

  test("[EX-O12] what is only part of the key is not sent", () => {
    const r = rig();
    r.select("a");
    const asked = [
      asking(1, "a", { effect: { ...requestOf("a"), request: { url: "u", again: 1 } } }),
    ];
    r.outbox.take(asked, planOf(asked));
    expect(r.performer.calls[0]?.request).toEqual({ url: "u" });
  });
});

describe("what a wave asks for", () => {
  test("[EX-O5] runs that land ask, those that are withdrawn or lost their marker do not", () => {
    const plain = asking(1, "a");
    expect(requestsOf([plain], planOf([plain])).map(({ request }) => request.key)).toEqual(["a"]);
    expect(requestsOf([plain], planOf([plain], true))).toEqual([]);
    const withdrawn: WavePlan = {
      ...planOf([plain]),
      fates: new Map([[1, { kind: "withdrawn", reason: "read-withdrawn" }]]),
    };
    expect(requestsOf([plain], withdrawn)).toEqual([]);
  });

  test("[EX-O10] a wave that asks and writes nothing is closed all the same", () => {
    const wave = new Wave();
    wave.contributions.push(asking(1, "a", { writes: [], elided: [TARGET] }));
    expect(wave.hasContent).toBe(true);
  });
});

describe("the commit of an answer", () => {
  function step(live: boolean) {
    const stats = new SpaceStats();
    const accumulator = new WaveAccumulator({
      seq: 0 as Seq,
      get: () => ({ value: undefined, seq: 0 as Seq }),
      accept: () => undefined,
    });
    const space = "did:key:x" as SpaceId;
    const start = { watermark: 0 as Seq, head: 0 as Seq, standing: [] };
    const completions = new CompletionStep({
      served: {
        commitDerived: () => {
          throw new Error("the store was asked");
        },
      },
      holder: "server/one" as HolderId,
      accumulator,
      coverage: new CoverageKeeper(space, new VirtualClock(), stats, start),
      scheduler: { notify: () => undefined },
      stats,
      pass: () => undefined,
      live: () => live,
      confirmLease: () => true,
    });
    return { accumulator, completions };
  }

  const completion = completionOf(
    requestOf("a"),
    { action: "p/data@piece:x" as ActionId, instance: "space" as ScopeKey },
    { ok: true, value: 1 },
  );

  test("[EX-O11] it waits while a sealed write lies over its document", () => {
    const { accumulator, completions } = step(true);
    expect(completions.waits(completion)).toBe(false);
    const { id: _id, basis: _basis, layer: _layer, ...draft } = asking(1, "b");
    accumulator.seal(draft satisfies Draft);
    expect(completions.waits(completion)).toBe(true);
    accumulator.abort(accumulator.close());
    expect(completions.waits(completion)).toBe(false);
  });

  test("[EX-O7] a tenure that is over asks the store for nothing", async () => {
    const { completions } = step(false);
    await expect(completions.land(completion)).rejects.toMatchObject({ reason: "lapse" });
  });
});

/** Lets what promises hold go on. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
