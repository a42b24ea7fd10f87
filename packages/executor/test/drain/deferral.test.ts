import { expect, test } from "vitest";
import { spendDeferral, type Deferral } from "../../src/drain/deferral.js";
import { InFlightGuard } from "../../src/drain/guard.js";

const policy = { threshold: 8, backstopMs: 250 };

test("[EX-D6] attempts within one backstop cost nothing, however many", () => {
  let deferral: Deferral | undefined;
  for (let at = 0; at < 100; at += 1) {
    const step = spendDeferral(deferral, 1_000 + at, policy);
    expect(step.exhausted).toBe(false);
    deferral = step.deferral;
  }
  expect(deferral?.spent).toBe(1);
});

test("[EX-D6] the budget is spent by attempts a backstop apart: eight, then the drop", () => {
  let deferral: Deferral | undefined;
  const exhausted: boolean[] = [];
  for (let at = 0; at < 9; at += 1) {
    const step = spendDeferral(deferral, at * 250, policy);
    exhausted.push(step.exhausted);
    deferral = step.deferral;
  }
  expect(exhausted).toEqual([false, false, false, false, false, false, false, false, true]);
});

test("[EX-D7] the guard keeps an entry from its queueing until the store has spoken", () => {
  const guard = new InFlightGuard();
  guard.set("a", "queued");
  guard.set("a", "sealed");
  expect(guard.stateOf("a")).toBe("sealed");
  guard.release("a");
  expect([guard.stateOf("a"), guard.size]).toEqual([undefined, 0]);
});
