import { type Clock, type Random, type SpaceId } from "@tidemark/protocol";
import { openEngine } from "../../engine.js";
import type { Engine } from "../../engine-types.js";
import type { StoreExtension } from "../../extension/extension.js";
import { openBetterSqlite3 } from "../../sqlite/better-sqlite3.js";
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
  return {
    open(space) {
      known.add(space);
      const path = options.dir === undefined ? ":memory:" : fileOf(options.dir, space);
      const engine = openEngine({
        driver: openBetterSqlite3({ path }),
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

function fileOf(dir: string, space: SpaceId): string {
  return `${dir}/${space.replaceAll(":", "_")}.sqlite`;
}
