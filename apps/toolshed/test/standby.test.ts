import type { AdmissionNotice, MemoryServer } from "@tidemark/memory-engine";
import { VirtualClock } from "@tidemark/protocol/testing";
import { beforeEach, expect, test } from "vitest";
import { watchRivals } from "../src/standby/standby.js";

const SPACE = "did:key:space" as never;
const TTL_MS = 1_000;

let clock: VirtualClock;
let lease: { holder: string; expiresAt: number; live: boolean } | undefined;
let sessions: number;
let warmed: number;
let active: boolean;
let notice: () => void;
let errors: unknown[];
let told: unknown[];
let broken: boolean;

beforeEach(() => {
  clock = new VirtualClock();
  lease = { holder: "rival", expiresAt: clock.now() + TTL_MS, live: true };
  sessions = 1;
  warmed = 0;
  active = false;
  errors = [];
  told = [];
  broken = false;
});

function watch() {
  const memory = {
    onAdmission: (fn: (notice: AdmissionNotice) => void) => {
      notice = () => fn({ space: SPACE, commit: undefined, reason: "session" });
      return { close: () => undefined };
    },
    space: () => {
      if (broken) throw new Error("no store");
      return {
        liveSessions: () => sessions,
        engine: { lease: { current: current }, entries: { backlog: () => false } },
      };
    },
  } as unknown as MemoryServer;
  const host = { holder: "me", isActive: () => active, warm: () => void (warmed += 1) };
  return watchRivals({
    memory,
    host,
    clock,
    spaces: [SPACE],
    onTakeover: (space, from) => told.push([space, from]),
    onError: (_, e) => errors.push(e),
  });
}

function current() {
  if (lease === undefined) return undefined;
  return { ...lease, live: lease.expiresAt > clock.now() };
}

test("[TS-S1] when the holder is gone, a space that somebody has open is taken over, and that is said", async () => {
  watch();
  await clock.advance(TTL_MS / 2);
  expect([warmed, told]).toEqual([0, []]);
  await clock.advance(TTL_MS);
  expect([warmed, told]).toEqual([1, [[SPACE, "rival"]]]);
  expect(clock.pendingTimers()).toBe(0);
});

test("[TS-S1] a space that is served here before its timer is out was taken over all the same", async () => {
  watch();
  await clock.advance(TTL_MS / 2);
  [lease, active] = [undefined, true];
  await clock.advance(TTL_MS);
  expect([warmed, told]).toEqual([0, [[SPACE, "rival"]]]);
});

test("while the holder renews, nothing is tried", async () => {
  watch();
  for (let round = 0; round < 10; round += 1) {
    await clock.advance(TTL_MS / 2);
    lease = { holder: "rival", expiresAt: clock.now() + TTL_MS, live: true };
  }
  expect(warmed).toBe(0);
  expect(clock.pendingTimers()).toBe(1);
});

test("a space that nobody needs is left alone, and looked at again when somebody comes", async () => {
  sessions = 0;
  watch();
  await clock.advance(2 * TTL_MS);
  expect([warmed, told]).toEqual([0, []]);
  expect(clock.pendingTimers()).toBe(0);
  lease = { holder: "rival", expiresAt: clock.now() + TTL_MS, live: true };
  sessions = 1;
  notice();
  await clock.advance(2 * TTL_MS);
  expect(warmed).toBe(1);
});

test("a process that is alone, or serves the space itself, arms no timer", async () => {
  lease = undefined;
  watch();
  await clock.drain();
  expect(clock.pendingTimers()).toBe(0);
  lease = { holder: "me", expiresAt: clock.now() + TTL_MS, live: true };
  active = true;
  notice();
  await clock.drain();
  expect(clock.pendingTimers()).toBe(0);
});

test("a store that cannot be looked at is reported, and closing ends everything", async () => {
  broken = true;
  const watching = watch();
  await clock.drain();
  expect(errors).toHaveLength(1);
  broken = false;
  notice();
  await clock.drain();
  expect(clock.pendingTimers()).toBe(1);
  watching.close();
  expect(clock.pendingTimers()).toBe(0);
});
