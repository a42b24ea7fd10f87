import type { Cancellable, Clock, Random } from "@tidemark/protocol";
import type { ClientPolicy } from "../options.js";
import { TokenBucket } from "../queue/token-bucket.js";
import { backoffDelayMs } from "../session/backoff.js";

/** What an {@link AskingAgain} is given. */
export interface AskingAgainOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: ClientPolicy["denied"];
  /** Asks for the space; what comes of it is told by `denied` or `stop`. */
  ask(): void;
}

/**
 * When a space that may not be read is asked for again. The server tells a session nothing of a space
 * that it may not read, an invitation included, so the client asks: ever more seldom, never faster than
 * its policy says, and at once after something of its own was accepted there, which shows that somebody
 * has let it in.
 */
export class AskingAgain {
  readonly #options: AskingAgainOptions;
  readonly #early: TokenBucket;
  #attempt = 0;
  #timer: Cancellable | undefined;

  constructor(options: AskingAgainOptions) {
    this.#options = options;
    this.#early = new TokenBucket(options.policy.early, options.clock.monotonic());
  }

  /** The space was denied: another question is planned, later than the last time. */
  denied(): void {
    const { policy, random } = this.#options;
    const delay = backoffDelayMs(this.#attempt, policy, random);
    this.#attempt += 1;
    this.#plan(delay);
  }

  /** Something of this client was accepted in the space; nothing where no question is planned. */
  accepted(): void {
    if (this.#timer !== undefined && this.#early.take(this.#options.clock.monotonic())) this.#ask();
  }

  /** The space is open, or there is nobody to ask: the next denial is the first one. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#attempt = 0;
  }

  #plan(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.timer(delayMs, () => this.#ask());
  }

  #ask(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#options.ask();
  }
}
