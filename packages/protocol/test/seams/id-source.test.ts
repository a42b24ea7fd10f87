import * as fc from "fast-check";
import { decodeTime, isValid } from "ulid";
import { expect, test } from "vitest";
import { createIdSource, isEventId, type Random, seededRandom } from "../../src/index.js";

function scriptedClock(times: readonly number[]): { now(): number } {
  let at = 0;
  return { now: () => times[Math.min(at++, times.length - 1)] ?? 0 };
}

test("[PR-S5] ids are valid, carry the time, and grow strictly however the clock moves", () => {
  const times = fc.array(fc.integer({ min: 0, max: 2 ** 40 }), { minLength: 2, maxLength: 40 });
  fc.assert(
    fc.property(times, fc.integer(), (instants, seed) => {
      const source = createIdSource(scriptedClock(instants), seededRandom(seed));
      const ids = instants.map(() => source.ulid());
      expect([...ids].sort()).toEqual(ids);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.every((id) => isValid(id) && isEventId(id))).toBe(true);
      expect(decodeTime(ids[0] ?? "")).toBe(instants[0]);
    }),
  );
});

test("[PR-S5] a millisecond whose random part is used up borrows the next one", () => {
  const allOnes: Random = { bytes: (n) => new Uint8Array(n).fill(255), next: () => 0 };
  const source = createIdSource(scriptedClock([1000]), allOnes);
  const ids = [source.ulid(), source.ulid(), source.ulid()];
  expect(ids.map((id) => decodeTime(id))).toEqual([1000, 1001, 1002]);
});
