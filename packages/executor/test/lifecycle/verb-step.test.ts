import { expect, test } from "vitest";
import { VerbRequest } from "../../src/lifecycle/request.js";
import type { TenureHooks } from "../../src/tenure/binding.js";
import { TenureParts } from "../../src/tenure/parts.js";
import { counter, counter2 } from "../support/patterns.js";
import { createWorld, tenureOptions } from "../support/world.js";

/** A tenure that goes on. */
const HOOKS: TenureHooks = {
  wake: () => undefined,
  live: () => true,
  staying: () => true,
  onYield: () => undefined,
  confirmLease: () => true,
  leaseLives: () => true,
};

test("[EX-V8] a direct commit is forgotten once the replica has it and nothing older is undecided", async () => {
  const w = await createWorld({ patterns: [counter], started: false });
  const piece = await w.create(counter);
  const options = tenureOptions(w.t, w.space, [counter, counter2]);
  options.served.engine.lease.acquire(options.holder, 60_000);
  const parts = new TenureParts(options);
  parts.enter(HOOKS);
  const principal = w.owner.identity.did;
  const request = new VerbRequest(w.space, { verb: "setsrc", principal, piece, pattern: counter2 });
  parts.verbs.add(request);
  await parts.loop.cycle();
  const { seq } = await request.answer;
  const { direct } = parts.accumulator;
  // The replica takes it in at the next barrier, from the feed.
  expect([direct.has(seq), parts.replica.seq < seq]).toEqual([true, true]);
  await parts.loop.cycle();
  expect([direct.isEmpty, parts.replica.seq >= seq]).toEqual([true, true]);
  parts.leave();
  await w.stop();
});
