import { expect, test } from "vitest";
import type { Seq } from "@tidemark/protocol";
import { counter } from "../support/patterns.js";
import { DrainBench } from "../support/drain-bench.js";
import { createWorld } from "../support/world.js";

test("[EX-D11][EX-D18] an entry that the replica has not seen is queued once one attempt has brought it, not before", async () => {
  const bench = await DrainBench.create();
  await bench.append("e1");
  await bench.append("e2");
  await bench.pass();
  expect(bench.ran).toEqual(["e1", "e2"]);
  expect(bench.events).toMatchObject({
    visibilityBarriers: 1,
    visibilityRecoveries: 2,
    visibilityDeferrals: 0,
  });
  // What the replica has seen needs no attempt.
  await bench.append("e3");
  bench.follow();
  bench.drain.arm();
  await bench.pass();
  expect(bench.ran).toEqual(["e1", "e2", "e3"]);
  expect(bench.events.visibilityBarriers).toBe(1);
  await bench.stop();
});

test("[EX-D11] what the attempt finds ended is not dispatched, and is no recovery", async () => {
  const bench = await DrainBench.create();
  await bench.append("e1");
  bench.catchUp = () => {
    bench.consumedElsewhere();
    bench.follow();
  };
  await bench.pass();
  expect(bench.ran).toEqual([]);
  expect(bench.events).toMatchObject({ visibilityBarriers: 1, visibilityRecoveries: 0 });
  expect(bench.drain.floor).toBeUndefined();
  await bench.stop();
});

test("[EX-D11] nor is what a barrier brought and a later one brought the end of", async () => {
  const bench = await DrainBench.create();
  await bench.pass();
  await bench.append("e1");
  await bench.append("e2");
  bench.follow();
  bench.consumedElsewhere();
  bench.follow();
  await bench.append("e3");
  bench.follow();
  await bench.pass();
  expect(bench.ran).toEqual(["e3"]);
  await bench.stop();
});

test("[EX-D12][EX-D18] an attempt in vain defers the entry and every later arrival, of whatever stream, until a scan afresh", async () => {
  const bench = await DrainBench.create();
  await bench.append("e1");
  bench.follow();
  const hidden = await bench.append("e2", "other");
  await bench.append("e3");
  let attempts = 0;
  bench.catchUp = () => void (attempts += 1);
  bench.drain.arm();
  await bench.pass();
  expect(bench.ran).toEqual(["e1"]);
  expect(attempts).toBe(1);
  expect(bench.drain.floor).toBe(hidden);
  expect(bench.events).toMatchObject({
    visibilityBarriers: 1,
    visibilityRecoveries: 0,
    visibilityDeferrals: 1,
  });
  // Waiting is no new attempt; the backstop is, and it spends nothing of a deferral budget.
  await bench.pass();
  expect(attempts).toBe(1);
  for (let round = 0; round < 5; round += 1) {
    await bench.t.clock.advance(100);
    await bench.pass();
  }
  expect(attempts).toBe(6);
  expect(bench.events.dropped).toBe(0);
  // Input is another reason to look again.
  bench.catchUp = () => undefined;
  bench.follow();
  await bench.pass();
  expect(bench.ran).toEqual(["e1", "e2", "e3"]);
  expect(bench.drain.floor).toBeUndefined();
  await bench.stop();
});

test("[EX-D12] there is one attempt a pass: what arrives behind it waits for the next", async () => {
  const bench = await DrainBench.create();
  await bench.append("e1");
  let attempts = 0;
  bench.catchUp = () => {
    attempts += 1;
    bench.follow();
    bench.appendAtOnce("late");
  };
  await bench.pass();
  expect([bench.ran, attempts]).toEqual([["e1"], 1]);
  expect(bench.drain.floor).toBe(bench.engine.head());
  expect(bench.events).toMatchObject({ visibilityRecoveries: 1, visibilityDeferrals: 1 });
  bench.follow();
  await bench.pass();
  expect([bench.ran, attempts]).toEqual([["e1", "late"], 1]);
  await bench.stop();
});

test("[EX-M7] W stays below an event that no pass has taken yet, behind a full pass too", async () => {
  const w = await createWorld({ patterns: [counter], started: false });
  const piece = await w.create(counter);
  for (let at = 0; at < 520; at += 1) await w.fire(w.owner, piece, "inc");
  w.host.start();
  await w.settle();
  expect(w.value(piece, "count")).toBe(520);
  const waves = w.t.engines
    .get(w.space)
    ?.commitsSince(0 as Seq)
    .filter((one) => (one.consequenceOf ?? []).length > 0);
  expect(waves?.map((one) => one.consequenceOf?.length)).toEqual([512, 8]);
  const [first, second] = waves ?? [];
  const inputs = (first?.seq ?? 0) - 1;
  expect(first?.watermark).toBe(inputs - 8);
  expect(second?.watermark).toBe(inputs);
  await w.stop();
});

test("[EX-M7] nor above anything before the first pass of a tenure, nor above an event that its wave gave back", async () => {
  const bench = await DrainBench.create();
  expect(bench.drain.floor).toBe(1);
  const seq = await bench.append("e1");
  bench.follow();
  await bench.pass();
  expect(bench.drain.floor).toBeUndefined();
  bench.turnDown();
  expect(bench.drain.floor).toBe(seq);
  await bench.pass();
  expect(bench.drain.floor).toBeUndefined();
  bench.drain.restart();
  expect(bench.drain.floor).toBe(1);
  await bench.stop();
});
