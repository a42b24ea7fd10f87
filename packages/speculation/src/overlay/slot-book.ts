import type { OriginKey } from "./entry.js";
import type { Slot } from "./slot.js";

/** The ordered slots of a session, and those set aside while a rebase lays them anew. */
export class SlotBook {
  /** Insertion order is the order of what the session did; replacing a value keeps its place. */
  readonly #laid = new Map<OriginKey, Slot>();
  readonly #aside = new Map<OriginKey, Slot>();

  /** The slots whose layers stand, in order. */
  laid(): IterableIterator<Slot> {
    return this.#laid.values();
  }

  /** All slots, in order: those set aside stood behind the others. */
  *all(): IterableIterator<Slot> {
    yield* this.#laid.values();
    yield* this.#aside.values();
  }

  find(origin: OriginKey): Slot | undefined {
    return this.#laid.get(origin) ?? this.#aside.get(origin);
  }

  add(slot: Slot): void {
    this.#laid.set(slot.origin, slot);
  }

  replace(slot: Slot): void {
    const book = this.#laid.has(slot.origin) ? this.#laid : this.#aside;
    book.set(slot.origin, slot);
  }

  /** Takes a slot out for good. The second part: whether its layers stood. */
  remove(origin: OriginKey): { readonly slot: Slot | undefined; readonly stood: boolean } {
    const slot = this.#laid.get(origin);
    if (slot === undefined) return { slot: this.takeAside(origin), stood: false };
    this.#laid.delete(origin);
    return { slot, stood: true };
  }

  /** Sets aside the slots from `index` on and returns them in order. */
  setAside(index: number): readonly Slot[] {
    const later = [...this.#laid.values()].slice(index);
    for (const slot of later) {
      this.#laid.delete(slot.origin);
      this.#aside.set(slot.origin, slot);
    }
    return later;
  }

  takeAside(origin: OriginKey): Slot | undefined {
    const slot = this.#aside.get(origin);
    this.#aside.delete(origin);
    return slot;
  }
}
