import { instanceKey, LimitError, MAX_WATCHES, resolveScopeKey } from "@tidemark/protocol";
import type { Actor, InstanceKey, Watch } from "@tidemark/protocol";

/** How many results of events are read at once. */
export const RECEIPT_WATCHES = 64;
/** The access list, and the list of pieces. */
const OWN_WATCHES = 2;
/** How many pieces may be watched: the server refuses a list that is too long whole (wire-protocol.md, "Limits"). */
export const PIECE_WATCHES = MAX_WATCHES - RECEIPT_WATCHES - OWN_WATCHES;

/** What a space's handles ask to be shown, merged into the list that the server is told. */
export class WatchBook {
  readonly #watches = new Map<string, { watch: Watch; holders: number }>();
  /** Which of them are of pieces. */
  readonly #pieces = new Set<string>();
  readonly #seen = new Set<InstanceKey>();

  /** The list for the wire. */
  list(): readonly Watch[] {
    return [...this.#watches.values()].map(({ watch }) => watch);
  }

  /**
   * Adds the watch of a piece; see {@link add}.
   *
   * @throws LimitError where as many are watched as may be.
   */
  addPiece(watch: Watch): boolean {
    if (!this.#pieces.has(watch.id) && this.#pieces.size >= PIECE_WATCHES) {
      const words = `${PIECE_WATCHES} pieces of this space are watched already; close one first`;
      throw new LimitError(words, { limit: "watched pieces", max: PIECE_WATCHES });
    }
    this.#pieces.add(watch.id);
    return this.add(watch);
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
    if (held.holders > 0) return false;
    this.#pieces.delete(id);
    return this.#watches.delete(id);
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
