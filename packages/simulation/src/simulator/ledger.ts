import type { Engine } from "@tidemark/memory-engine";
import type { AcceptedCommit, Clock, HolderId, SpaceId } from "@tidemark/protocol";
import type { Complain } from "./oracle.js";

interface Tenure {
  readonly process: string;
  readonly holder: HolderId;
  readonly from: number;
  until: number;
  /** Given back: what it committed in that very millisecond came before. */
  released?: true;
}

/**
 * Who held which space's lease when, by true time, noted as the calls are made and not as the store remembers them:
 * a derived commit belongs to the one holder of its instant (seed 001 §2).
 */
export class LeaseLedger {
  readonly #clock: Clock;
  readonly #complain: Complain;
  readonly #tenures = new Map<SpaceId, Tenure[]>();
  readonly #watched = new WeakSet<Engine>();
  acquisitions = 0;
  /** Attempts that met another's live row: whoever made one parks, and is not told when the row is free (seed 001 §1). */
  refused = 0;

  constructor(clock: Clock, complain: Complain) {
    this.#clock = clock;
    this.#complain = complain;
  }

  /** Notes every change of the lease that a process makes through its engine. */
  watch(process: string, engine: Engine): void {
    if (this.#watched.has(engine)) return;
    this.#watched.add(engine);
    const { space, lease } = engine;
    const acquire = lease.acquire.bind(lease);
    const renew = lease.renew.bind(lease);
    const release = lease.release.bind(lease);
    lease.acquire = (holder, ttlMs) => {
      const held = acquire(holder, ttlMs);
      if (held) this.#acquired(space, process, holder, ttlMs);
      else this.refused += 1;
      return held;
    };
    lease.renew = (holder, ttlMs) => {
      const held = renew(holder, ttlMs);
      if (held) this.#renewed(space, holder, ttlMs);
      return held;
    };
    lease.release = (holder) => {
      const released = release(holder);
      if (released) this.#released(space, holder);
      return released;
    };
  }

  /**
   * The row names another holder from now on, or its own for longer or shorter: somebody wrote it by hand, or the store's
   * clock stepped.
   */
  stolen(space: SpaceId, holder: HolderId, ttlMs: number): void {
    const now = this.#clock.now();
    const tenures = this.#tenures.get(space) ?? [];
    this.#tenures.set(space, tenures);
    const last = this.#lastOf(space, holder);
    for (const tenure of tenures) {
      if (tenure === last || tenure.until <= now) continue;
      tenure.until = now;
      tenure.released = true;
    }
    const until = now + Math.max(0, ttlMs);
    // A row that had run out lives again where the store's clock went back.
    if (last && last.until > now) last.until = until;
    else if (until > now) tenures.push({ process: "nobody", holder, from: now, until });
    if (last?.until === now) last.released = true;
  }

  /** Judges the derived commits of a space, and what waves changed of its access list. `stepped`: how far the store's clock was off when they were made, ms. */
  judge(space: SpaceId, commits: readonly AcceptedCommit[], stepped: number): void {
    for (const commit of commits) {
      if (commit.class !== "derived" && commit.capabilityRef === undefined) continue;
      const at = commit.at - stepped;
      const held = (this.#tenures.get(space) ?? []).some(
        ({ holder, from, until, released }) =>
          holder === commit.holder &&
          from <= at &&
          (at < until || (released === true && at === until)),
      );
      if (!held) {
        this.#complain("tenure", `${commit.holder} had no lease when it committed ${commit.seq}`);
      }
    }
  }

  #lastOf(space: SpaceId, holder: HolderId): Tenure | undefined {
    return (this.#tenures.get(space) ?? []).filter((each) => each.holder === holder).at(-1);
  }

  #acquired(space: SpaceId, process: string, holder: HolderId, ttlMs: number): void {
    const now = this.#clock.now();
    const tenures = this.#tenures.get(space) ?? [];
    this.#tenures.set(space, tenures);
    const rival = tenures.find((each) => each.until > now && each.holder !== holder);
    if (rival) {
      this.#complain(
        "tenure",
        `${process} took a lease that ${rival.process} held till ${rival.until}`,
      );
    }
    this.acquisitions += 1;
    // Its own row taken again is one row: what it held before goes on in what it holds now.
    const own = this.#lastOf(space, holder);
    if (own && own.until > now) {
      own.until = now;
      own.released = true;
    }
    tenures.push({ process, holder, from: now, until: now + ttlMs });
  }

  #renewed(space: SpaceId, holder: HolderId, ttlMs: number): void {
    const now = this.#clock.now();
    const last = this.#lastOf(space, holder);
    if (!last || last.until <= now) {
      this.#complain("tenure", `${holder} renewed a lease that had run out`);
      return;
    }
    last.until = now + ttlMs;
  }

  #released(space: SpaceId, holder: HolderId): void {
    const now = this.#clock.now();
    const last = this.#lastOf(space, holder);
    if (!last || last.until <= now) return;
    last.until = now;
    last.released = true;
  }
}
