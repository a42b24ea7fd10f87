import { describe, expect, test } from "vitest";
import { instanceKey, SPACE_SCOPE_KEY, type DocId } from "@tidemark/protocol";
import { DrainBench, stream } from "../support/drain-bench.js";

const nobody = { ok: false, reason: "nothing handles it" } as const;
const onItsWay = instanceKey("node:coming" as DocId, SPACE_SCOPE_KEY);

/** Two events of which nothing can run the first, and a pass over them. */
async function unrunnable(): Promise<DrainBench> {
  const bench = await DrainBench.create();
  bench.unhandled.set(stream("nobody"), nobody);
  await bench.append("e1", "nobody");
  await bench.append("e2");
  bench.follow();
  await bench.pass();
  return bench;
}

/** Lets the backstop pass, as often as the first event's budget has attempts left. */
async function spend(bench: DrainBench): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await bench.t.clock.advance(100);
    await bench.pass();
  }
}

describe("notices", () => {
  test("[EX-D13] a sealed notice releases nothing; a durable one does", async () => {
    const bench = await unrunnable();
    await spend(bench);
    expect(bench.events.dropped).toBe(1);
    bench.drain.arm();
    await bench.pass();
    expect(bench.ran).toEqual([]);
    bench.commit();
    await bench.pass();
    expect(bench.ran).toEqual(["e2"]);
    expect(bench.engine.entries.byEvent(stream("nobody"), "e1" as never)[0]).toMatchObject({
      status: "dropped",
      reason: "nothing handles it",
    });
    await bench.stop();
  });

  test("[EX-D13] one that does not land leaves its event pending and later ones held, and is decided again", async () => {
    const bench = await unrunnable();
    await spend(bench);
    bench.turnDown();
    await bench.pass();
    expect(bench.ran).toEqual([]);
    expect(bench.drain.floor).toBe(bench.engine.entries.pending()[0]?.seq);
    await bench.t.clock.advance(100);
    await bench.pass();
    expect(bench.events.dropped).toBe(2);
    bench.commit();
    await bench.pass();
    expect(bench.ran).toEqual(["e2"]);
    await bench.stop();
  });
});

describe("the guard", () => {
  test("[EX-D7] a wave that commits before its delivery has returned leaves nothing in flight", async () => {
    const bench = await DrainBench.create();
    let tell: () => void = () => undefined;
    bench.toldLate.set("e1", new Promise((go) => (tell = () => go({ kind: "sealed" }))));
    await bench.append("e1");
    bench.follow();
    await bench.drain.scan();
    const settled = bench.scheduler.settle();
    await bench.t.clock.drain();
    bench.commit();
    tell();
    await settled;
    bench.follow();
    await bench.pass();
    expect(bench.engine.entries.pending()).toEqual([]);
    expect(bench.drain.inFlight).toBe(0);
    expect(bench.drain.isEmpty).toBe(true);
    await bench.stop();
  });
});

