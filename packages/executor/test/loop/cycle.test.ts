import { describe, expect, test } from "vitest";
import { VerbRequest } from "../../src/lifecycle/request.js";
import { ManualPerformer } from "../../src/testing/index.js";
import type { CycleEnd } from "../../src/loop/loop.js";
import { cycling, scripted, type Cycling } from "../support/cycling.js";
import { page } from "../support/effects.js";
import { counter, counter2 } from "../support/patterns.js";

/** A cycle that an event on its way to its body outlasts: it seals and commits nothing. */
async function idleCycle(w: Cycling, meanwhile: () => void): Promise<CycleEnd> {
  w.t.gates.hold("handler:before-run");
  await w.fire(w.owner, w.piece, "inc");
  const cycle = w.parts.loop.cycle();
  await w.t.run();
  expect(w.t.gates.waiting("handler:before-run")).toBe(1);
  meanwhile();
  await w.t.clock.advance(1_000);
  return cycle;
}

describe("a cycle that leaves nothing to commit and nothing to take in", () => {
  test("[EX-O1] asks for another where an answer has come in the middle of it, and for none otherwise", async () => {
    const performer = new ManualPerformer();
    const w = await cycling([page], ["body"], { fetchData: performer });
    await w.rest();
    expect(await idleCycle(w, () => undefined)).toEqual({ again: false, atRest: false });
    w.t.gates.open();
    await w.rest();
    expect(await idleCycle(w, () => performer.answer("one"))).toEqual({
      again: true,
      atRest: false,
    });
    w.t.gates.open();
    await w.rest();
    expect(w.value(w.piece, "body")).toBe("one");
    await w.end();
  });

  test("[EX-V1] asks for another where a verb has come in the middle of it", async () => {
    const w = await cycling([counter, counter2], ["double"]);
    await w.rest();
    const principal = w.owner.identity.did;
    const { piece } = w;
    const verb = { verb: "setsrc", principal, piece, pattern: counter2 } as const;
    const request = new VerbRequest(w.space, verb);
    const end = await idleCycle(w, () => w.parts.verbs.add(request));
    expect(end).toEqual({ again: true, atRest: false });
    w.t.gates.open();
    await w.rest();
    expect((await request.answer).changed).toBe(true);
    await w.end();
  });
});

test("[EX-M12] a floor that has come between the proof and the wave's close holds W below it, until it lifts", async () => {
  const w = await cycling([counter], ["double"]);
  await w.rest();
  const input = await w.write(w.owner, w.piece, "count", 4);
  // Read with the proof at the cycle's beginning and at its end, and once more as the wave closes.
  scripted(w.parts.drain, "floor", [undefined, undefined, input, input]);
  await w.parts.loop.cycle();
  expect([w.value(w.piece, "double"), w.watermark()]).toEqual([8, input - 1]);
  scripted(w.parts.drain, "floor", [undefined]);
  await w.rest();
  expect(w.watermark()).toBeGreaterThanOrEqual(input);
  await w.end();
});
