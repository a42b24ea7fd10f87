import type { Clock } from "@tidemark/protocol";
import type { GateSpec } from "../types.js";

interface Cancellable {
  cancel(): void;
}

/** Debounce and throttle of one node: tells when it may run, and wakes it once at that moment (SC-12). */
export class Gate {
  readonly #clock: Clock;
  readonly #spec: GateSpec;
  #lastRunAt: number | undefined;
  #lastChangeAt = 0;
  #timer: Cancellable | undefined;

  constructor(clock: Clock, spec: GateSpec, ranBefore: boolean) {
    this.#clock = clock;
    this.#spec = spec;
    if (ranBefore) this.#lastRunAt = clock.monotonic();
  }

  ran(): void {
    this.#lastRunAt = this.#clock.monotonic();
  }

  changed(): void {
    if (this.#spec.debounceMs !== undefined) this.#lastChangeAt = this.#clock.monotonic();
  }

  /** Milliseconds from `now` until the node may run; 0 when it may. A first run never waits. */
  waitMs(now: number): number {
    if (this.#lastRunAt === undefined) return 0;
    const throttled = this.#lastRunAt + (this.#spec.throttleMs ?? 0);
    const quiet =
      this.#spec.debounceMs === undefined ? 0 : this.#lastChangeAt + this.#spec.debounceMs;
    return Math.max(0, Math.max(throttled, quiet) - now);
  }

  /** Wakes once when the gate opens; one timer however often the node is dirtied meanwhile. */
  arm(ms: number, wake: () => void): void {
    if (this.#timer !== undefined) return;
    this.#timer = this.#clock.timer(ms, () => {
      this.#timer = undefined;
      wake();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
