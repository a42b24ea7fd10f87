import { describe, expect, test } from "vitest";
import { seededRandom } from "@tidemark/protocol";
import { activationDelay } from "../../src/host/backoff.js";
import { holderOf } from "../../src/host/holder.js";
import { afterPark, meetsCriteria } from "../../src/host/park.js";
import { resolvePolicy } from "../../src/policy.js";

describe("activation", () => {
  test("[EX-H10] delays double per consecutive failure park, up to the cap", () => {
    const policy = { baseMs: 100, capMs: 1_600 };
    expect([0, 1, 2, 3, 4, 5, 6, 1_000].map((n) => activationDelay(n, policy))).toEqual([
      0, 100, 200, 400, 800, 1_600, 1_600, 1_600,
    ]);
  });

  test("[EX-H11] each end has its consequence: idle clears, a rival is left alone, failures count and look again", () => {
    expect(afterPark("idle", 3)).toEqual({ failures: 0, reevaluate: true });
    expect(afterPark("rival", 3)).toEqual({ failures: 3, reevaluate: false });
    expect(afterPark("stopped", 3)).toEqual({ failures: 3, reevaluate: false });
    expect(afterPark("lapse", 3)).toEqual({ failures: 4, reevaluate: true });
    expect(afterPark("failed", 3)).toEqual({ failures: 4, reevaluate: true });
  });

  test("[EX-H12] a session, an undelivered event, a warm request, a verb that nobody has received or an unreadable store makes a space active", () => {
    const none = { liveSessions: 0, undelivered: false, warmRequests: 0, verbs: 0 } as const;
    expect(meetsCriteria(none)).toBe(false);
    expect(meetsCriteria({ ...none, liveSessions: 1 })).toBe(true);
    expect(meetsCriteria({ ...none, undelivered: true })).toBe(true);
    expect(meetsCriteria({ ...none, undelivered: "unknown" })).toBe(true);
    expect(meetsCriteria({ ...none, warmRequests: 1 })).toBe(true);
    expect(meetsCriteria({ ...none, verbs: 1 })).toBe(true);
  });

  test("[EX-H13] a knob that is no number of at least 0, or no boolean where it is a switch, is refused by name", () => {
    expect(() => resolvePolicy({ flushDeadlineMs: -1 })).toThrow(/flushDeadlineMs/);
    expect(() => resolvePolicy({ idleParkMs: Number.NaN })).toThrow(/idleParkMs/);
    expect(resolvePolicy({ idleParkMs: 5 }).idleParkMs).toBe(5);
    expect(() => resolvePolicy({ storeReadThrough: 1 as never })).toThrow(/storeReadThrough/);
    expect(() => resolvePolicy({ idleParkMs: true as never })).toThrow(/idleParkMs/);
    expect(resolvePolicy({ storeReadThrough: true }).storeReadThrough).toBe(true);
  });
});

describe("the holder", () => {
  test("[EX-H25] names the service and a process: the same for every lease of a host, another for every host", () => {
    const random = seededRandom(1);
    const [one, two] = [holderOf("tidemark", random), holderOf("tidemark", random)];
    expect(one).toMatch(/^tidemark\/[0-9a-f]{24}$/u);
    expect(two).not.toBe(one);
  });
});
