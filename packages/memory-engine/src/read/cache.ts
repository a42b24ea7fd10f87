/**
 * A cache bounded by bytes, in two generations: what is used moves to the young one, and once
 * that is half full the old one is dropped whole. Two map look-ups instead of a linked list; a
 * value used within the last half bound is never lost.
 */
export class TwoGenerationCache<V> {
  readonly #halfBytes: number;
  readonly #sizeOf: (value: V) => number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();
  #youngBytes = 0;

  constructor(boundBytes: number, sizeOf: (value: V) => number) {
    this.#halfBytes = boundBytes / 2;
    this.#sizeOf = sizeOf;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  /** Also after a value grew in place: its size is counted anew. */
  set(key: string, value: V): void {
    this.#young.set(key, value);
    this.#youngBytes += this.#sizeOf(value);
    if (this.#youngBytes <= this.#halfBytes) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#youngBytes = 0;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
