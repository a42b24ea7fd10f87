import { type Clock, type Random, type SpaceId } from "@tidemark/protocol";
import { openEngine } from "../../engine.js";
import type { Engine } from "../../engine-types.js";
import type { StoreExtension } from "../../extension/extension.js";
import { openBetterSqlite3 } from "../../sqlite/better-sqlite3.js";
import type { SqlDriver } from "../../sqlite/driver.js";
import type { StoreProvider } from "../types.js";

/** Where test stores are and what they run on. */
export interface TestStoreOptions {
  readonly storeClock: Clock;
  readonly random: Random;
  /** A folder for files that outlive a server; without it stores are in memory. */
  readonly dir?: string;
  readonly extensions?: readonly StoreExtension[];
  /** Sees every engine that is opened, and may wrap it: for counting and failing. */
  readonly wrap?: (engine: Engine) => Engine;
}

/** The stores of a test: in memory, or one file per space in a folder. */
export function createTestStores(options: TestStoreOptions): StoreProvider {
  const known = new Set<SpaceId>();
  const kept = new Map<SpaceId, SqlDriver>();
  const driverOf = (space: SpaceId): SqlDriver => {
    if (options.dir !== undefined) return openBetterSqlite3({ path: fileOf(options.dir, space) });
    const driver = kept.get(space) ?? lasting(openBetterSqlite3({ path: ":memory:" }));
    kept.set(space, driver);
    return driver;
  };
  return {
    open(space) {
      known.add(space);
      const engine = openEngine({
        driver: driverOf(space),
        space,
        storeClock: options.storeClock,
        random: options.random,
        extensions: options.extensions ?? [],
      });
      return options.wrap?.(engine) ?? engine;
    },
    exists: (space) => known.has(space),
    list: () => [...known],
  };
}

/** A store in memory is its connection: it lasts over the engines that open and close it, as a file would. */
function lasting(driver: SqlDriver): SqlDriver {
  return {
    prepare: (sql) => driver.prepare(sql),
    exec: (sql) => driver.exec(sql),
    transaction: (fn, mode) => driver.transaction(fn, mode),
    savepoint: (fn) => driver.savepoint(fn),
    close: () => undefined,
  };
}

function fileOf(dir: string, space: SpaceId): string {
  return `${dir}/${space.replaceAll(":", "_")}.sqlite`;
}
