import { jsonEqual } from "@tidemark/protocol";
import type { InstanceKey } from "@tidemark/protocol";
import type { Resolved } from "./resolve.js";

/** Computes what is shown, telling each instance it rests on. */
export type Reading = (track: (key: InstanceKey) => void) => Resolved;

/** Something shown: its last published state, and whom to tell of the next. */
export class Shown {
  readonly #publisher: Publisher;
  readonly #listeners = new Set<() => void>();
  readonly #read: Reading;
  #state: Resolved;
  keys: ReadonlySet<InstanceKey> = new Set();

  constructor(publisher: Publisher, read: Reading) {
    this.#publisher = publisher;
    this.#read = read;
    this.#state = this.compute();
  }

  /** As of the last publication: the same for everybody, and never half of a frame. */
  get state(): Resolved {
    return this.#state;
  }

  /** Calls `fn` on each change. Returns what ends it. */
  subscribe(fn: () => void): () => void {
    const listener = (): void => fn();
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Computes anew; true if something else is shown now. */
  refresh(): boolean {
    const next = this.compute();
    if (sameState(this.#state, next)) return false;
    this.#state = next;
    return true;
  }

  /** A subscriber that throws keeps nobody else from being told. */
  notify(report: (error: unknown) => void): void {
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        report(error);
      }
    }
  }

  compute(): Resolved {
    const keys = new Set<InstanceKey>();
    const state = this.#read((key) => void keys.add(key));
    this.#publisher.watch(this, keys);
    return state;
  }
}

function sameState(a: Resolved, b: Resolved): boolean {
  if (a.state === "pending" || b.state === "pending") return a.state === b.state;
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return a.value === b.value || jsonEqual(a.value, b.value);
}

/**
 * Shows what moved, once for all that happened in a turn: everything is computed before anybody is
 * told, so that no subscriber sees half of a frame or an echo between its end and its consequence.
 */
export class Publisher {
  readonly #byKey = new Map<InstanceKey, Set<Shown>>();
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  /** Notes what a shown value rests on now. */
  watch(shown: Shown, keys: ReadonlySet<InstanceKey>): void {
    for (const key of shown.keys) if (!keys.has(key)) this.#forget(shown, key);
    for (const key of keys) {
      const watchers = this.#byKey.get(key);
      if (watchers === undefined) this.#byKey.set(key, new Set([shown]));
      else watchers.add(shown);
    }
    shown.keys = keys;
  }

  /** Stops following for a value that nobody shows any more. */
  drop(shown: Shown): void {
    this.watch(shown, new Set());
  }

  /** Publishes what rests on the instances. */
  publish(moved: Iterable<InstanceKey>): void {
    const touched = new Set<Shown>();
    for (const key of moved) for (const shown of this.#byKey.get(key) ?? []) touched.add(shown);
    this.#tell(touched);
  }

  /** Publishes everything, as when what is behind all of it was replaced. */
  publishAll(): void {
    this.#tell(new Set([...this.#byKey.values()].flatMap((watchers) => [...watchers])));
  }

  #tell(touched: ReadonlySet<Shown>): void {
    const changed = [...touched].filter((shown) => shown.refresh());
    for (const shown of changed) shown.notify(this.#report);
  }

  #forget(shown: Shown, key: InstanceKey): void {
    const watchers = this.#byKey.get(key);
    watchers?.delete(shown);
    if (watchers?.size === 0) this.#byKey.delete(key);
  }
}
