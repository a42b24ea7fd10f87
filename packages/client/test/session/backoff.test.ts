import { seededRandom } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { backoffDelayMs } from "../../src/session/backoff.js";

const POLICY = { baseMs: 250, capMs: 4000, minLifetimeMs: 5000 };

test("[CL-S3] delays grow to the cap and spread over at least half of it", () => {
  const random = seededRandom(1);
  const of = (attempt: number): number[] =>
    Array.from({ length: 1000 }, () => backoffDelayMs(attempt, POLICY, random));
  expect(Math.max(...of(0))).toBeLessThanOrEqual(250);
  expect(Math.min(...of(0))).toBeGreaterThanOrEqual(125);
  for (const attempt of [4, 12, 100_000]) {
    const delays = of(attempt);
    expect(Math.min(...delays)).toBeLessThan(2100);
    expect(Math.max(...delays)).toBeGreaterThan(3900);
    expect(Math.max(...delays)).toBeLessThanOrEqual(4000);
    const buckets = new Set(delays.map((ms) => Math.floor((ms - 2000) / 200)));
    expect(buckets.size).toBe(10);
  }
});
