import { parseInstanceKey, scopeKindOf } from "@tidemark/protocol";
import type { BaseView, DocId, Held, InstanceKey, Seq } from "@tidemark/protocol";

const ABSENT: Held = { value: undefined, seq: 0 as Seq };

/**
 * What is known under the echoes: the rows that frames brought, and what is absent though no row says so. A
 * user's or session's own instance that is not held was never written, and so were the nodes of a piece that
 * only this client has made so far (speculation.md §What speculates). Anything else that is not held is pending.
 */
export class KnownRows implements BaseView {
  readonly #replica: BaseView;
  readonly #unborn = new Set<DocId>();

  constructor(replica: BaseView) {
    this.#replica = replica;
  }

  get(key: InstanceKey): Held | undefined {
    return this.#replica.get(key) ?? (this.#isAbsent(key) ? ABSENT : undefined);
  }

  /** Documents that cannot exist yet, since what they belong to is not in the store. */
  assumeAbsent(ids: Iterable<DocId>): void {
    for (const id of ids) this.#unborn.add(id);
  }

  /** Rows of these came: the store is asked from now on, and what it takes away again is pending. */
  arrived(keys: Iterable<InstanceKey>): void {
    if (this.#unborn.size === 0) return;
    for (const key of keys) this.#unborn.delete(parseInstanceKey(key).id);
  }

  #isAbsent(key: InstanceKey): boolean {
    const { id, scopeKey } = parseInstanceKey(key);
    return scopeKindOf(scopeKey) !== "space" || this.#unborn.has(id);
  }
}
