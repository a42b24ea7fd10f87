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

/** How many sends may be unanswered, and how many while the stream is being turned away. */
const MAX_WINDOW = 256;
const PROBE_WINDOW = 1;

/**
 * The queued items of one stream, in fired order. Sends are pipelined: the server admits nothing of a
 * stream before an earlier append that it refused for now (field fault EV-10). After such a refusal one
 * goes alone until it is answered for good, over reconnects too: not for the order, but because a
 * stream that is being turned away would else send its whole queue with each try, to be refused whole.
 */
export class Lane<T> {
  readonly #bucket: TokenBucket | undefined;
  readonly #items: Held<T>[] = [];
  #inFlight = 0;
  #blocked = false;
  #turnedAway = false;

  constructor(bucket: TokenBucket | undefined) {
    this.#bucket = bucket;
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
    if (this.#blocked || this.#inFlight >= this.#window()) return undefined;
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
    // The answer of one that was sent before the refused one says nothing of that one.
    if (!this.#blocked) this.#turnedAway = false;
  }

  /** The item was refused for now: it keeps its place, and nothing of the lane overtakes it. */
  hold(item: OutboxItem<T>): void {
    this.#takeBack(this.#find(item));
    this.#blocked = true;
    this.#turnedAway = true;
  }

  /**
   * The item was refused because an earlier one stands refused for now: it goes again behind that one.
   * False where the lane has nothing earlier, so that waiting for it would be for ever.
   */
  giveWay(item: OutboxItem<T>): boolean {
    const at = this.#items.findIndex((held) => held.item === item);
    if (at < 1) return false;
    this.#takeBack(this.#items[at]);
    this.#turnedAway = true;
    return true;
  }

  /** May go on. Where sends are still unanswered, the head goes once they are answered. */
  unblock(): void {
    this.#blocked = false;
  }

  /** The connection went away: everything unanswered is to be sent again, in order. */
  rewind(): void {
    for (const held of this.#items) held.sent = false;
    this.#inFlight = 0;
    this.#blocked = false;
  }

  /** A lane without pacing carries independent writes: nothing in it waits for another. */
  #window(): number {
    if (this.#bucket === undefined) return Infinity;
    return this.#turnedAway ? PROBE_WINDOW : MAX_WINDOW;
  }

  #takeBack(held: Held<T> | undefined): void {
    if (held?.sent !== true) return;
    held.sent = false;
    this.#inFlight -= 1;
  }

  #find(item: OutboxItem<T>): Held<T> | undefined {
    return this.#items.find((held) => held.item === item);
  }
}
