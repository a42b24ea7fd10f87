import { type Random, seededRandom } from "@tidemark/protocol";

/** What a seed decides. */
export class Chance {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** True with this probability. */
  of(probability: number): boolean {
    return this.#random.next() < probability;
  }

  below(bound: number): number {
    return Math.floor(this.#random.next() * bound);
  }

  pick<T>(from: readonly T[]): T {
    const item = from[this.below(from.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  weighted<T>(from: readonly (readonly [number, T])[]): T {
    const sum = from.reduce((total, [weight]) => total + weight, 0);
    let left = this.#random.next() * sum;
    for (const [weight, item] of from) {
      left -= weight;
      if (left < 0) return item;
    }
    return (from[0] as readonly [number, T])[1];
  }
}
