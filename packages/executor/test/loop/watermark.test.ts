import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  SPACE_SCOPE_KEY,
  type AcceptedCommit,
  type DocId,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { CoverageKeeper } from "../../src/loop/coverage-keeper.js";
import { SpaceStats } from "../../src/stats/counters.js";
import {
  applyCommit,
  clampProof,
  consumeAdvance,
  discardProof,
  landOwn,
  nextWatermark,
  openCoverage,
  proveIdle,
  settleAdvance,
} from "../../src/loop/watermark.js";

const seq = (n: number) => n as Seq;
const fresh = openCoverage(seq(0), seq(0), []);

describe("coverage", () => {
  test("[EX-M1] input is covered once an idle scheduler has proved it, never before, and below a floor", () => {
    const applied = applyCommit(fresh, seq(5), false);
    expect(nextWatermark(applied)).toBe(0);
    expect(nextWatermark(proveIdle(applied, undefined))).toBe(5);
    expect(nextWatermark(proveIdle(applied, seq(4)))).toBe(3);
    expect(nextWatermark(discardProof(proveIdle(applied, undefined)))).toBe(0);
  });

  test("[EX-M2] a proven batch head is carried until a wave covers it, whatever came after", () => {
    const proven = proveIdle(applyCommit(fresh, seq(5), false), undefined);
    expect(nextWatermark(applyCommit(proven, seq(9), false))).toBe(5);
  });

  test("[EX-M3] the quiescence advance covers the own contiguous tail once and never chases itself", () => {
    const covered = landOwn(proveIdle(applyCommit(fresh, seq(1), false), undefined), {
      seq: seq(2),
      watermark: seq(1),
      content: true,
    });
    expect(settleAdvance(covered)).toBe(2);
    const advanced = consumeAdvance(covered, seq(2), seq(3));
    expect(settleAdvance(advanced)).toBeUndefined();
    expect(
      settleAdvance(landOwn(advanced, { seq: seq(4), watermark: seq(2), content: false })),
    ).toBeUndefined();
  });

  test("[EX-M3] what lands behind an advance owes another, which its own commit does not stop", () => {
    const answered = landOwn(consumeAdvance(fresh, seq(2), seq(3)), {
      seq: seq(4),
      watermark: seq(2),
      content: true,
    });
    expect(settleAdvance(answered)).toBe(4);
  });

  test("[EX-M11] what lands between the choice of an advance and its commit owes another", () => {
    const own = (n: number, content: boolean) => ({ seq: seq(n), watermark: seq(0), content });
    const owed = landOwn(fresh, own(1, true));
    const chosen = settleAdvance(owed);
    expect(chosen).toBe(1);
    const answered = landOwn(owed, own(2, true));
    const advanced = consumeAdvance(answered, seq(1), seq(3));
    expect(settleAdvance(advanced)).toBe(3);
    expect(settleAdvance(consumeAdvance(advanced, seq(3), seq(4)))).toBeUndefined();
    // A wave of basis rows that lands there owes none.
    const rows = consumeAdvance(landOwn(owed, own(2, false)), seq(1), seq(3));
    expect(settleAdvance(rows)).toBeUndefined();
  });

  test("[EX-M11] each advance that commits is counted, with another still owed too", () => {
    const stats = new SpaceStats();
    const store = { watermark: seq(0), head: seq(0), standing: [] };
    const keeper = new CoverageKeeper("s" as SpaceId, new VirtualClock(), stats, store);
    const commit = (n: number, changes: AcceptedCommit["changes"]): AcceptedCommit => ({
      seq: seq(n),
      class: "derived",
      at: 0,
      changes,
      appends: [],
      marks: [],
      frontiers: [],
    });
    const content = [
      { id: "node:a" as DocId, scopeKey: SPACE_SCOPE_KEY, op: { op: "delete" } },
    ] as const;
    keeper.landed(commit(1, content));
    keeper.landed(commit(2, content));
    keeper.advanced(commit(3, []), seq(1));
    expect(stats.settleAdvances).toEqual({ count: 1, lastDelta: 1 });
    expect(keeper.advance).toBe(3);
    keeper.advanced(commit(4, []), seq(3));
    expect(stats.settleAdvances).toEqual({ count: 2, lastDelta: 2 });
    expect(keeper.advance).toBeUndefined();
  });

  test("[EX-M9] an abort and the end of a tenure discard what was proven", () => {
    const store = { watermark: seq(4), head: seq(4), standing: [] };
    const keeper = new CoverageKeeper("s" as SpaceId, new VirtualClock(), new SpaceStats(), store);
    const input: AcceptedCommit = {
      seq: seq(5),
      class: "authored",
      at: 0,
      changes: [],
      appends: [],
      marks: [],
      frontiers: [],
    };
    keeper.applied(input, false);
    for (const end of [() => keeper.aborted(), () => keeper.leave()]) {
      keeper.idle(undefined);
      expect(keeper.next).toBe(5);
      end();
      expect(keeper.next).toBe(4);
    }
  });

  test("[EX-M12] a head that is carried is lowered below what a later cycle holds back, and no further", () => {
    const proven = proveIdle(applyCommit(fresh, seq(9), false), undefined);
    expect(nextWatermark(clampProof(proven, seq(6)))).toBe(5);
    expect(nextWatermark(clampProof(proven, seq(12)))).toBe(9);
    expect(nextWatermark(clampProof(proven, undefined))).toBe(9);
    const covered = landOwn(proven, { seq: seq(10), watermark: seq(8), content: true });
    expect(nextWatermark(clampProof(covered, seq(6)))).toBe(8);
  });

  test("[EX-M3] a seq of somebody else's above W stops the advance below it", () => {
    const landed = landOwn(fresh, { seq: seq(3), watermark: seq(0), content: true });
    expect(settleAdvance(landed)).toBeUndefined();
  });

  test("[EX-M4] a commit of basis rows or watermark alone arms no advance", () => {
    const landed = landOwn(fresh, { seq: seq(1), watermark: seq(0), content: false });
    expect(settleAdvance(landed)).toBeUndefined();
  });

  test("[EX-M5] a tenure takes over its predecessor's uncovered input and derived tail", () => {
    const inherited = openCoverage(seq(4), seq(6), [
      { seq: seq(5), derived: true, content: true },
      { seq: seq(6), derived: true, content: false },
    ]);
    expect(settleAdvance(inherited)).toBe(6);
    expect(nextWatermark(proveIdle(inherited, undefined))).toBe(4);
    const clean = openCoverage(seq(4), seq(5), [{ seq: seq(5), derived: true, content: false }]);
    expect(settleAdvance(clean)).toBeUndefined();
    const behind = openCoverage(seq(4), seq(5), [{ seq: seq(5), derived: false, content: true }]);
    expect(nextWatermark(proveIdle(behind, undefined))).toBe(5);
  });

  test("[EX-M6] whatever happens, W never goes back and never passes what was applied or landed", () => {
    const event = fc.constantFrom("input", "idle", "land", "abort", "advance");
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let coverage = fresh;
        let head = 0;
        for (const one of events) {
          const before = coverage.watermark;
          if (one === "input") coverage = applyCommit(coverage, seq((head += 1)), false);
          if (one === "idle") coverage = proveIdle(coverage, undefined);
          if (one === "abort") coverage = discardProof(coverage);
          if (one === "land") {
            const watermark = nextWatermark(coverage);
            coverage = landOwn(coverage, { seq: seq((head += 1)), watermark, content: true });
          }
          const to = one === "advance" ? settleAdvance(coverage) : undefined;
          if (to !== undefined) {
            head += 1;
            coverage = consumeAdvance(coverage, to, seq(head));
          }
          expect(coverage.watermark).toBeGreaterThanOrEqual(before);
          expect(coverage.watermark).toBeLessThanOrEqual(head);
        }
      }),
    );
  });
});
