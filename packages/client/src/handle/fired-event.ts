import type { DocId, EventId, JsonValue } from "@tidemark/protocol";
import type { Appended, Outcome } from "./outcome.js";

/** One fired event: what the sender holds. */
export interface FiredEvent {
  readonly eventId: EventId;
  readonly stream: DocId;
  /** The outcome, once it is known; `undefined`: pending. */
  readonly outcome: Outcome | undefined;
  /** Resolves when the event's handling has ended, however it did; never rejects. */
  readonly settled: Promise<Outcome>;
  /** Resolves when the append is durable; rejects with `EventDeliveryError` when it is refused. */
  readonly appended: Promise<Appended>;
  /** Resolves when the echo has run and shows, or has turned out to have nothing to show. */
  readonly echoed: Promise<void>;
  /**
   * The value that the handler returned, `{}` if none, read from the store once the handling has ended.
   * Rejects with `EventDeliveryError` where it did not end in success (seed 000 §4, result carriage), and
   * with `AuthorizationError` where the sender may append and not read.
   */
  result(): Promise<JsonValue>;
}

/** A promise with its ends. */
class Deferred<T> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  reject!: (error: Error) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** What an event's record is given. */
export interface EventRecordOptions {
  readonly eventId: EventId;
  readonly stream: DocId;
  readResult(): Promise<JsonValue>;
}

/** The sender's side of one event: told of its ends, each at most once. */
export class EventRecord implements FiredEvent {
  readonly eventId: EventId;
  readonly stream: DocId;
  readonly #settled = new Deferred<Outcome>();
  readonly #appended = new Deferred<Appended>();
  readonly #echoed = new Deferred<void>();
  readonly #readResult: () => Promise<JsonValue>;
  #outcome: Outcome | undefined;
  #position: Appended | undefined;
  #heardAfter = Infinity;

  constructor(options: EventRecordOptions) {
    this.eventId = options.eventId;
    this.stream = options.stream;
    this.#readResult = options.readResult;
    // A sender that does not ask is not told: a refusal nobody waits for is no unhandled rejection.
    this.#appended.promise.catch(() => undefined);
  }

  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  get settled(): Promise<Outcome> {
    return this.#settled.promise;
  }

  get appended(): Promise<Appended> {
    return this.#appended.promise;
  }

  get echoed(): Promise<void> {
    return this.#echoed.promise;
  }

  /** Whether frame number `nth` came after it was heard that the append is durable. */
  knownBefore(nth: number): boolean {
    return this.#heardAfter < nth;
  }

  /** The durable place, once known. */
  get position(): Appended | undefined {
    return this.#position;
  }

  async result(): Promise<JsonValue> {
    const outcome = await this.settled;
    if (outcome.kind !== "consequenced") throw outcome.error;
    return this.#readResult();
  }

  markEchoed(): void {
    this.#echoed.resolve();
  }

  /** The append is durable; `frames`: how many frames had come when that was heard. */
  markAppended(appended: Appended, frames: number): void {
    if (this.#position?.seq !== undefined) return;
    this.#position = appended;
    this.#heardAfter = frames;
    this.#appended.resolve(appended);
  }

  /** The first end stands; later ones change nothing. */
  settle(outcome: Outcome): boolean {
    if (this.#outcome !== undefined) return false;
    this.#outcome = outcome;
    if (outcome.kind === "append-refused") this.#appended.reject(outcome.error);
    // What ended was in the stream, even where the answer to the append was lost.
    else this.#appended.resolve(this.#position ?? { seq: undefined });
    this.#settled.resolve(outcome);
    return true;
  }
}
