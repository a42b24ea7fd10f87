import type { DocumentLoads, LoadAnswer, LoadNews } from "@tidemark/executor";
import type { Held, InstanceKey, SpaceId } from "@tidemark/protocol";

type Listener = (news: LoadNews) => void;

/**
 * Loads of the world's serving runtimes: of the store, unless the scenario has a document's fail. What
 * it says outlives the processes that load.
 */
export class WorldLoads implements DocumentLoads {
  readonly #failures = new Map<string, () => Error>();
  readonly #listeners = new Map<SpaceId, Set<Listener>>();

  load(space: SpaceId, key: InstanceKey, read: () => Held): LoadAnswer {
    const failure = this.#failures.get(placeOf(space, key));
    return failure === undefined
      ? { state: "held", held: read() }
      : { state: "failed", error: failure() };
  }

  watch(space: SpaceId, fn: Listener): { close(): void } {
    const listeners = this.#listeners.get(space) ?? new Set();
    this.#listeners.set(space, listeners.add(fn));
    return { close: () => void listeners.delete(fn) };
  }

  /** Loads of the document fail from now on, and whoever has a copy forgets it. */
  fail(space: SpaceId, key: InstanceKey, failure: () => Error): void {
    this.#failures.set(placeOf(space, key), failure);
    this.#tell(space, { kind: "forgotten", keys: [key] });
  }

  /** A new generation of the load begins, and succeeds. */
  heal(space: SpaceId, key: InstanceKey): void {
    this.#failures.delete(placeOf(space, key));
    this.#tell(space, { kind: "settled", keys: [key] });
  }

  #tell(space: SpaceId, news: LoadNews): void {
    for (const listener of this.#listeners.get(space) ?? []) listener(news);
  }
}

function placeOf(space: SpaceId, key: InstanceKey): string {
  return `${space} ${key}`;
}
