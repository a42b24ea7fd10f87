import type { StreamEntry } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { DEFAULT_COMPACTION_POLICY, planCompaction, shedsPayload } from "../src/index.js";
import { at, entry } from "./kit.js";

const POLICY = { afterMs: 1_000, afterEntries: 2, maxEntries: 5 };

function consumed(count: number, appendedAt = 0): StreamEntry[] {
  return Array.from({ length: count }, (_, i) =>
    entry({ seq: at(i + 1), appendedAt, consequenced: true }),
  );
}

function removed(
  entries: readonly StreamEntry[],
  options: { now?: number; frontier?: number; policy?: typeof POLICY } = {},
): number[] {
  const { now = 1_000, frontier = 1_000, policy = POLICY } = options;
  return planCompaction({ entries, frontier: at(frontier), now, policy }).map((one) => one.seq);
}

test("[EV-C1] a consumed entry stays until it is old enough and newer ones stand behind it", () => {
  expect(removed(consumed(4))).toEqual([1, 2]);
  expect(removed(consumed(4), { now: 999 })).toEqual([]);
  expect(removed(consumed(2))).toEqual([]);
});

test("[EV-C2] so many newer entries let a young one go", () => {
  expect(removed(consumed(7), { now: 0 })).toEqual([1, 2]);
});

test("[EV-C3] an open entry, one above the frontier and one with an unresolved notice stay", () => {
  const open = entry({ seq: at(1), appendedAt: 0 });
  const notice = entry({
    seq: at(2),
    appendedAt: 0,
    consequenced: true,
    status: "needs-attention",
  });
  const rest = consumed(8).slice(2);

  expect(removed([open, notice, ...rest], { frontier: 4 })).toEqual([3, 4]);
  const resolved = { ...notice, resolved: true };
  const plan = planCompaction({
    entries: [open, resolved, ...rest],
    frontier: at(4),
    now: 1_000,
    policy: POLICY,
  });
  expect(plan.map((one) => one.seq)).toEqual([2, 3, 4]);
});

test("[EV-C4] the default policy is ten minutes with 64 newer entries, or 10,000 newer ones", () => {
  expect(DEFAULT_COMPACTION_POLICY).toEqual({
    afterMs: 600_000,
    afterEntries: 64,
    maxEntries: 10_000,
  });
});

test("[EV-C5] a consumed entry sheds its payload unless an unresolved notice needs it", () => {
  expect(shedsPayload(entry({ seq: at(1) }))).toBe(false);
  expect(shedsPayload(entry({ seq: at(1), consequenced: true }))).toBe(true);
  const notice = entry({ seq: at(1), consequenced: true, status: "needs-attention" });
  expect(shedsPayload(notice)).toBe(false);
  expect(shedsPayload({ ...notice, resolved: true })).toBe(true);
});
