import { expect, test } from "vitest";
import { SeedProgress } from "../../src/cli/seed-progress.js";

function told(isTTY: boolean, seeds: number, failing: readonly number[] = []): readonly string[] {
  const out: string[] = [];
  let now = 0;
  const progress = new SeedProgress({ isTTY, write: (text) => out.push(text) }, seeds, () => now);
  for (let seed = 1; seed <= seeds; seed++) {
    now += 500;
    progress.seed(seed, failing.includes(seed));
  }
  return out;
}

test("[SI-X3] a terminal has one line that is written over, with rate and time left", () => {
  const out = told(true, 200, [3]);
  expect(out).toHaveLength(200);
  expect(out.every((text) => text.startsWith("\r\u001B[2K") && !text.includes("\n"))).toBe(true);
  expect(out[1]).toContain("seed 2: 2 of 200, 2.0 seeds/s, 1 min 39 s left");
  expect(out[2]).toContain("3 of 200, 1 failed");
});

test("[SI-X3] elsewhere there is a line each tenth, however many seeds there are", () => {
  expect(told(false, 5_000)).toHaveLength(10);
  expect(told(false, 3)).toHaveLength(3);
  expect(told(false, 100)[0]).toBe("seed 10: 10 of 100, 2.0 seeds/s, 45 s left\n");
});
