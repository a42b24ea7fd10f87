import { isTidemarkError, StorageError } from "@tidemark/protocol";
import type { Store } from "../store.js";

/**
 * Who writes when. One SQLite transaction holds one commit, or many with a verdict each (R34); a
 * commit that is refused has written nothing, because it is buffered until it is accepted.
 */
export class WriteGroup {
  readonly #store: Store;
  #open: "none" | "batch" | "commit" = "none";
  /** Set once rows are written; a rollback from then on costs what is remembered. */
  #wrote = false;
  /** A failure halfway through a commit's rows: the batch cannot stand any more. */
  #broken: { readonly error: unknown } | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** One commit: in the open batch, or in a transaction of its own. */
  commit<T>(fn: (beforeWrite: () => void) => T): T {
    if (this.#open === "commit") {
      throw new StorageError("a commit is open already: transactions do not nest", { kind: "io" });
    }
    if (this.#open === "batch") return this.#inBatch(fn);
    return this.#transaction("commit", () => fn(() => (this.#wrote = true)));
  }

  batch<T>(fn: () => T): T {
    if (this.#open !== "none") {
      throw new StorageError("a batch or commit is open already: do not nest", { kind: "io" });
    }
    return this.#transaction("batch", () => {
      const result = fn();
      if (this.#broken !== undefined) throw this.#broken.error;
      return result;
    });
  }

  /** Upkeep: a transaction of its own that is no commit. */
  write<T>(fn: () => T): T {
    return this.batch(() => {
      this.#wrote = true;
      return fn();
    });
  }

  #transaction<T>(kind: "batch" | "commit", fn: () => T): T {
    this.#wrote = false;
    this.#broken = undefined;
    try {
      return this.#store.pin("immediate", () => {
        this.#open = kind;
        try {
          return fn();
        } finally {
          this.#open = "none";
        }
      });
    } catch (error) {
      if (this.#wrote) this.#store.forget();
      throw error;
    }
  }

  #inBatch<T>(fn: (beforeWrite: () => void) => T): T {
    if (this.#broken !== undefined) throw this.#broken.error;
    const { driver, extensions } = this.#store;
    // Only a participant may refuse a commit whose rows are being written.
    const isolated = extensions.participates;
    let writing = false;
    const run = (): T =>
      fn(() => {
        writing = true;
        this.#wrote = true;
      });
    this.#open = "commit";
    try {
      return isolated ? driver.savepoint(run) : run();
    } catch (error) {
      if (writing && isolated && !isTidemarkError(error, "storage")) this.#store.forget();
      else if (writing) this.#broken = { error };
      throw error;
    } finally {
      this.#open = "batch";
    }
  }
}
