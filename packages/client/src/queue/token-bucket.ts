/** How fast the appends of one stream leave the client (speculation.md §Offline). */
export interface Pacing {
  /** Sends that may leave at once. */
  readonly burst: number;
  /** Sends per second after that. `Infinity` turns pacing off. */
  readonly ratePerSecond: number;
}

/** A token bucket over an injected monotonic time in milliseconds. */
export class TokenBucket {
  readonly #pacing: Pacing;
  #tokens: number;
  #at: number;

  constructor(pacing: Pacing, now: number) {
    this.#pacing = pacing;
    this.#tokens = pacing.burst;
    this.#at = now;
  }

  /** Takes a token if there is one. */
  take(now: number): boolean {
    this.#refill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds from `now` until there is a token; 0 if there is one. */
  waitMs(now: number): number {
    this.#refill(now);
    if (this.#tokens >= 1) return 0;
    return ((1 - this.#tokens) * 1000) / this.#pacing.ratePerSecond;
  }

  /** Whether the bucket is full, so that a new one would behave the same. */
  full(now: number): boolean {
    this.#refill(now);
    return this.#tokens >= this.#pacing.burst;
  }

  #refill(now: number): void {
    if (this.#pacing.ratePerSecond === Infinity) {
      this.#tokens = this.#pacing.burst;
      this.#at = now;
      return;
    }
    const gained = (Math.max(0, now - this.#at) * this.#pacing.ratePerSecond) / 1000;
    // Rounded to a millionth, so that a wait computed from a fraction ends with a whole token.
    const tokens = Math.round((this.#tokens + gained) * 1e6) / 1e6;
    this.#tokens = Math.min(this.#pacing.burst, tokens);
    this.#at = Math.max(this.#at, now);
  }
}
