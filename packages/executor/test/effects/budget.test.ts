import { VirtualClock } from "@tidemark/protocol/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  EgressBudget,
  openEgress,
  returnEgress,
  settleEgress,
  takeEgress,
  type EgressLimits,
} from "../../src/effects/budget.js";
import {
  DEFAULT_MAX_OUTSTANDING_EFFECTS,
  GUARDED_EGRESS_RATE,
  readEgressSettings,
  type EgressEnvironment,
} from "../../src/effects/settings.js";

describe("what may leave", () => {
  test("[EX-O8] as many calls leave as are allowed, and another one as each settles", () => {
    const budget = new EgressBudget(new VirtualClock(), { maxOutstanding: 2, ratePerSecond: 0 });
    const freed: number[] = [];
    budget.listen(() => freed.push(budget.outstanding));
    expect([budget.take().go, budget.take().go]).toEqual([true, true]);
    expect(budget.take()).toEqual({ go: false, waitMs: undefined });

    budget.settled();
    expect(budget.take().go).toBe(true);
    budget.giveBack();
    expect(budget.take().go).toBe(true);
    expect(budget.take().go).toBe(false);
    expect(freed).toEqual([1, 1]);
  });

  test("[EX-O9] one second's calls leave at once, and then one as each is due", async () => {
    const clock = new VirtualClock();
    const budget = new EgressBudget(clock, { maxOutstanding: 0, ratePerSecond: 20 });
    const burst = Array.from({ length: 22 }, () => budget.take().go);
    expect(burst.filter(Boolean)).toHaveLength(20);
    expect(budget.take()).toEqual({ go: false, waitMs: 50 });
    await clock.advance(50);
    expect(budget.take().go).toBe(true);
    expect(budget.take()).toEqual({ go: false, waitMs: 50 });
    await clock.advance(3_600_000);
    const later = Array.from({ length: 30 }, () => budget.take().go);
    expect(later.filter(Boolean)).toHaveLength(20);
  });

  test("[EX-O9] a rate below one a second lets one call through at a time", () => {
    const limits = { maxOutstanding: 0, ratePerSecond: 0.25 };
    const first = takeEgress(openEgress(limits, 0), limits, 0);
    expect(first.go).toBe(true);
    if (!first.go) return;
    expect(takeEgress(first.state, limits, 0)).toEqual({ go: false, waitMs: 4_000 });
    expect(takeEgress(first.state, limits, 4_000).go).toBe(true);
  });

  test("[EX-O9] whatever comes, no window of time sees more than its burst and its rate", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("take" as const) }),
      fc.record({ kind: fc.constant("settle" as const) }),
      fc.record({ kind: fc.constant("return" as const) }),
      fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 3_000 }) }),
    );
    const limit = fc.record({
      maxOutstanding: fc.integer({ min: 0, max: 4 }),
      ratePerSecond: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(limit, fc.array(step, { maxLength: 80 }), (limits: EgressLimits, steps) => {
        let state = openEgress(limits, 0);
        let now = 0;
        const out: number[] = [];
        const left: number[] = [];
        for (const one of steps) {
          if (one.kind === "wait") now += one.ms;
          if (one.kind === "settle" && out.pop() !== undefined) state = settleEgress(state);
          if (one.kind === "return" && out.pop() !== undefined) {
            state = returnEgress(state, limits);
            left.pop();
          }
          if (one.kind !== "take") continue;
          const decision = takeEgress(state, limits, now);
          if (!decision.go) continue;
          state = decision.state;
          out.push(now);
          left.push(now);
        }
        expect(state.outstanding).toBe(out.length);
        if (limits.maxOutstanding > 0)
          expect(out.length).toBeLessThanOrEqual(limits.maxOutstanding);
        for (const from of left) {
          const within = left.filter((at) => at >= from && at < from + 1_000).length;
          expect(within).toBeLessThanOrEqual(2 * limits.ratePerSecond);
        }
      }),
    );
  });
});

describe("what an operator sets", () => {
  const read = (env: EgressEnvironment) => {
    const warnings: string[] = [];
    const settings = readEgressSettings(env, (message) => warnings.push(message));
    return { ...settings, warnings };
  };

  test("[EX-O21] what is not set is the default", () => {
    const unset = {
      maxOutstandingEffects: DEFAULT_MAX_OUTSTANDING_EFFECTS,
      egressRatePerSecond: 0,
      warnings: [],
    };
    expect(read({})).toEqual(unset);
    expect(
      read({
        SERVER_EXECUTION_MAX_OUTSTANDING_EFFECTS: "",
        SERVER_EXECUTION_EGRESS_RATE_PER_S: undefined,
      }),
    ).toEqual(unset);
    expect(DEFAULT_MAX_OUTSTANDING_EFFECTS).toBe(16);
  });

  test("[EX-O21] numbers are taken, and the literal 0 alone takes a bound away", () => {
    const set = read({
      SERVER_EXECUTION_MAX_OUTSTANDING_EFFECTS: "3",
      SERVER_EXECUTION_EGRESS_RATE_PER_S: "0.5",
    });
    expect(set).toMatchObject({ maxOutstandingEffects: 3, egressRatePerSecond: 0.5, warnings: [] });
    const open = read({
      SERVER_EXECUTION_MAX_OUTSTANDING_EFFECTS: "0",
      SERVER_EXECUTION_EGRESS_RATE_PER_S: "0",
    });
    expect(open).toMatchObject({ maxOutstandingEffects: 0, egressRatePerSecond: 0, warnings: [] });
  });

  test.each([
    "-1",
    "1e9",
    "NaN",
    "Infinity",
    "two",
    " 0",
    "0.0",
    "00",
    "0x10",
    "16,",
    "9".repeat(400),
  ])("[EX-O21] what cannot be read leaves a bound and is told: %s", (text) => {
    const set = read({
      SERVER_EXECUTION_MAX_OUTSTANDING_EFFECTS: text,
      SERVER_EXECUTION_EGRESS_RATE_PER_S: text,
    });
    expect(set.maxOutstandingEffects).toBe(DEFAULT_MAX_OUTSTANDING_EFFECTS);
    expect(set.egressRatePerSecond).toBe(GUARDED_EGRESS_RATE);
    expect(set.warnings).toHaveLength(2);
    expect(set.warnings[0]).toMatch(/^SERVER_EXECUTION_MAX_OUTSTANDING_EFFECTS is .* 16 is used$/u);
  });
});
