import type { InstanceKey, Seq } from "@tidemark/protocol";
import type { RunRead } from "./contribution.js";

/**
 * What the loop committed beside its waves while one may have been open (seed 001 §3e). A run sealed before
 * such a commit meets it as a write of somebody else's; one that read what it wrote has seen it.
 */
export class DirectCommits {
  readonly #heads = new Map<InstanceKey, Seq>();
  readonly #seqs = new Set<Seq>();

  get isEmpty(): boolean {
    return this.#seqs.size === 0;
  }

  add(key: InstanceKey, seq: Seq): void {
    this.#heads.set(key, seq);
    this.#seqs.add(seq);
  }

  has(seq: Seq): boolean {
    return this.#seqs.has(seq);
  }

  /** Nothing that is sealed and undecided rests on less than `through`: what stands below is history. */
  forget(through: Seq): void {
    for (const seq of this.#seqs) if (seq <= through) this.#seqs.delete(seq);
    for (const [key, seq] of this.#heads) if (seq <= through) this.#heads.delete(key);
  }

  /** The documents on which a run that is sealed now, over a replica at `basis`, has seen one, and where. */
  seenBy(reads: readonly RunRead[], basis: Seq): ReadonlyMap<InstanceKey, Seq> | undefined {
    let seen: Map<InstanceKey, Seq> | undefined;
    for (const { key, seq, space } of reads) {
      if (space !== undefined || seq <= basis || this.#heads.get(key) !== seq) continue;
      seen ??= new Map();
      seen.set(key, seq);
    }
    return seen;
  }
}
