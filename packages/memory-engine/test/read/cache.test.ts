import { expect, test } from "vitest";
import { TwoGenerationCache } from "../../src/read/cache.js";

test("[ME-R14] the cache keeps what was used last within its bound and lets the rest go", () => {
  const cache = new TwoGenerationCache<{ size: number }>(100, (value) => value.size);
  for (let n = 0; n < 1_000; n += 1) {
    cache.set(`k${n}`, { size: 10 });
    if (n > 0) expect(cache.get("k0")).toEqual({ size: 10 });
    expect(cache.size).toBeLessThanOrEqual(14);
  }
  expect(cache.get("k500")).toBe(undefined);
  cache.clear();
  expect([cache.get("k0"), cache.size]).toEqual([undefined, 0]);
});
