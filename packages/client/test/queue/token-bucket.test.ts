import * as fc from "fast-check";
import { expect, test } from "vitest";
import { TokenBucket } from "../../src/queue/token-bucket.js";

test("[CL-Q4] a bucket lets a burst go at once and then its rate, and says how long the next has to wait", () => {
  const bucket = new TokenBucket({ burst: 3, ratePerSecond: 20 }, 0);
  expect([bucket.take(0), bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(bucket.waitMs(0)).toBe(50);
  expect(bucket.take(49)).toBe(false);
  expect(bucket.take(50)).toBe(true);
  expect(bucket.take(50)).toBe(false);
});

test("[CL-Q4] over any schedule no more leaves than the burst and the rate allow, and a wait is never wrong", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(120), { minLength: 1, maxLength: 200 }), (gaps) => {
      const bucket = new TokenBucket({ burst: 5, ratePerSecond: 20 }, 0);
      let now = 0;
      let taken = 0;
      for (const gap of gaps) {
        now += gap;
        const wait = bucket.waitMs(now);
        expect(bucket.take(now)).toBe(wait === 0);
        if (wait === 0) taken += 1;
        expect(taken).toBeLessThanOrEqual(5 + (now * 20) / 1000 + 1e-6);
      }
    }),
  );
});

test("[CL-Q4] an infinite rate is no pacing", () => {
  const bucket = new TokenBucket({ burst: 1, ratePerSecond: Infinity }, 0);
  for (let n = 0; n < 100; n += 1) expect(bucket.take(0)).toBe(true);
});
