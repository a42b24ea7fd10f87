import type { Engine, StoredBasisRead } from "@tidemark/memory-engine";
import { instanceKey, type ActionId, type ScopeKey, type SpaceId } from "@tidemark/protocol";
import type { RecoveredRead } from "@tidemark/runtime";

/** What recovery reads of the store. */
export interface BasisSource {
  readonly space: SpaceId;
  readonly basis: Pick<Engine["basis"], "stale" | "known" | "reads">;
}

/**
 * Recovery by the basis index alone (seed 001 §6): a node whose recorded inputs all stand where it
 * read them is current and does not run; every other node runs when something demands it. There is
 * no replay and nothing else is persisted.
 */
export class BasisRecovery {
  readonly #source: BasisSource;
  readonly #current = new Set<string>();

  /** Judges the whole index in one query, as the store stands now. */
  constructor(source: BasisSource) {
    this.#source = source;
    const { basis } = source;
    const stale = new Set(basis.stale().map(({ action, scopeKey }) => nodeKey(action, scopeKey)));
    for (const { action, scopeKey } of basis.known()) {
      const key = nodeKey(action, scopeKey);
      if (!stale.has(key)) this.#current.add(key);
    }
  }

  /** Nodes that no registration has asked for yet and whose inputs stood still. */
  get current(): number {
    return this.#current.size;
  }

  /**
   * The recorded inputs of a node that registers now, where it was current; it is asked once per node.
   * The runtime compares their seqs again with what the replica holds by then.
   */
  take(action: ActionId, scopeKey: ScopeKey): readonly RecoveredRead[] | undefined {
    if (!this.#current.delete(nodeKey(action, scopeKey))) return undefined;
    const rows = this.#source.basis.reads(action, scopeKey);
    // An input of another space can only be judged by that space's store: the node runs.
    if (rows.some((row) => row.space !== this.#source.space)) return undefined;
    return rows.map(asRead);
  }
}

function asRead(row: StoredBasisRead): RecoveredRead {
  return { key: instanceKey(row.id, row.scopeKey), seq: row.seq };
}

function nodeKey(action: string, scopeKey: ScopeKey): string {
  return `${scopeKey} ${action}`;
}
