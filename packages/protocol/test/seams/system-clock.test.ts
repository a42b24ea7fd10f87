import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "../../src/index.js";
import { macrotaskStarter } from "../../src/seams/system-clock.js";

afterEach(() => {
  vi.useRealTimers();
});

const LONG_MS = 3 * 2 ** 31;

test("[PR-S1] a timer beyond 2^31-1 ms fires when it is due and no earlier", () => {
  vi.useFakeTimers();
  const fired = vi.fn();
  systemClock.timer(LONG_MS, fired);
  vi.advanceTimersByTime(LONG_MS - 1);
  expect(fired).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fired).toHaveBeenCalledOnce();
});

test("[PR-S1] a cancelled timer never fires, in a later link of its chain either", () => {
  vi.useFakeTimers();
  const fired = vi.fn();
  const short = systemClock.timer(10, fired);
  const long = systemClock.timer(LONG_MS, fired);
  short.cancel();
  vi.advanceTimersByTime(2 ** 31);
  long.cancel();
  long.cancel();
  vi.advanceTimersByTime(LONG_MS);
  expect(fired).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test("[PR-S1] a negative delay is none", () => {
  vi.useFakeTimers();
  const fired = vi.fn();
  systemClock.timer(-5, fired);
  vi.advanceTimersByTime(0);
  expect(fired).toHaveBeenCalledOnce();
});

test("[PR-S2] immediates run in order, each after every microtask, and not when cancelled", async () => {
  const seen: string[] = [];
  await new Promise<void>((resolve) => {
    systemClock.immediate(() => {
      seen.push("first");
      void Promise.resolve()
        .then(() => undefined)
        .then(() => seen.push("microtask"));
    });
    systemClock.immediate(() => seen.push("cancelled")).cancel();
    systemClock.immediate(() => seen.push("second"));
    systemClock.immediate(resolve);
    seen.push("now");
  });
  expect(seen).toEqual(["now", "first", "microtask", "second"]);
});

test("[PR-S2] a host without setImmediate uses messages, and one without them a timeout of 0", async () => {
  const { port1, port2 } = new MessageChannel();
  class Channel {
    readonly port1 = port1 as never;
    readonly port2 = port2 as never;
  }
  const byMessage = macrotaskStarter({ MessageChannel: Channel });
  const seen: string[] = [];
  byMessage(() => seen.push("a"));
  await new Promise<void>((resolve) => byMessage(resolve));
  expect(seen).toEqual(["a"]);
  port1.close();

  const delays: number[] = [];
  const byTimeout = macrotaskStarter({
    setTimeout: (fn, ms) => {
      delays.push(ms);
      fn();
    },
  });
  byTimeout(() => seen.push("b"));
  expect([seen, delays]).toEqual([["a", "b"], [0]]);
});

test("the system clock tells wall time, and elapsed time that does not go back", () => {
  const before = systemClock.monotonic();
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1000);
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before);
});