describe("what is held", () => {
  test("[EX-D14] an entry behind an earlier pending one spends nothing and arms no backstop, however long", async () => {
    const bench = await DrainBench.create();
    bench.unhandled.set(stream("nobody"), nobody);
    let end: () => void = () => undefined;
    bench.results.set("e1", new Promise((go) => (end = () => go({ kind: "requeued" }))));
    await bench.append("e1");
    await bench.append("e2", "nobody");
    bench.follow();
    await bench.drain.scan();
    const settled = bench.scheduler.settle();
    for (let round = 0; round < 20; round += 1) {
      await bench.t.clock.advance(100);
      bench.drain.arm();
      await bench.drain.scan();
    }
    expect(bench.drain.timers).toBe(0);
    expect(bench.events).toMatchObject({ dropped: 0, deferredRescansArmed: 0 });
    expect(bench.events.arrivalHeldDeferrals).toBe(21);
    end();
    await settled;
    // Its budget is whole: the attempts count from here.
    bench.results.delete("e1");
    await bench.pass();
    bench.commit();
    await bench.pass();
    expect(bench.drain.timers).toBe(1);
    await spend(bench);
    expect(bench.events.dropped).toBe(1);
    await bench.stop();
  });

  test("[EX-D14] nor does a handler that did not run, while an earlier event's wave is open", async () => {
    const bench = await DrainBench.create();
    bench.results.set("e2", { kind: "not-run", reason: "its argument is not there" });
    await bench.append("e1");
    await bench.append("e2", "other");
    bench.follow();
    await bench.pass();
    expect(bench.ran).toEqual(["e1", "e2"]);
    expect(bench.drain.timers).toBe(0);
    expect(bench.events).toMatchObject({ handlerNotRunDeferrals: 1, arrivalHeldDeferrals: 1 });
    // The wave that commits the earlier one has it tried again, and now it is the earliest.
    bench.commit();
    await bench.pass();
    expect(bench.ran).toEqual(["e1", "e2", "e2"]);
    expect(bench.drain.timers).toBe(1);
    expect(bench.events).toMatchObject({ arrivalHeldDeferrals: 1, dropped: 0 });
    await spend(bench);
    expect(bench.events.dropped).toBe(1);
    await bench.stop();
  });

  test("[EX-D15][EX-D16] a handler that did not run takes back what the drain queued behind it, and no copy", async () => {
    const bench = await DrainBench.create();
    bench.results.set("e1", { kind: "not-run", reason: "its argument is not there" });
    await bench.append("e1");
    await bench.append("e2", "other");
    await bench.append("e3");
    bench.follow();
    await bench.drain.scan();
    bench.scheduler.queueEvent({ id: "copy 1:0", run: () => void bench.ran.push("copy") });
    await bench.scheduler.settle();
    expect(bench.ran).toEqual(["e1", "copy"]);
    expect(bench.events).toMatchObject({
      handlerNotRunDeferrals: 1,
      loadParkDeferrals: 2,
      arrivalHeldDeferrals: 0,
    });
    // The three come again, in their order.
    bench.results.clear();
    await bench.t.clock.advance(100);
    await bench.pass();
    expect(bench.ran).toEqual(["e1", "copy", "e1", "e2", "e3"]);
    await bench.stop();
  });

  test("[EX-D15][EX-D16] a load-parked head takes them back too, and a failed way to the seal", async () => {
    for (const kind of ["load-parked", "failed"] as const) {
      const bench = await DrainBench.create();
      bench.results.set("e1", { kind, on: onItsWay, failed: true });
      await bench.append("e1");
      await bench.append("e2", "other");
      bench.follow();
      await bench.drain.scan();
      bench.scheduler.queueEvent({ id: "copy 1:0", run: () => void bench.ran.push("copy") });
      await bench.scheduler.settle();
      expect(bench.ran).toEqual(["e1", "copy"]);
      const parked = kind === "load-parked";
      expect(bench.events).toMatchObject({
        loadParkDeferrals: parked ? 2 : 0,
        loadParkFailures: parked ? 1 : 0,
        arrivalHeldDeferrals: 0,
      });
      await bench.stop();
    }
  });

  test.each([
    { kind: "not-run", reason: "its argument is not there" },
    { kind: "load-parked", on: onItsWay, failed: false },
    { kind: "failed" },
    { kind: "requeued" },
  ] as const)(
    "[EX-D19] a pass that is held at its gate queues nothing behind an earlier event that ended as $kind meanwhile",
    async (end) => {
      const bench = await DrainBench.create();
      let tell: () => void = () => undefined;
      bench.results.set("e1", new Promise((go) => (tell = () => go(end))));
      const first = await bench.append("e1");
      bench.follow();
      await bench.drain.scan();
      const settled = bench.scheduler.settle();
      await bench.append("e2", "other");
      await bench.append("e3");
      bench.follow();
      bench.t.gates.hold("drain:before-queue");
      const scanning = bench.drain.scan();
      await bench.t.clock.drain();
      tell();
      await settled;
      bench.t.gates.release("drain:before-queue");
      await scanning;
      await bench.scheduler.settle();
      expect(bench.ran).toEqual(["e1"]);
      expect(bench.drain.floor).toBe(first);
      bench.results.clear();
      bench.drain.arm();
      await bench.pass();
      expect(bench.ran).toEqual(["e1", "e1", "e2", "e3"]);
      await bench.stop();
    },
  );

  test("[EX-D16] held arrivals are counted with what holds them: a head that nothing runs, or its load", async () => {
    const bench = await unrunnable();
    expect(bench.events).toMatchObject({ arrivalHeldDeferrals: 1, loadParkDeferrals: 0 });
    bench.unhandled.set(stream("nobody"), { ...nobody, load: { on: onItsWay, error: undefined } });
    bench.drain.arm();
    await bench.pass();
    expect(bench.events).toMatchObject({
      arrivalHeldDeferrals: 1,
      loadParkDeferrals: 2,
      loadParkFailures: 0,
    });
    bench.unhandled.set(stream("nobody"), { ...nobody, load: { on: onItsWay, error: "no" } });
    bench.drain.arm();
    await bench.pass();
    expect(bench.events).toMatchObject({ loadParkDeferrals: 4, loadParkFailures: 1 });
    await bench.stop();
  });
});

describe("the backstop", () => {
  test("[EX-D17] one stands at a time, and both its arming and its firing are counted", async () => {
    const bench = await unrunnable();
    bench.drain.arm();
    await bench.pass();
    expect(bench.events).toMatchObject({ deferredRescansArmed: 1, deferredRescansFired: 0 });
    expect(bench.drain.timers).toBe(1);
    const before = bench.wakes;
    await bench.t.clock.advance(100);
    expect(bench.events).toMatchObject({ deferredRescansArmed: 1, deferredRescansFired: 1 });
    expect(bench.wakes).toBe(before + 1);
    await bench.pass();
    expect(bench.events.deferredRescansArmed).toBe(2);
    await bench.stop();
  });

  test("[EX-D17] the end of the tenure takes it away, and a deferral that comes behind the end arms none", async () => {
    const bench = await unrunnable();
    expect(bench.drain.timers).toBe(1);
    bench.drain.close();
    await bench.t.clock.advance(10_000);
    expect(bench.drain.timers).toBe(0);
    // Its reads may find the lease gone, and end the tenure.
    bench.onPrepare = () => void (bench.live = false);
    bench.drain.arm();
    await bench.pass();
    expect(bench.drain.timers).toBe(0);
    expect(bench.events).toMatchObject({ deferredRescansArmed: 1, deferredRescansFired: 0 });
    await bench.stop();
  });
});
