import type { JsonValue } from "@tidemark/protocol";
import { z, type ZodType } from "zod";
import { cellHandle } from "../cell/handle.js";
import { PatternError } from "../errors.js";
import { requireBuild } from "../frame/frame.js";
import { type Source, valueOf } from "../logic/logic.js";
import type { BuiltInName } from "./built-in.js";
import type { FetchRequest, ObjectRequest, QueryRequest, TextRequest } from "./requests.js";
import type { Effect } from "./value.js";

/** Words about an effectful node, for editors. */
export interface EffectOptions {
  readonly title?: string;
  readonly description?: string;
}

/** {@link EffectOptions} of a built-in whose answer is held to a schema. */
export interface TypedEffectOptions<S extends ZodType> extends EffectOptions {
  /** Schema of the answer. It goes along as JSON Schema: transforms and own checks are no part of it. */
  readonly schema: S;
}

/** What a request is computed from; `undefined` asks for nothing, and the node is absent. */
export type RequestSource<R> = Source<R | undefined>;

/**
 * A node whose value the server fetches over HTTP. The request is read as a computed reads: when what
 * it read changes and the request comes out otherwise, it is made; the same request is made once,
 * restarts included, and a failure is an answer (seed 001 §4). A client makes none.
 *
 * @throws FrameError outside a pattern's `build`; PatternError for a missing or repeated name.
 */
export function fetchData<S extends ZodType>(
  name: string,
  request: RequestSource<Omit<FetchRequest, "schema">>,
  options: TypedEffectOptions<S>,
): Effect<z.output<S>>;
export function fetchData(
  name: string,
  request: RequestSource<FetchRequest>,
  options?: EffectOptions,
): Effect<JsonValue>;
export function fetchData(
  name: string,
  request: RequestSource<FetchRequest>,
  options: EffectOptions & { readonly schema?: ZodType } = {},
): Effect<JsonValue> {
  return effect("fetchData", name, request, options);
}

/**
 * A node whose value a language model writes: the whole text, once it is settled. As {@link fetchData}.
 *
 * @throws PatternError for a `schema` too.
 */
export function generateText(
  name: string,
  request: RequestSource<TextRequest>,
  options: EffectOptions = {},
): Effect<string> {
  return effect("generateText", name, request, withoutSchema("generateText", name, options));
}

/** A node whose value a language model makes, to a schema. As {@link fetchData}. */
export function generateObject<S extends ZodType>(
  name: string,
  request: RequestSource<Omit<ObjectRequest, "schema">>,
  options: TypedEffectOptions<S>,
): Effect<z.output<S>> {
  return effect("generateObject", name, request, options);
}

/**
 * A node whose value are the rows of a read-only query of the space's database. As {@link fetchData}.
 *
 * @throws PatternError for a `schema` too.
 */
export function sqliteQuery<Row extends Readonly<Record<string, JsonValue>>>(
  name: string,
  request: RequestSource<QueryRequest>,
  options: EffectOptions = {},
): Effect<readonly Row[]> {
  return effect("sqliteQuery", name, request, withoutSchema("sqliteQuery", name, options));
}

function effect<T>(
  builtIn: BuiltInName,
  name: string,
  request: Source<unknown>,
  { schema, ...words }: EffectOptions & { readonly schema?: ZodType },
): Effect<T> {
  const build = requireBuild(builtIn);
  const id = build.nodeId(name);
  const node = build.add({
    kind: "effect",
    name,
    id,
    builtIn,
    request: () => valueOf(request),
    answerSchema: schema === undefined ? undefined : jsonSchemaOf(schema, name, build.patternId),
    ...words,
  });
  return cellHandle(build.ref(node));
}

/**
 * The types know no schema here, JavaScript may give one all the same: it would stand in the request, and every
 * answer would blame that.
 */
function withoutSchema(builtIn: BuiltInName, node: string, options: EffectOptions): EffectOptions {
  if (!("schema" in options) || options.schema === undefined) return options;
  const message = `${builtIn}("${node}") takes no schema: leave the option out, its answer is not checked against one`;
  throw new PatternError(message, { patternId: requireBuild(builtIn).patternId, node });
}

/** What performers check an answer by. @throws PatternError for a schema that JSON Schema cannot say */
function jsonSchemaOf(schema: ZodType, node: string, patternId: string): JsonValue {
  try {
    return z.toJSONSchema(schema, { io: "output" }) as JsonValue;
  } catch (error) {
    const message = `the schema of ${node} has no JSON Schema: ${error instanceof Error ? error.message : ""}`;
    throw new PatternError(message, { patternId, node }, { cause: error });
  }
}
