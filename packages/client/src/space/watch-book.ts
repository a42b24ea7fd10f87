import { instanceKey, resolveScopeKey } from "@tidemark/protocol";
import type { Actor, InstanceKey, Watch } from "@tidemark/protocol";

/** What a space's handles ask to be shown, merged into the list that the server is told. */
export class WatchBook {
  readonly #watches = new Map<string, { watch: Watch; holders: number }>();
  readonly #seen = new Set<InstanceKey>();

  /** The list for the wire. */
  list(): readonly Watch[] {
    return [...this.#watches.values()].map(({ watch }) => watch);
  }

  /**
   * Adds a watch, or another holder of one of the same id; a later selector replaces an earlier one.
   * Returns whether the list changed.
   */
  add(watch: Watch): boolean {
    const held = this.#watches.get(watch.id);
    const changed = held === undefined || JSON.stringify(held.watch) !== JSON.stringify(watch);
    this.#watches.set(watch.id, { watch, holders: (held?.holders ?? 0) + 1 });
    return changed;
  }

  /** Takes one holder away. Returns whether the list changed. */
  remove(id: string): boolean {
    const held = this.#watches.get(id);
    if (held === undefined) return false;
    held.holders -= 1;
    return held.holders <= 0 && this.#watches.delete(id);
  }

  /** Whether the instance is the root of a watch, so that a row of it is on its way. */
  awaits(key: InstanceKey, actor: Actor): boolean {
    if (this.#seen.has(key)) return false;
    for (const { watch } of this.#watches.values()) {
      const { root } = watch;
      if (root === undefined) continue;
      if (instanceKey(root.id, resolveScopeKey(root.scope ?? "space", actor)) === key) return true;
    }
    return false;
  }

  /** Notes instances that a frame has brought. */
  arrived(keys: Iterable<InstanceKey>): void {
    for (const key of keys) this.#seen.add(key);
  }

  /** Everything is to be brought anew. */
  reset(): void {
    this.#seen.clear();
  }
}
