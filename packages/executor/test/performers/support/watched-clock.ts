import type { Cancellable, Clock } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";

/** A virtual clock that tells how many of its timers were called off: which phase some work has left. */
export class WatchedClock implements Clock {
  readonly #clock = new VirtualClock();
  readonly #waiting: { readonly count: number; readonly wake: () => void }[] = [];
  #cancelled = 0;

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  timer(ms: number, fn: () => void): Cancellable {
    const timer = this.#clock.timer(ms, fn);
    let live = true;
    return {
      cancel: () => {
        timer.cancel();
        if (live) this.#count();
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
    return new Promise((wake) => {
      if (this.#cancelled >= count) wake();
      else this.#waiting.push({ count, wake });
    });
  }

  #count(): void {
    this.#cancelled += 1;
    for (const { count, wake } of this.#waiting) if (this.#cancelled >= count) wake();
  }
}
