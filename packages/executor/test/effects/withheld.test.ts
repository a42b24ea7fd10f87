import type { JsonValue } from "@tidemark/protocol";
import { cell, computed, fetchData, pattern, sqliteQuery } from "@tidemark/runtime";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { EffectError, type EffectPerformer } from "../../src/index.js";
import { ManualPerformer } from "../../src/testing/index.js";
import { fetching, io, nameOf, page } from "../support/effects.js";
import { createHost, createWorld } from "../support/world.js";

describe("what is not sent", () => {
  test("[EX-O5] a wave that is lost sends nothing, and the next tenure sends once", async () => {
    const w = await fetching();
    w.performer.answer("one");
    await w.settle();
    w.t.gates.fail("wave:before-commit", io);
    await w.ask("2", 0);
    expect(w.performer.calls).toHaveLength(1);
    await w.settle(5_000);
    expect(w.outstanding()).toEqual(["2"]);
    await w.stop();
  });

  test("[EX-O5] a run whose marker lost to another's write sends nothing; the run after it does", async () => {
    const w = await fetching();
    w.performer.answer("one");
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    await w.ask("2");
    await w.write(w.owner, w.piece, "data", "scribble");
    w.t.gates.hold("wave:before-commit");
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(w.performer.calls).toHaveLength(1);
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(w.outstanding()).toEqual(["2"]);
    await w.stop();
  });

  test("[EX-O7] a wave that still commits behind its tenure's end asks for nothing", async () => {
    const w = await fetching();
    w.performer.answer("one");
    await w.settle();
    const { memo, outbox } = w.host.spaceStats(w.space);
    w.t.gates.hold("wave:before-commit");
    await w.ask("2", 0);
    const stopping = w.host.stop();
    await w.t.run();
    w.t.gates.release("wave:before-commit");
    await w.t.clock.advance(10_000);
    await stopping;
    expect(w.value(w.piece, "data")).toMatchObject({ pending: true });
    expect(w.performer.calls.map(nameOf)).toEqual(["1"]);
    const after = w.host.spaceStats(w.space);
    expect([after.outbox.queued, after.memo.inflight]).toEqual([outbox.queued, memo.inflight]);
    await w.t.stop();
  });

  test("[EX-O6] a request that was given up while it waited at the gate does not leave", async () => {
    const w = await fetching();
    w.t.gates.hold("effect:before-dispatch");
    await w.ask("2");
    await w.ask("3");
    w.t.gates.release("effect:before-dispatch");
    await w.settle();
    expect(w.outstanding()).toEqual(["1", "3"]);
    expect(w.performer.calls.map(nameOf)).toEqual(["1", "3"]);
    await w.stop();
  });

  test("[EX-O6] nor does one whose document came to hold a settled answer to its key meanwhile", async () => {
    const w = await fetching();
    w.performer.answer("one");
    await w.settle();
    w.t.gates.hold("effect:before-dispatch");
    await w.ask("2");
    const { requestHash } = w.value(w.piece, "data") as { readonly requestHash: string };
    await w.write(w.owner, w.piece, "data", { pending: false, result: "theirs", requestHash });
    await w.settle();
    w.t.gates.release("effect:before-dispatch");
    await w.settle();
    expect(w.performer.calls.map(nameOf)).toEqual(["1"]);
    expect([w.value(w.piece, "body"), w.host.spaceStats(w.space).memo.inflight]).toEqual([
      "theirs",
      0,
    ]);
    await w.stop();
  });

  test("[EX-O6] a request leaves under the first attachment whose node still stands", async () => {
    const again = pattern({
      id: "again",
      version: "1",
      build: () => {
        const url = cell("url", z.string(), { default: "1" });
        const data = fetchData("data", () => ({ url: `https://x.test/${url.get()}` }));
        return { url, data, body: computed("body", () => data.get()?.result ?? null) };
      },
    });
    const w = await fetching({ patterns: [page, again], policy2: { maxOutstandingEffects: 1 } });
    await w.ask("2");
    const next = { ...(w.t.engines.get(w.space)?.read(w.piece, "space" as never).value as object) };
    await w.owner.commit(w.space, {
      ops: [
        { op: "set", id: w.piece, value: { ...next, pattern: { id: "again", version: "1" } } },
      ] as never,
    });
    await w.settle();
    expect(w.host.spaceStats(w.space).outbox.queued).toBe(2);
    w.performer.answer("one");
    await w.settle();
    expect(w.outstanding()).toEqual(["2"]);
    w.performer.answer("two");
    await w.settle();
    expect(w.value(w.piece, "body")).toBe("two");
    await w.stop();
  });

  test("[EX-O7] a tenure that ends drops what it holds and cuts off what is out; late answers are nobody's", async () => {
    const w = await fetching({
      policy2: { maxOutstandingEffects: 1, parkedRuntimeRetentionMs: 0 },
    });
    const [first] = w.performer.calls;
    await w.ask("2");
    w.t.gates.fail("feed:before-apply", io);
    await w.ask("3", 0);
    expect(first?.signal.aborted).toBe(true);
    expect(w.performer.outstanding()).toEqual([]);
    await w.settle(10_000);
    expect(w.performer.calls.map(nameOf)).toEqual(["1", "3"]);
    expect(w.host.spaceStats(w.space).memo.inflight).toBe(1);
    w.performer.answer("three");
    await w.settle();
    expect(w.value(w.piece, "body")).toBe("three");
    await w.stop();
  });

  test("[EX-O7] a stop sends nothing more, though a call settles while it is under way", async () => {
    const w = await fetching({ policy2: { maxOutstandingEffects: 1 } });
    await w.ask("2");
    w.t.gates.hold("park:before");
    const stopping = w.host.stop();
    await w.settle(0);
    expect(w.performer.calls).toHaveLength(1);
    expect(w.host.held(w.space)).toBe(0);
    w.t.gates.open();
    await w.settle(10_000);
    await stopping;
    expect(w.performer.calls).toHaveLength(1);
    await w.t.stop();
  });

  test("[EX-O7] a stop that waits for its cycle sends nothing more, though a call settles meanwhile", async () => {
    const w = await fetching({ policy2: { maxOutstandingEffects: 1 } });
    await w.ask("2");
    w.t.gates.hold("wave:before-commit");
    await w.write(w.owner, w.piece, "n", 1);
    await w.settle(0);
    const [first] = w.performer.outstanding();
    const stopping = w.host.stop();
    expect(first?.signal.aborted).toBe(true);
    await w.settle(0);
    expect(w.performer.calls).toHaveLength(1);
    w.t.gates.open();
    await w.settle(10_000);
    await stopping;
    expect(w.performer.calls).toHaveLength(1);
    await w.t.stop();
  });

  test("[EX-O7] an idle park over a call keeps no runtime, and the next tenure asks again", async () => {
    const w = await fetching();
    await w.owner.call("space.close", { space: w.space });
    await w.settle(40_000);
    expect(w.host.isActive(w.space)).toBe(false);
    expect(w.outstanding()).toEqual([]);
    expect(w.host.spaceStats(w.space).parkedRuntimes.retained).toBe(0);

    await w.open(w.owner, w.piece, ["body"]);
    await w.settle();
    expect(w.outstanding()).toEqual(["1"]);
    await w.stop();
  });
});

