import type { Cancellable, Clock, Random } from "@tidemark/protocol";
import { backoffDelayMs } from "../session/backoff.js";
import type { BackoffPolicy } from "../session/backoff.js";
import { Lane } from "./lane.js";
import type { OutboxItem } from "./lane.js";
import { TokenBucket } from "./token-bucket.js";
import type { Pacing } from "./token-bucket.js";
import type { Retry } from "./verdict.js";

/** What became of one send. */
export type SendOutcome =
  | { readonly kind: "settled" }
  | { readonly kind: "ambiguous" }
  | { readonly kind: "later"; readonly retry: Retry };

/** What an {@link Outbox} is given. */
export interface OutboxOptions<T> {
  readonly clock: Clock;
  readonly random: Random;
  readonly pacing: Pacing;
  readonly backoff: BackoffPolicy;
  /** The lane of an item and whether it is paced: items of one lane keep their order. */
  lane(body: T): { readonly name: string; readonly paced: boolean };
  /** Sends one item on the present connection and says what became of it. Must not throw. */
  send(item: OutboxItem<T>): Promise<SendOutcome>;
}

/**
 * What a session has done in one space and the store has not acknowledged, in the order it was done
 * (seed 000 §5). Lanes do not hold each other; nothing is dropped or coalesced; what was sent and not
 * answered is sent again, under its number, on the next connection. It knows nothing of the replica,
 * so it survives the replica's replacement.
 */
export class Outbox<T> {
  readonly #options: OutboxOptions<T>;
  readonly #lanes = new Map<string, Lane<T>>();
  readonly #attempts = new Map<string, number>();
  readonly #retries = new Map<string, Cancellable>();
  #wake: Cancellable | undefined;
  /** Counts connections; an answer of an earlier one changes nothing any more (field fault SY-07). */
  #generation = 0;
  #online = false;
  #idle: (() => void)[] = [];

  constructor(options: OutboxOptions<T>) {
    this.#options = options;
  }

  /** Items not yet acknowledged. */
  get size(): number {
    let size = 0;
    for (const lane of this.#lanes.values()) size += lane.size;
    return size;
  }

  /** Sends that an answer is expected for. */
  get inFlight(): number {
    let inFlight = 0;
    for (const lane of this.#lanes.values()) inFlight += lane.inFlight;
    return inFlight;
  }

  /** The items, in the session's order. */
  items(): readonly OutboxItem<T>[] {
    return [...this.#lanes.values()]
      .flatMap((lane) => lane.items())
      .sort((a, b) => a.localSeq - b.localSeq);
  }

  add(item: OutboxItem<T>): void {
    this.#laneOf(item.body).add(item);
    this.#pump();
  }

  /**
   * A connection stands: everything that is waiting goes, without any further push (SY-08). Said again of
   * the same connection, it sends nothing twice: a second answer could contradict the first, and the
   * server would hold the stream's later events for one that has left this queue.
   */
  online(): void {
    if (this.#online) return this.retry();
    this.#generation += 1;
    this.#online = true;
    this.#restart();
  }

  /** The connection is gone. */
  offline(): void {
    this.#generation += 1;
    this.#online = false;
    this.#restart();
    this.#wake?.cancel();
    this.#wake = undefined;
  }

  /** Authority changed, or the session was renewed: refusals that waited for that are tried again. */
  retry(): void {
    for (const lane of this.#lanes.values()) lane.unblock();
    this.#pump();
  }

  /** Takes everything out, for a session that ends. Returns it in order. */
  drain(): readonly OutboxItem<T>[] {
    const items = this.items();
    this.offline();
    this.#lanes.clear();
    this.#attempts.clear();
    this.#release();
    return items;
  }

  /** Resolves once nothing is queued. */
  idle(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #restart(): void {
    for (const timer of this.#retries.values()) timer.cancel();
    this.#retries.clear();
    this.#attempts.clear();
    for (const lane of this.#lanes.values()) lane.rewind();
    this.#pump();
  }

  #laneOf(body: T): Lane<T> {
    const { name, paced } = this.#options.lane(body);
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      const { pacing, clock } = this.#options;
      lane = new Lane(paced ? new TokenBucket(pacing, clock.monotonic()) : undefined);
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #pump(): void {
    if (!this.#online) return;
    for (;;) {
      const pick = this.#pick();
      if (pick === undefined) return;
      pick.lane.send(pick.item, this.#options.clock.monotonic());
      void this.#send(pick.lane, pick.item);
    }
  }

  /** The oldest item that may go now. Plans a wake-up where pacing holds one. */
  #pick(): { readonly lane: Lane<T>; readonly item: OutboxItem<T> } | undefined {
    const now = this.#options.clock.monotonic();
    let best: { lane: Lane<T>; item: OutboxItem<T> } | undefined;
    let wait = Infinity;
    for (const lane of this.#lanes.values()) {
      const item = lane.next();
      if (item === undefined) continue;
      const waitMs = lane.waitMs(now);
      if (waitMs > 0) wait = Math.min(wait, waitMs);
      else if (best === undefined || item.localSeq < best.item.localSeq) best = { lane, item };
    }
    if (best === undefined) this.#wakeIn(wait);
    return best;
  }

  #wakeIn(ms: number): void {
    this.#wake?.cancel();
    this.#wake = undefined;
    if (ms === Infinity) return;
    this.#wake = this.#options.clock.timer(Math.ceil(ms), () => this.#pump());
  }

  async #send(lane: Lane<T>, item: OutboxItem<T>): Promise<void> {
    const generation = this.#generation;
    const outcome = await this.#options.send(item);
    if (outcome.kind === "settled") {
      // A final answer stands whichever connection brought it.
      lane.settle(item);
      this.#attempts.delete(this.#options.lane(item.body).name);
    } else if (generation === this.#generation) this.#postpone(lane, item, outcome);
    this.#pump();
    if (this.size === 0) this.#release();
  }

  #postpone(
    lane: Lane<T>,
    item: OutboxItem<T>,
    outcome: Exclude<SendOutcome, { kind: "settled" }>,
  ): void {
    // No failure of its own: what it waits for is tried again by itself, and then this goes behind it.
    if (outcome.kind === "later" && outcome.retry === "turn" && lane.giveWay(item)) return;
    lane.hold(item);
    // No answer although the connection stands: the server says that something behind it gave way.
    if (outcome.kind === "later" && outcome.retry === "session") return;
    const { clock, backoff, random } = this.#options;
    const { name } = this.#options.lane(item.body);
    if (this.#retries.has(name)) return;
    const attempt = this.#attempts.get(name) ?? 0;
    this.#attempts.set(name, attempt + 1);
    const again = (): void => {
      this.#retries.delete(name);
      lane.unblock();
      this.#pump();
    };
    this.#retries.set(name, clock.timer(backoffDelayMs(attempt, backoff, random), again));
  }

  #release(): void {
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }
}
