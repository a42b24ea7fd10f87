import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Clock, isSpaceId, type Random, type SpaceId } from "@tidemark/protocol";
import { openEngine } from "../engine.js";
import type { Engine } from "../engine-types.js";
import type { StoreExtension } from "../extension/extension.js";
import type { StoreProvider } from "../server/types.js";
import { openBetterSqlite3 } from "./better-sqlite3.js";
import type { Durability, SqlDriver } from "./driver.js";

const SUFFIX = ".sqlite";

/** What a folder of stores is opened with. */
export interface FolderStoresOptions {
  /** Made where it does not stand yet. */
  readonly dir: string;
  readonly storeClock: Clock;
  readonly random: Random;
  readonly durability?: Durability;
  readonly extensions?: readonly StoreExtension[];
  /** Opens the driver of a file. Default: better-sqlite3. */
  readonly openDriver?: (file: string) => SqlDriver;
}

/** One SQLite file a space, in one folder; several processes may share it (R19). */
export function folderStores(options: FolderStoresOptions): StoreProvider {
  mkdirSync(options.dir, { recursive: true });
  return {
    open: (space) => open(options, space),
    exists: (space) => existsSync(storeFileOf(options.dir, space)),
    list: () => list(options.dir),
  };
}

function open(options: FolderStoresOptions, space: SpaceId): Engine {
  const file = storeFileOf(options.dir, space);
  return openEngine({
    driver: options.openDriver?.(file) ?? openBetterSqlite3({ path: file }),
    space,
    storeClock: options.storeClock,
    random: options.random,
    durability: options.durability ?? "normal",
    extensions: options.extensions ?? [],
  });
}

/**
 * The file of a space's store: its DID, with `+` for the colons, which some systems do not take in a
 * name and which no DID of this protocol holds.
 */
export function storeFileOf(dir: string, space: SpaceId): string {
  return join(dir, `${space.replaceAll(":", "+")}${SUFFIX}`);
}

function list(dir: string): readonly SpaceId[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length).replaceAll("+", ":"))
    .filter((name): name is SpaceId => isSpaceId(name));
}