describe("budgets", () => {
  test("[EX-O8] beyond the cap requests wait their turn, each counted once, and local ones do not", async () => {
    const rows = pattern({
      id: "rows",
      version: "1",
      build: () => {
        const ask = (name: string) => sqliteQuery(name, () => ({ statement: `select '${name}'` }));
        const far = (name: string) => fetchData(name, () => ({ url: `https://x.test/${name}` }));
        return {
          a: ask("a"),
          b: ask("b"),
          c: ask("c"),
          one: far("one"),
          two: far("two"),
          three: far("three"),
          four: far("four"),
        };
      },
    });
    const near = new ManualPerformer();
    const far = new ManualPerformer();
    const w = await createWorld({
      patterns: [rows],
      effects: { sqliteQuery: near, fetchData: far },
      policy2: { maxOutstandingEffects: 2 },
    });
    const piece = await w.create(rows);
    await w.open(w.owner, piece, ["a", "b", "c", "one", "two", "three", "four"]);
    await w.settle();
    expect(near.outstanding()).toHaveLength(3);
    expect(far.outstanding().map(nameOf)).toEqual(["one", "two"]);
    expect(w.host.spaceStats(w.space).outbox).toMatchObject({ queued: 7, budgetDeferrals: 2 });

    far.fail(new EffectError("gone", { kind: "network" }));
    await w.settle();
    expect(far.outstanding().map(nameOf)).toEqual(["two", "three"]);
    far.answer(2);
    await w.settle();
    expect(far.outstanding().map(nameOf)).toEqual(["three", "four"]);
    expect(w.host.spaceStats(w.space).outbox).toMatchObject({
      queued: 7,
      budgetDeferrals: 2,
      completed: 1,
      failed: 1,
    });
    await w.stop();
  });

  test("[EX-O9] a paced space leaves a timer while it holds something, and none after", async () => {
    const w = await fetching({ policy2: { egressRatePerSecond: 1 } });
    const timers = w.t.clock.pendingTimers();
    await w.ask("2", 0);
    expect(w.outstanding()).toEqual(["1"]);
    expect(w.host.held(w.space)).toBe(3);
    await w.settle(1_000);
    expect(w.outstanding()).toEqual(["1", "2"]);
    w.performer.answer(1);
    w.performer.answer(2);
    await w.settle();
    expect(w.host.held(w.space)).toBe(0);
    expect(w.t.clock.pendingTimers()).toBeLessThanOrEqual(timers);
    await w.stop();
  });

  test("[EX-O18] the budget is the space's, whichever tenure serves it", async () => {
    const deaf: EffectPerformer & { calls: number } = {
      calls: 0,
      perform: () => {
        deaf.calls += 1;
        return new Promise<JsonValue>(() => undefined);
      },
    };
    const w = await fetching({
      effects: { fetchData: deaf },
      policy2: { maxOutstandingEffects: 1, activationBackoffMs: 1 },
    });
    expect(deaf.calls).toBe(1);
    for (const url of ["2", "3"]) {
      w.t.gates.fail("feed:before-apply", io);
      await w.ask(url, 5_000);
    }
    expect(deaf.calls).toBe(1);
    expect(w.host.spaceStats(w.space).outbox.budgetDeferrals).toBe(2);
    await w.stop();
  });
});

