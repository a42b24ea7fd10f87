import type { Clock } from "@tidemark/protocol";
import type { ActionNode } from "../run/action-node.js";

/** R15: a cycle that was cut goes on after 50 ms, then twice that, up to 5 s. */
export const BACKOFF_FIRST_MS = 50;
export const BACKOFF_MAX_MS = 5_000;

/** The members of one cycle that ran out of passes, and how long they rest. */
export class CycleBackoff {
  readonly members: ReadonlySet<ActionNode>;
  readonly delayMs: number;
  /** The epoch in which it was let go; -1 while it rests. */
  releasedIn = -1;
  #timer: { cancel(): void } | undefined;

  constructor(members: ReadonlySet<ActionNode>, previous: CycleBackoff | undefined) {
    this.members = members;
    this.delayMs =
      previous === undefined ? BACKOFF_FIRST_MS : Math.min(previous.delayMs * 2, BACKOFF_MAX_MS);
  }

  rest(clock: Clock, over: () => void): void {
    this.#timer = clock.timer(this.delayMs, over);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
