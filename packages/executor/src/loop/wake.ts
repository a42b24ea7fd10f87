import type { Clock } from "@tidemark/protocol";

/**
 * Wakes the loop. Signals of one macrotask are one wake, and each turn of the loop begins in a macrotask
 * of its own, so that the spaces of a process take turns.
 */
export class Wake {
  readonly #clock: Clock;
  #signalled = false;
  #waiter: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get signalled(): boolean {
    return this.#signalled;
  }

  signal(): void {
    this.#signalled = true;
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.();
  }

  /** Resolves in a macrotask after the next signal, or after one that came already. */
  async wait(): Promise<void> {
    if (!this.#signalled) {
      await new Promise<void>((resolve) => {
        this.#waiter = resolve;
      });
    }
    await new Promise<void>((resolve) => void this.#clock.immediate(resolve));
    this.#signalled = false;
  }
}
