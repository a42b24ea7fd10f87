/** A timer that was set. */
export interface Timer<Owner> {
  readonly due: number;
  readonly owner: Owner;
  readonly fn: () => void;
}

/** Timers in the order in which they fire: by due time, then by the order in which they were set. */
export class TimerQueue<Owner> {
  readonly #timers: Timer<Owner>[] = [];

  add(due: number, owner: Owner, fn: () => void): Timer<Owner> {
    const timer = { due, owner, fn };
    this.#timers.splice(this.#after(due), 0, timer);
    return timer;
  }

  remove(timer: Timer<Owner>): void {
    const at = this.#timers.indexOf(timer);
    if (at !== -1) this.#timers.splice(at, 1);
  }

  /** Takes out the first timer due at or before `until` whose owner may run. */
  takeDue(until: number, mayRun: (owner: Owner) => boolean): Timer<Owner> | undefined {
    const at = this.#timers.findIndex((timer) => mayRun(timer.owner));
    const timer = this.#timers[at];
    if (timer === undefined || timer.due > until) return undefined;
    this.#timers.splice(at, 1);
    return timer;
  }

  nextDue(mayRun: (owner: Owner) => boolean): number | undefined {
    return this.#timers.find((timer) => mayRun(timer.owner))?.due;
  }

  count(counts: (owner: Owner) => boolean): number {
    return this.#timers.filter((timer) => counts(timer.owner)).length;
  }

  /** Index of the first timer due later than `due`. */
  #after(due: number): number {
    let [low, high] = [0, this.#timers.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#timers[middle]?.due ?? Infinity) <= due) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
