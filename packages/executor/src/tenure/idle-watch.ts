import type { Cancellable, Clock } from "@tidemark/protocol";

/** Parks a space that has been at rest and needed by nobody for the policy's time (R17). */
export class IdleWatch {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  #timer: Cancellable | undefined;

  constructor(clock: Clock, idleMs: number, onIdle: () => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
  }

  /** Tells it whether the space is needed now: a need ends the countdown, its end begins one. */
  look(needed: boolean): void {
    if (needed) {
      this.close();
      return;
    }
    this.#timer ??= this.#clock.timer(this.#idleMs, () => {
      this.#timer = undefined;
      this.#onIdle();
    });
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
