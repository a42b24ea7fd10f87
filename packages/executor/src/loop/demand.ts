import type { DemandShare, SessionRef } from "@tidemark/memory-engine";
import type { InstanceKey } from "@tidemark/protocol";

/** What a reconciliation changed. */
export interface DemandMoves {
  readonly entered: readonly InstanceKey[];
  readonly left: readonly InstanceKey[];
  /** Keys compared: those of replaced shares alone. */
  readonly reconciled: number;
}

/**
 * The demand registry (seed 001 §1): per instance, the sessions that track it. A share that is the object
 * held costs one comparison.
 */
export class DemandRegistry {
  readonly #shares = new Map<SessionRef, ReadonlySet<InstanceKey>>();
  readonly #demanders = new Map<InstanceKey, number>();
  #pairs = 0;

  /** Instances demanded now. */
  get instances(): number {
    return this.#demanders.size;
  }

  /** Pairs of instance and demanding session. */
  get pairs(): number {
    return this.#pairs;
  }

  /** Takes over the sessions' shares as they are now. */
  reconcile(shares: ReadonlyMap<SessionRef, Pick<DemandShare, "keys">>): DemandMoves {
    const touched = new Map<InstanceKey, boolean>();
    for (const session of this.#shares.keys()) {
      if (!shares.has(session)) this.#replace(session, undefined, touched);
    }
    for (const [session, { keys }] of shares) {
      if (this.#shares.get(session) !== keys) this.#replace(session, keys, touched);
    }
    const entered: InstanceKey[] = [];
    const left: InstanceKey[] = [];
    for (const [key, was] of touched) {
      const is = this.#demanders.has(key);
      if (is && !was) entered.push(key);
      if (!is && was) left.push(key);
    }
    return { entered, left, reconciled: touched.size };
  }

  #replace(
    session: SessionRef,
    next: ReadonlySet<InstanceKey> | undefined,
    touched: Map<InstanceKey, boolean>,
  ): void {
    const before = this.#shares.get(session);
    for (const key of before ?? []) if (next?.has(key) !== true) this.#count(key, -1, touched);
    for (const key of next ?? []) if (before?.has(key) !== true) this.#count(key, 1, touched);
    if (next === undefined) this.#shares.delete(session);
    else this.#shares.set(session, next);
  }

  #count(key: InstanceKey, by: 1 | -1, touched: Map<InstanceKey, boolean>): void {
    const now = this.#demanders.get(key) ?? 0;
    if (!touched.has(key)) touched.set(key, now > 0);
    this.#pairs += by;
    if (now + by === 0) this.#demanders.delete(key);
    else this.#demanders.set(key, now + by);
  }
}
