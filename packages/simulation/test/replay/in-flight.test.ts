import { expect, test } from "vitest";
import { inFlight } from "../../src/replay/in-flight.js";

test("no more than the width is in flight, and everything is done once", async () => {
  let open = 0;
  let most = 0;
  const done: number[] = [];
  await inFlight(10, 3, async (i) => {
    open += 1;
    most = Math.max(most, open);
    await Promise.resolve();
    open -= 1;
    done.push(i);
  });
  expect(most).toBe(3);
  expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("nothing to do ends at once", async () => {
  await expect(inFlight(0, 3, () => Promise.reject(new Error("no")))).resolves.toBeUndefined();
});

test("one that fails ends the whole with its error", async () => {
  await expect(inFlight(5, 2, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
});
