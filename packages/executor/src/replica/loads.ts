import type { Subscription } from "@tidemark/memory-engine";
import type { Held, InstanceKey, SpaceId } from "@tidemark/protocol";

/** What a load came to (R25): the document as of a seq, that it is on its way, or why it cannot be had. */
export type LoadAnswer =
  | { readonly state: "held"; readonly held: Held }
  | { readonly state: "pending" }
  | { readonly state: "failed"; readonly error: unknown };

/** What becomes of loads beside their answers. Told between actions, never within one. */
export interface LoadNews {
  /**
   * `forgotten`: the copies are not to be used any more, so that the next read of each is a load.
   * `settled`: loads of these that were pending or had failed would succeed now.
   */
  readonly kind: "forgotten" | "settled";
  readonly keys: readonly InstanceKey[];
}

/**
 * Where the documents of serving replicas come from. A store in this process answers at once; one that
 * has to be reached may answer that a document is on its way, or fail, and tells when that has changed.
 */
export interface DocumentLoads {
  /** One load. `read` reads the co-hosted store as of the replica's seq. @throws as a failed load */
  load(space: SpaceId, key: InstanceKey, read: () => Held): LoadAnswer;
  watch(space: SpaceId, fn: (news: LoadNews) => void): Subscription;
}

/** The co-hosted store: nothing is ever on its way. */
export const storeLoads: DocumentLoads = {
  load: (_space, _key, read) => ({ state: "held", held: read() }),
  watch: () => ({ close: () => undefined }),
};
