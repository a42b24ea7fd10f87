import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Seq } from "@tidemark/protocol";
import {
  applyCommit,
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
