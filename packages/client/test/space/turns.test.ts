import { expect, test } from "vitest";
import { Turns } from "../../src/space/turns.js";

test("[CL-E18] tasks take turns: a synchronous one is done at once, and an asynchronous one is waited for", async () => {
  const turns = new Turns();
  const log: string[] = [];
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  void turns.run(() => log.push("a"));
  expect([log, turns.busy]).toEqual([["a"], false]);
  const slow = turns.run(async () => {
    log.push("b1");
    await gate;
    log.push("b2");
  });
  const later = turns.run(() => log.push("c"));
  const failing = turns.run(() => {
    throw new Error("mine");
  });
  failing.catch(() => undefined);
  expect([log, turns.busy]).toEqual([["a", "b1"], true]);
  release();
  await slow;
  await later;
  await expect(failing).rejects.toThrow("mine");
  expect(log).toEqual(["a", "b1", "b2", "c"]);
});

test("[CL-E18] thousands of waiting tasks need no stack", async () => {
  const turns = new Turns();
  let done = 0;
  void turns.run(() => Promise.resolve());
  const all = Array.from({ length: 50_000 }, () => turns.run(() => (done += 1)));
  await Promise.all(all);
  expect(done).toBe(50_000);
});
