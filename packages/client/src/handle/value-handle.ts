import type { Shown, Publisher } from "../space/publisher.js";

/** Something a space shows, live. */
export interface ValueHandle<T> {
  /** What is shown now, echoes included; `undefined` while it is pending, or where nothing is there. */
  readonly value: T | undefined;
  /** Whether the value is on its way. */
  readonly pending: boolean;
  /**
   * Calls `fn` with what is shown now and with each later state: once for everything that one frame,
   * echo or edit moved, never with half of it. Returns what ends it.
   */
  subscribe(fn: (value: T | undefined, state: { readonly pending: boolean }) => void): () => void;
}

/** A {@link ValueHandle} over what is published. */
export class LiveValue<T> implements ValueHandle<T> {
  readonly #shown: Shown;
  readonly #publisher: Publisher;

  constructor(shown: Shown, publisher: Publisher) {
    this.#shown = shown;
    this.#publisher = publisher;
  }

  get value(): T | undefined {
    const { state } = this.#shown;
    return state.state === "value" ? (state.value as T | undefined) : undefined;
  }

  get pending(): boolean {
    return this.#shown.state.state === "pending";
  }

  subscribe(fn: (value: T | undefined, state: { readonly pending: boolean }) => void): () => void {
    const tell = (): void => fn(this.value, { pending: this.pending });
    const end = this.#shown.subscribe(tell);
    tell();
    return end;
  }

  /** Stops following; the last state stays. */
  release(): void {
    this.#publisher.drop(this.#shown);
  }
}
