import { dirname, join, resolve } from "node:path";
import type { Clock, JsonValue, SpaceId } from "@tidemark/protocol";
import type { EffectCall, EffectPerformer } from "../../effects/performer.js";
import { rowsOf } from "./query-answer.js";
import { type PoolLimits, QueryPool } from "./query-pool.js";
import { jsonRows } from "./rows.js";
import { databaseName, DEFAULT_DATABASE, readSqliteRequest } from "./sqlite-request.js";

/** Bounds of `sqliteQuery`. Times in ms, sizes in bytes. */
export interface SqliteLimits extends PoolLimits {
  readonly rows: number;
  /** Of the rows, about as JSON. */
  readonly bytes: number;
}

/** What {@link createSqlitePerformer} is made with. */
export interface SqlitePerformerOptions {
  readonly clock: Clock;
  /** Where the databases are: one folder a space in it. No folder that stores of spaces are in. */
  readonly folder: string;
  readonly limits?: Partial<SqliteLimits>;
}

/** A performer with processes of its own. */
export interface SqlitePerformer extends EffectPerformer {
  /** Ends what runs, and the processes. */
  close(): Promise<void>;
}

export const DEFAULT_SQLITE_LIMITS: SqliteLimits = {
  queryMs: 5_000,
  processes: 4,
  perSpace: 2,
  waiting: 1_000,
  memoryBytes: 384 * 1_048_576,
  rows: 1_000,
  bytes: 1_048_576,
};

/**
 * `sqliteQuery` (builtins.md): one query against a database of the space's users, a file of its own that is opened for
 * reading alone. The result is a list of rows, objects by column. Whoever runs the deployment puts the files there;
 * {@link userDatabaseFile} says where.
 */
export function createSqlitePerformer(options: SqlitePerformerOptions): SqlitePerformer {
  return new FolderPerformer(options);
}

/**
 * The file that holds a database of a space: `database` is a name, the default one's where it is left out, or a link.
 *
 * @throws EffectError "invalid" for what names no database, "refused" for a link into another space.
 */
export function userDatabaseFile(
  folder: string,
  space: SpaceId,
  database: JsonValue = DEFAULT_DATABASE,
): string {
  return fileOf(folder, space, databaseName(database, space));
}

/** `+` for the colons, as in the names of stores. */
function fileOf(folder: string, space: SpaceId, name: string): string {
  return join(resolve(folder), space.replaceAll(":", "+"), `${name}.sqlite`);
}

class FolderPerformer implements SqlitePerformer {
  readonly #folder: string;
  readonly #limits: SqliteLimits;
  readonly #pool: QueryPool;

  constructor({ clock, folder, limits }: SqlitePerformerOptions) {
    this.#folder = folder;
    this.#limits = { ...DEFAULT_SQLITE_LIMITS, ...limits };
    this.#pool = new QueryPool(clock, this.#limits);
  }

  async perform({ request, space, signal }: EffectCall): Promise<JsonValue> {
    const { database, statement, parameters } = readSqliteRequest(request, space);
    const file = fileOf(this.#folder, space, database);
    const { rows: maxRows, bytes: maxBytes } = this.#limits;
    const query = { folder: dirname(file), file, statement, parameters, maxRows, maxBytes };
    const { columns, rows } = rowsOf(await this.#pool.run(space, query, signal));
    return jsonRows(columns, rows);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
