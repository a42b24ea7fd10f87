import { expect, test } from "vitest";
import { VerbRequest } from "../../src/lifecycle/request.js";
import { cycling } from "../support/cycling.js";
import { counter, counter2 } from "../support/patterns.js";

test("[EX-V8] a direct commit is forgotten once the replica has it and nothing older is undecided", async () => {
  const w = await cycling([counter, counter2]);
  const { parts, piece } = w;
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
  await w.end();
});
