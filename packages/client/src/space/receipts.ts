import {
  AuthorizationError,
  ConnectionError,
  instanceKey,
  receiptIdFor,
  SPACE_SCOPE_KEY,
} from "@tidemark/protocol";
import type { DocId, InstanceKey, JsonValue, SpaceId } from "@tidemark/protocol";
import type { EventRecord } from "../handle/fired-event.js";
import type { LiveValue } from "../handle/value-handle.js";
import type { Observable } from "../session/observable.js";
import type { ConnectionStatus } from "../session/status.js";
import type { SpaceState } from "./space-link.js";
import { RECEIPT_WATCHES } from "./watch-book.js";

/** What a {@link ReceiptReader} is given. */
export interface ReceiptSources {
  readonly space: SpaceId;
  readonly state: Observable<SpaceState>;
  readonly status: Observable<ConnectionStatus>;
  /** Watches a document until the returned function is called. */
  watch(id: DocId): () => void;
  /** What is shown of it. */
  live(key: InstanceKey): LiveValue<JsonValue>;
}

/**
 * Reads what handlers returned (R33). A receipt is a document that is watched until it is here; a bounded number of them
 * at once, since a list of watches that is longer than the server takes is refused whole, with the pieces in it.
 */
export class ReceiptReader {
  readonly #sources: ReceiptSources;
  readonly #waiting: (() => void)[] = [];
  #free = RECEIPT_WATCHES;

  constructor(sources: ReceiptSources) {
    this.#sources = sources;
  }

  /**
   * The value, `{}` where there is none. Rejects with `AuthorizationError` where the space may not be read, and with
   * `ConnectionError` where the client has been closed.
   */
  async read(record: EventRecord): Promise<JsonValue> {
    await this.#place();
    try {
      return await this.#read(record);
    } finally {
      this.#leave();
    }
  }

  #read({ eventId, stream }: EventRecord): Promise<JsonValue> {
    const { space, state, status, watch, live } = this.#sources;
    const id = receiptIdFor(eventId, stream);
    const release = watch(id);
    const shown = live(instanceKey(id, SPACE_SCOPE_KEY));
    const ends = [release, () => shown.release()];
    const what = `event ${eventId} was handled; its result`;
    return new Promise<JsonValue>((resolve, reject) => {
      const end = shown.subscribe((value, { pending }) => {
        if (!pending) resolve(value === undefined ? {} : value);
      });
      // The end of its own event is a sender's to know; what the handler returned stands in the space.
      const follow = state.subscribe(({ state: now }) => {
        if (now !== "denied") return;
        const words = `${what} is a document of ${space}, which this user may not read`;
        reject(new AuthorizationError(words, {}));
      });
      const watchStatus = status.subscribe(({ state: now }) => {
        if (now === "stopped")
          reject(new ConnectionError(`${what} was not read: the client is closed`));
      });
      ends.push(end, follow, watchStatus);
    }).finally(() => {
      for (const each of ends) each();
    });
  }

  async #place(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
