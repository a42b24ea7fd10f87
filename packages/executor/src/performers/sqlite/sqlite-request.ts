import { asLink, contentHash, isJsonArray, type JsonValue, type SpaceId } from "@tidemark/protocol";
import { z } from "zod";
import { failure } from "../failure.js";
import { parseRequest } from "../request.js";
import { checkStatement } from "./statement.js";

/** A value as a statement takes it. Whole numbers are integers to SQLite, not floats. */
export type Bindable = null | string | number | bigint;

/** Parameters by place, or by name without the sign before it. */
export type Parameters = readonly Bindable[] | Readonly<Record<string, Bindable>>;

/** A request for `sqliteQuery`, read and checked. */
export interface SqliteRequest {
  /** Name of the database's file within its space's folder, without the ending. */
  readonly database: string;
  readonly statement: string;
  readonly parameters: Parameters;
}

/** The database of a request that names none. */
export const DEFAULT_DATABASE = "main";

const MAX_STATEMENT_LENGTH = 100_000;
const MAX_PARAMETERS = 1_000;
const DATABASE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/u;

const Scalar = z.union([z.null(), z.boolean(), z.number(), z.string()]);
type Scalar = z.infer<typeof Scalar>;

const QuerySchema = z.strictObject({
  database: z.custom<JsonValue>().optional(),
  statement: z.string().min(1).max(MAX_STATEMENT_LENGTH),
  params: z
    .union([
      z.array(Scalar).max(MAX_PARAMETERS),
      z.record(z.string().regex(/^[A-Za-z_]\w*$/u), Scalar),
    ])
    .optional(),
  // Whose the result is. It is in the request so that two readers are two requests; a query does not see it.
  reader: z.custom<JsonValue>().optional(),
});

/**
 * Reads `{ database?, statement, params?, reader? }`. `database` is a name, or a link to a document of the same space.
 *
 * @throws EffectError "invalid" or "refused".
 */
export function readSqliteRequest(request: JsonValue, space: SpaceId): SqliteRequest {
  const { database, statement, params } = parseRequest("sqliteQuery", QuerySchema, request);
  checkStatement(statement);
  return {
    database: databaseName(database ?? DEFAULT_DATABASE, space),
    statement,
    parameters: bindable(params ?? []),
  };
}

/**
 * The name of the file that a database is. Names and links never meet: `@` begins no name.
 *
 * @throws EffectError "invalid", or "refused" for a link into another space.
 */
export function databaseName(database: JsonValue, space: SpaceId): string {
  if (typeof database === "string" && DATABASE_NAME.test(database)) return database;
  const link = asLink(database);
  if (link === undefined) {
    throw invalid("database: a short name in lower case, or a link to a document");
  }
  if ((link.space ?? space) !== space) {
    throw failure("refused", "database", "sqliteQuery: a database of another space is not asked");
  }
  if ((link.path ?? []).length > 0 || (link.scope ?? "space") !== "space") {
    throw invalid("database: a link to a whole document of the space's scope");
  }
  return `@${contentHash(link.id).replaceAll(/[^\w-]/gu, "_")}`;
}

function bindable(params: readonly Scalar[] | Readonly<Record<string, Scalar>>): Parameters {
  if (isJsonArray(params)) return params.map(bind);
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, bind(value)]));
}

function bind(value: Scalar): Bindable {
  if (typeof value === "boolean") return value ? 1n : 0n;
  return Number.isSafeInteger(value) ? BigInt(value as number) : (value as null | string | number);
}

function invalid(words: string) {
  return failure("invalid", "request", `sqliteQuery: ${words}`);
}
