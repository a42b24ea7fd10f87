import type { AcceptedCommit, Seq } from "@tidemark/protocol";
import type { Subscription } from "../types.js";

/** What the feed reads: the commit table. */
export interface CommitSource {
  /** Accepted commits above `seq`, oldest first, at most `limit`. */
  commitsSince(seq: Seq, limit: number): readonly AcceptedCommit[];
}

/** Commits read from the table at once. */
const READ_BATCH = 512;

interface Subscriber {
  at: Seq;
  readonly fn: (commit: AcceptedCommit) => void;
}

/**
 * The accepted-commit feed of one space. The commit table is the truth and the feed's position is a
 * seq in it (R19): a commit handed in by this process is told directly when it is the next one, and
 * whatever lies between comes from the table. Telling is queued, so that a subscriber that commits
 * from within its callback does not make another see the commits out of order.
 */
export class CommitFeed {
  readonly #source: CommitSource;
  readonly #onError: (error: unknown) => void;
  readonly #subscribers = new Set<Subscriber>();
  readonly #queue: AcceptedCommit[] = [];
  #told: Seq;
  #queued: Seq;
  #holds = 0;
  #draining = false;

  /** `onError` is told what a subscriber threw: one that fails keeps nobody else from being told. */
  constructor(source: CommitSource, head: Seq, onError: (error: unknown) => void) {
    this.#source = source;
    this.#onError = onError;
    this.#told = head;
    this.#queued = head;
  }

  /** The seq up to which every subscriber was told. */
  get position(): Seq {
    return this.#told;
  }

  /** The seq up to which the table was read. */
  get head(): Seq {
    return this.#queued;
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  /** Takes in commits of this process, in seq order. */
  publish(commits: readonly AcceptedCommit[]): void {
    for (const commit of commits) {
      if (commit.seq <= this.#queued) continue;
      if (commit.seq === this.#queued + 1) this.#enqueue(commit);
      else this.#readTable();
    }
    this.#drain();
  }

  /** Takes in whatever the table holds above the position; true when there was something. */
  catchUp(): boolean {
    const before = this.#queued;
    this.#readTable();
    this.#drain();
    return this.#queued > before;
  }

  /** Keeps everything back until as many `release()`s came. */
  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    this.#drain();
  }

  /** Tells `fn` every commit above `from`: first those of the table, then the live ones. */
  subscribe(from: Seq, fn: (commit: AcceptedCommit) => void): Subscription {
    const subscriber: Subscriber = { at: from, fn };
    // Registered after the catch-up: what a callback commits meanwhile is queued and told below it.
    this.#replay(subscriber);
    this.#subscribers.add(subscriber);
    return { close: () => void this.#subscribers.delete(subscriber) };
  }

  #replay(subscriber: Subscriber): void {
    while (subscriber.at < this.#told) {
      const batch = this.#source.commitsSince(subscriber.at, READ_BATCH);
      if (batch.length === 0) return;
      for (const commit of batch) {
        if (commit.seq > this.#told) return;
        this.#tell(subscriber, commit);
      }
    }
  }

  #readTable(): void {
    for (;;) {
      const batch = this.#source.commitsSince(this.#queued, READ_BATCH);
      for (const commit of batch) this.#enqueue(commit);
      if (batch.length < READ_BATCH) return;
    }
  }

  #enqueue(commit: AcceptedCommit): void {
    this.#queue.push(commit);
    this.#queued = commit.seq;
  }

  #drain(): void {
    if (this.#draining || this.#holds > 0) return;
    this.#draining = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        this.#told = next.seq;
        for (const subscriber of this.#subscribers) this.#tell(subscriber, next);
        if (this.#holds > 0) return;
      }
    } finally {
      this.#draining = false;
    }
  }

  #tell(subscriber: Subscriber, commit: AcceptedCommit): void {
    if (commit.seq <= subscriber.at) return;
    subscriber.at = commit.seq;
    try {
      subscriber.fn(commit);
    } catch (error) {
      this.#onError(error);
    }
  }
}
