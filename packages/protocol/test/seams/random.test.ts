import { expect, test } from "vitest";
import { type Random, seededRandom, systemRandom } from "../../src/index.js";

const draw = (random: Random, count: number): number[] =>
  Array.from({ length: count }, () => random.next());

test("[PR-S3] a seed gives its own sequence, every time", () => {
  expect(draw(seededRandom(7), 50)).toEqual(draw(seededRandom(7), 50));
  expect([...seededRandom(7).bytes(64)]).toEqual([...seededRandom(7).bytes(64)]);
  const first = new Set(draw(seededRandom(1), 50));
  expect(draw(seededRandom(2), 50).filter((value) => first.has(value))).toEqual([]);
});

test("[PR-S3] a seeded sequence is the same on every host and in every release", () => {
  expect([...seededRandom(1).bytes(8)]).toMatchInlineSnapshot(`
    [
      115,
      119,
      171,
      250,
      162,
      56,
      39,
      230,
    ]
  `);
});

test.each([
  ["[PR-S3] seeded", seededRandom(3)],
  ["[PR-S4] system", systemRandom],
])("%s chance is spread over [0, 1) and over all bytes", (_title, random) => {
  const values = draw(random, 4000);
  expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...values)).toBeLessThan(1);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
  expect(new Set(random.bytes(8000)).size).toBe(256);
});

test("[PR-S4] the system's chance fills more than the host gives at once", () => {
  const bytes = systemRandom.bytes(200_000);
  expect(bytes.length).toBe(200_000);
  expect(new Set(bytes.subarray(199_000)).size).toBeGreaterThan(100);
  expect(systemRandom.bytes(0).length).toBe(0);
});
