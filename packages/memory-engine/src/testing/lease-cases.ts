import { at, codeOf, HOLDER, RIVAL, set, type EngineCase } from "./harness.js";

const TTL_MS = 15_000;

/** The lease row (seed 001 §2, LS-01, LS-02). */
export const LEASE_CASES: readonly EngineCase[] = [
  [
    "[ME-L1] one holder at a time: a live row is left alone, an expired one is taken over",
    async (h, { expect }) => {
      const { lease } = h.open();
      expect([lease.acquire(HOLDER, TTL_MS), lease.acquire(RIVAL, TTL_MS)]).toEqual([true, false]);
      await h.clock.advance(5_000);
      expect(lease.renew(HOLDER, TTL_MS)).toBe(true);
      expect((lease.current()?.expiresAt ?? 0) - h.clock.now()).toBe(TTL_MS);
      await h.clock.advance(16_000);
      expect([lease.renew(HOLDER, TTL_MS), lease.acquire(RIVAL, TTL_MS)]).toEqual([false, true]);
      expect(lease.current()?.holder).toBe(RIVAL);
    },
  ],
  [
    "[ME-L2] an expired row matches nobody, at the very millisecond it expires",
    async (h, { expect }) => {
      const { lease } = h.open();
      lease.acquire(HOLDER, TTL_MS);
      await h.clock.advance(TTL_MS - 1);
      expect(lease.current()?.live).toBe(true);
      await h.clock.advance(1);
      expect(lease.current()).toEqual({ holder: HOLDER, expiresAt: h.clock.now(), live: false });
      expect(lease.renew(HOLDER, TTL_MS)).toBe(false);
    },
  ],
  [
    "[ME-L3] the holder acquires again at will, and release removes one's own row alone",
    (h, { expect }) => {
      const { lease } = h.open();
      expect([lease.acquire(HOLDER, TTL_MS), lease.acquire(HOLDER, TTL_MS)]).toEqual([true, true]);
      expect([lease.release(RIVAL), lease.current()?.holder]).toEqual([false, HOLDER]);
      expect([lease.release(HOLDER), lease.current()]).toEqual([true, undefined]);
    },
  ],
  [
    "[ME-L4] no step of the lease is a commit",
    (h, { expect }) => {
      const engine = h.open();
      set(engine, "a", 1);
      engine.lease.acquire(HOLDER, TTL_MS);
      for (let n = 0; n < 10; n += 1) engine.lease.renew(HOLDER, TTL_MS);
      engine.lease.release(HOLDER);
      expect([engine.head(), engine.commitsSince(at(0)).length]).toEqual([1, 1]);
    },
  ],
  [
    "[ME-L5] a transaction reads the lease row as it stands under its own lock",
    async (h, { expect }) => {
      const engine = h.open();
      const other = h.reopens ? h.open() : engine;
      engine.lease.acquire(HOLDER, TTL_MS);
      const live = (): boolean | undefined => engine.transact((tx) => tx.lease()?.live);
      expect(live()).toBe(true);
      await h.clock.advance(TTL_MS);
      expect(live()).toBe(false);
      other.lease.acquire(RIVAL, TTL_MS);
      expect(engine.transact((tx) => tx.lease()?.holder)).toBe(RIVAL);
    },
  ],
  [
    "[ME-L6] upkeep under a holder is refused unless it holds the live lease",
    async (h, { expect }) => {
      const engine = h.open();
      const upkeep = (): string[] => [
        codeOf(() => engine.compact({}, HOLDER)),
        codeOf(() => engine.prune({}, HOLDER)),
      ];
      expect(upkeep()).toEqual(["lease", "lease"]);
      engine.lease.acquire(HOLDER, TTL_MS);
      expect(upkeep()).toEqual(["none", "none"]);
      await h.clock.advance(TTL_MS);
      expect(upkeep()).toEqual(["lease", "lease"]);
    },
  ],
];
