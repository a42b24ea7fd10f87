import { expect, test } from "vitest";
import { eventId, identityFromSeed, spaceId } from "../../src/index.js";
import { TestGates } from "../../src/testing/index.js";

const A = spaceId(identityFromSeed(new Uint8Array(32).fill(1)).did);
const B = spaceId(identityFromSeed(new Uint8Array(32).fill(2)).did);
const GATE = "wave:before-commit";

test("[PR-X8] a hold stops the next arrivals, of its space alone, and each release lets one go", async () => {
  const gates = new TestGates();
  gates.hold(GATE, { space: A, times: 2 });
  expect(gates.pass(GATE, { space: B })).toBeUndefined();
  expect(gates.pass("push:before", { space: A })).toBeUndefined();
  const gone: string[] = [];
  const first = gates.pass(GATE, { space: A })?.then(() => gone.push("first"));
  const second = gates.pass(GATE, { space: A })?.then(() => gone.push("second"));
  expect(gates.pass(GATE, { space: A })).toBeUndefined();
  expect(gates.waiting(GATE, A)).toBe(2);
  expect(gates.release(GATE)).toBe(true);
  await first;
  expect(gone).toEqual(["first"]);
  gates.open();
  await second;
  expect([gates.release(GATE), gates.arrivals(GATE)]).toEqual([false, 4]);
});

test("[PR-X8] `reached` resolves when an arrival waits, whether it came before or comes after", async () => {
  const gates = new TestGates();
  gates.hold(GATE, { times: 2 });
  const told = gates.reached(GATE, A);
  let reached = false;
  void told.then(() => (reached = true));
  void gates.pass(GATE, { space: B });
  await Promise.resolve();
  expect(reached).toBe(false);
  void gates.pass(GATE, { space: A });
  await told;
  await gates.reached(GATE);
});

test("[PR-X8] a failure rejects as often as it was set, for the event it names", async () => {
  const gates = new TestGates();
  const event = eventId("e1");
  gates.fail(GATE, () => new Error("io"), { event, times: 2 });
  expect(gates.pass(GATE, { space: A })).toBeUndefined();
  await expect(gates.pass(GATE, { space: A, event })).rejects.toThrow("io");
  await expect(gates.pass(GATE, { space: A, event })).rejects.toThrow("io");
  expect(gates.pass(GATE, { space: A, event })).toBeUndefined();
});

test("[PR-X8] an arrival at a crash never gets past the gate", async () => {
  const gates = new TestGates();
  const seen: string[] = [];
  gates.crashAt(GATE, () => seen.push("crash"));
  void gates.pass(GATE, { space: A })?.then(() => seen.push("past the gate"));
  gates.open();
  await new Promise<void>((resolve) => queueMicrotask(resolve));
  expect(seen).toEqual(["crash"]);
});
