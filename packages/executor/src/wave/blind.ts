import type { InstanceKey, Seq } from "@tidemark/protocol";
import type { RunRead } from "./contribution.js";

/**
 * Instances that a wave of ours wrote over what the replica has not taken in: until it has, they show our
 * part alone. A run that reads one meanwhile has not read what the store holds at that commit.
 */
export class BlindWrites {
  readonly #seqs = new Map<InstanceKey, Seq>();

  add(key: InstanceKey, seq: Seq): void {
    this.#seqs.set(key, seq);
  }

  /** The reads of a run over a replica at `at`: of such an instance it has seen no more than that (seed 001 §3b). */
  asSeen(reads: readonly RunRead[], at: Seq): readonly RunRead[] {
    if (this.#seqs.size === 0) return reads;
    for (const [key, seq] of this.#seqs) if (seq <= at) this.#seqs.delete(key);
    if (this.#seqs.size === 0) return reads;
    return reads.map((read) => {
      const blind = read.space === undefined && this.#seqs.has(read.key) && read.seq > at;
      return blind ? { ...read, seq: at } : read;
    });
  }
}
