import { StorageError } from "@tidemark/protocol";
import type { Engine } from "../../engine-types.js";

/** Asked at each write of a store whether it fails, as on a full disk. Nothing fails by default. */
export interface StoreFaultPlan {
  /** One commit fails before it has written a row; the others of its transaction stand. */
  readonly commit?: () => boolean;
  /** A transaction of many commits fails at its end: all of it is rolled back. */
  readonly transaction?: () => boolean;
  /** A transaction stands, and whoever made it is told that it failed. */
  readonly afterwards?: () => boolean;
}

/** Makes a real store fail where the plan says so, for `wrap` of the test server. */
export function failingStore(plan: StoreFaultPlan): (engine: Engine) => Engine {
  return (engine) => {
    const store = new FailingStore(engine, plan);
    return new Proxy(engine, {
      get(target, name) {
        if (name === "transact") return store.transact;
        if (name === "batch") return store.batch;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  };
}

class FailingStore {
  readonly #engine: Engine;
  readonly #plan: StoreFaultPlan;
  #inBatch = false;

  constructor(engine: Engine, plan: StoreFaultPlan) {
    this.#engine = engine;
    this.#plan = plan;
  }

  readonly transact: Engine["transact"] = (...args) => {
    if (this.#plan.commit?.() === true) throw full("the commit");
    const result = this.#engine.transact(...args);
    // Within a batch nothing is durable yet.
    if (!this.#inBatch) this.#afterwards();
    return result;
  };

  readonly batch: Engine["batch"] = (fn) => {
    this.#inBatch = true;
    try {
      const result = this.#engine.batch(() => {
        const made = fn();
        if (this.#plan.transaction?.() === true) throw full("the transaction");
        return made;
      });
      this.#afterwards();
      return result;
    } finally {
      this.#inBatch = false;
    }
  };

  #afterwards(): void {
    if (this.#plan.afterwards?.() !== true) return;
    throw new StorageError("the disk told of a failure behind the commit", { kind: "io" });
  }
}

function full(what: string): StorageError {
  return new StorageError(`${what} found no room on the disk`, { kind: "full" });
}
