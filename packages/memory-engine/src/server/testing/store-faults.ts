import { StorageError } from "@tidemark/protocol";
import type { Engine } from "../../engine-types.js";

/** Asked at each write of a store whether it fails, as on a full disk. Nothing fails by default. */
export interface StoreFaultPlan {
  /** One commit fails before it has written a row; the others of its transaction stand. */
  readonly commit?: () => boolean;
  /** A transaction of many commits fails at its end: all of it is rolled back. */
  readonly transaction?: () => boolean;
}

/** Makes a real store fail where the plan says so, for `wrap` of the test server. */
export function failingStore(plan: StoreFaultPlan): (engine: Engine) => Engine {
  return (engine) =>
    new Proxy(engine, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        if (name === "transact") return failingTransact(target, plan);
        if (name === "batch") return failingBatch(target, plan);
        return member.bind(target);
      },
    });
}

function failingTransact(engine: Engine, plan: StoreFaultPlan): Engine["transact"] {
  return (...args) => {
    if (plan.commit?.() === true) throw full("the commit");
    return engine.transact(...args);
  };
}

function failingBatch(engine: Engine, plan: StoreFaultPlan): Engine["batch"] {
  return (fn) =>
    engine.batch(() => {
      const result = fn();
      if (plan.transaction?.() === true) throw full("the transaction");
      return result;
    });
}

function full(what: string): StorageError {
  return new StorageError(`${what} found no room on the disk`, { kind: "full" });
}
