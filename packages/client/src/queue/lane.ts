import type { TokenBucket } from "./token-bucket.js";

/** One thing on its way to the store: an append or an authored commit, as the outbox sees it. */
export interface OutboxItem<T> {
  /** Number under which it is sent, and sent again (R27); also its place in the session's order. */
  readonly localSeq: number;
  readonly body: T;
}

interface Held<T> {
  readonly item: OutboxItem<T>;
  sent: boolean;
  /** Whether its first send has been paid for; sending again after an outage is not a new intent. */
  paid: boolean;
}

/** How many sends may be unanswered once the first has been answered. */
const MAX_WINDOW = 256;

/**
 * The queued items of one stream, in fired order. Sends are pipelined, but only after the first answer
 * on a connection or after a refusal: until then one goes alone, so that a stream that is being turned
 * away is not overtaken by its own later items (field fault EV-10).
 */
export class Lane<T> {
  readonly #bucket: TokenBucket | undefined;
  readonly #items: Held<T>[] = [];
  #window = 1;
  #inFlight = 0;
  #blocked = false;

  constructor(bucket: TokenBucket | undefined) {
    this.#bucket = bucket;
    // A lane without pacing carries independent writes: nothing in it waits for another.
    if (bucket === undefined) this.#window = Infinity;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Whether a refusal holds the lane until {@link unblock}. */
  get blocked(): boolean {
    return this.#blocked;
  }

  items(): readonly OutboxItem<T>[] {
    return this.#items.map((held) => held.item);
  }

  /** Unanswered sends. */
  get inFlight(): number {
    return this.#inFlight;
  }

  add(item: OutboxItem<T>): void {
    this.#items.push({ item, sent: false, paid: false });
  }

  /** The next item that may go now, pacing apart. */
  next(): OutboxItem<T> | undefined {
    if (this.#blocked || this.#inFlight >= this.#window) return undefined;
    return this.#items.find((held) => !held.sent)?.item;
  }

  /** Milliseconds that pacing holds the next item; 0: it may go. */
  waitMs(now: number): number {
    const next = this.#items.find((held) => !held.sent);
    if (next === undefined || next.paid || this.#bucket === undefined) return 0;
    return this.#bucket.waitMs(now);
  }

  /** Marks the item as sent. */
  send(item: OutboxItem<T>, now: number): void {
    const held = this.#find(item);
    if (held === undefined) return;
    if (!held.paid) this.#bucket?.take(now);
    held.paid = true;
    held.sent = true;
    this.#inFlight += 1;
  }

  /** The item has its final answer and leaves. */
  settle(item: OutboxItem<T>): void {
    const at = this.#items.findIndex((held) => held.item === item);
    if (at < 0) return;
    if (this.#items[at]?.sent === true) this.#inFlight -= 1;
    this.#items.splice(at, 1);
    if (!this.#blocked) this.#window = Math.min(MAX_WINDOW, this.#window * 2);
    if (this.#bucket === undefined) this.#window = Infinity;
  }

  /** The item was refused for now: it keeps its place, and nothing of the lane overtakes it. */
  hold(item: OutboxItem<T>): void {
    const held = this.#find(item);
    if (held?.sent === true) {
      held.sent = false;
      this.#inFlight -= 1;
    }
    this.#blocked = true;
    if (this.#bucket !== undefined) this.#window = 1;
  }

  /** May go on. Where sends are still unanswered, the window of one lets the head go after them. */
  unblock(): void {
    this.#blocked = false;
  }

  /** The connection went away: everything unanswered is to be sent again, in order. */
  rewind(): void {
    for (const held of this.#items) held.sent = false;
    this.#inFlight = 0;
    this.#blocked = false;
    if (this.#bucket !== undefined) this.#window = 1;
  }

  #find(item: OutboxItem<T>): Held<T> | undefined {
    return this.#items.find((held) => held.item === item);
  }
}