describe("recovery", () => {
  test.each(["effect:before-dispatch", "effect:before-completion"] as const)(
    "[EX-O10] what stands at %s when its process ends is a marker, and the next one asks again",
    async (gate) => {
      const w = await fetching();
      w.performer.answer("one");
      await w.settle();
      w.t.gates.hold(gate);
      await w.ask("2");
      w.performer.answer("two");
      await w.settle();
      expect(w.value(w.piece, "data")).toMatchObject({ pending: true });

      const stopping = w.host.stop();
      await w.t.clock.advance(20_000);
      await stopping;
      const performer = new ManualPerformer();
      const next = createHost(w.t, { patterns: [page], effects: { fetchData: performer } }, [], 9);
      next.start();
      await w.settle(20_000);
      expect(performer.outstanding().map(nameOf)).toEqual(["2"]);
      performer.answer("two");
      await w.settle();
      expect(w.value(w.piece, "body")).toBe("two");
      const ending = next.stop();
      await w.t.clock.advance(20_000);
      await ending;
      await w.t.stop();
    },
  );

  test("[EX-O10] a failing gate costs the tenure, and the next one asks again", async () => {
    for (const gate of ["effect:before-dispatch", "effect:before-completion"] as const) {
      const w = await fetching();
      w.performer.answer("one");
      await w.settle();
      w.t.gates.fail(gate, io);
      await w.ask("2", 0);
      w.performer.answer("two");
      await w.settle(5_000);
      expect(w.outstanding()).toEqual(["2"]);
      w.performer.answer("two");
      await w.settle();
      expect(w.value(w.piece, "body")).toBe("two");
      expect(w.reports.map(({ kind }) => kind)).toContain("tenure-failed");
      await w.stop();
    }
  });

  test("[EX-O10] an answer that is durable is not asked for again, though its tenure fails behind it", async () => {
    const w = await fetching();
    w.t.gates.fail("effect:after-completion", io);
    w.performer.answer("one");
    await w.settle(5_000);
    expect(w.value(w.piece, "body")).toBe("one");
    expect(w.performer.calls).toHaveLength(1);
    await w.stop();
  });
});
