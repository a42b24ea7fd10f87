import type { Cancellable, Clock } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";

/** A virtual clock that tells how many timers were set and called off: which phase some work has reached. */
export class WatchedClock implements Clock {
  readonly #clock = new VirtualClock();
  readonly #cancelled = new Tally();
  readonly #started = new Tally();

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  timer(ms: number, fn: () => void): Cancellable {
    const timer = this.#clock.timer(ms, fn);
    this.#started.count();
    let live = true;
    return {
      cancel: () => {
        timer.cancel();
        if (live) this.#cancelled.count();
        live = false;
      },
    };
  }

  immediate(fn: () => void): Cancellable {
    return this.#clock.immediate(fn);
  }

  advance(ms: number): Promise<void> {
    return this.#clock.advance(ms);
  }

  pendingTimers(): number {
    return this.#clock.pendingTimers();
  }

  /** Resolves once so many timers have been called off since the clock was made. */
  cancelled(count: number): Promise<void> {
    return this.#cancelled.reaches(count);
  }

  /** Resolves once so many timers have been set since the clock was made. */
  started(count: number): Promise<void> {
    return this.#started.reaches(count);
  }
}

class Tally {
  readonly #waiting: { readonly count: number; readonly wake: () => void }[] = [];
  #reached = 0;

  count(): void {
    this.#reached += 1;
    for (const { count, wake } of this.#waiting) if (this.#reached >= count) wake();
  }

  reaches(count: number): Promise<void> {
    return new Promise((wake) => {
      if (this.#reached >= count) wake();
      else this.#waiting.push({ count, wake });
    });
  }
}
