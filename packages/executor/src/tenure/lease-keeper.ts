import type { LeaseTable } from "@tidemark/memory-engine";
import type { Cancellable, Clock, HolderId } from "@tidemark/protocol";

/** What a {@link LeaseKeeper} is made of. */
export interface LeaseKeeperOptions {
  readonly lease: LeaseTable;
  readonly holder: HolderId;
  readonly clock: Clock;
  readonly ttlMs: number;
  readonly renewMs: number;
  readonly gate: () => Promise<void> | undefined;
  /** Called at every lease step: the moment to look for another process's commits (R19). */
  readonly onStep: () => void;
  /** The row no longer names this holder live, or cannot be read. It may ask for it again at once. */
  readonly onLost: () => void;
}

/**
 * Holds the one lease row (seed 001 §2). Two drivers renew it: the timer, and the scheduler's yield once
 * a third of the TTL has passed without a renewal. Neither is a commit. The store's clock alone judges.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #timer: Cancellable | undefined;
  #renewedAt = 0;
  #held = false;
  #renewing = false;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  /** Whether this tenure believes in its lease: false from its loss on, until it has been acquired again. */
  get held(): boolean {
    return this.#held;
  }

  /** One attempt; false where another holder's row is live. @throws what the store throws */
  acquire(): boolean {
    const { lease, holder, ttlMs, clock } = this.#options;
    this.#held = lease.acquire(holder, ttlMs);
    this.#renewedAt = clock.monotonic();
    if (this.#held) this.#arm();
    return this.#held;
  }

  /** Mid-wave renewal, from the cooperative yield: not from a timer that a long settle starves. */
  renewIfDue(): void {
    const { clock, ttlMs } = this.#options;
    if (this.#held && clock.monotonic() - this.#renewedAt >= ttlMs / 3) void this.#renew();
  }

  /** A direct renewal, now; false where it found the lease lost. */
  confirm(): boolean {
    return this.#held && this.#renewRow();
  }

  /** What the row says now. Renews nothing. */
  get live(): boolean {
    const row = this.#options.lease.current();
    return this.#held && row !== undefined && row.live && row.holder === this.#options.holder;
  }

  /** Gives the row back and stops every driver. A store that throws does not stop the rest. */
  release(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const { lease, holder } = this.#options;
    this.#held = false;
    lease.release(holder);
  }

  #arm(): void {
    const { clock, renewMs } = this.#options;
    this.#timer?.cancel();
    this.#timer = clock.timer(renewMs, () => {
      this.#arm();
      void this.#renew();
    });
  }

  async #renew(): Promise<void> {
    if (this.#renewing) return;
    this.#renewing = true;
    try {
      const waiting = this.#options.gate();
      if (waiting !== undefined) await waiting;
      if (this.#held) this.#renewRow();
    } catch {
      this.#lose();
    } finally {
      this.#renewing = false;
    }
  }

  #renewRow(): boolean {
    const { lease, holder, ttlMs, clock, onStep } = this.#options;
    if (!lease.renew(holder, ttlMs)) {
      this.#lose();
      return false;
    }
    this.#renewedAt = clock.monotonic();
    onStep();
    return true;
  }

  #lose(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#options.onLost();
  }
}
