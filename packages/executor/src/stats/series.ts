/** A bounded list of the newest entries; older ones are dropped and counted. */
export class Series<T> {
  readonly #entries: T[] = [];
  readonly #limit: number;
  #dropped = 0;

  constructor(limit = 256) {
    this.#limit = limit;
  }

  push(entry: T): void {
    this.#entries.push(entry);
    if (this.#entries.length <= this.#limit) return;
    this.#entries.shift();
    this.#dropped += 1;
  }

  /** Puts another entry in the place of one; nothing where that one has been dropped. */
  amend(entry: T, next: T): void {
    const at = this.#entries.lastIndexOf(entry);
    if (at >= 0) this.#entries[at] = next;
  }

  get entries(): readonly T[] {
    return [...this.#entries];
  }

  get dropped(): number {
    return this.#dropped;
  }
}
