/** A value with subscribers, told of each change at once. */
export class Observable<T> {
  #value: T;
  readonly #listeners = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  /** Calls `fn` with the present value, then with each later one. Returns what ends it. */
  subscribe(fn: (value: T) => void): () => void {
    const listener = (value: T): void => fn(value);
    this.#listeners.add(listener);
    fn(this.#value);
    return () => void this.#listeners.delete(listener);
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) if (this.#listeners.has(listener)) listener(value);
  }
}
