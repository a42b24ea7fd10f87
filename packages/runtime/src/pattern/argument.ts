import {
  getOwn,
  isJsonObject,
  isLink,
  ProtocolError,
  setOwn,
  validateJson,
  type JsonValue,
  type MutableJsonObject,
} from "@tidemark/protocol";
import { z, type ZodType } from "zod";
import { cellHandle } from "../cell/handle.js";
import type { Readable } from "../cell/types.js";
import type { BuildScope } from "./build-scope.js";

/** The path of the argument in a piece's document. */
const ARGUMENT = "argument";

/** The handle of a piece's argument: read from the piece's document, defaults where it has gaps. */
export function argumentHandle<A>(build: BuildScope, schema: ZodType | undefined): Readable<A> {
  return cellHandle<A>({
    id: build.pieceId,
    scope: "space",
    path: [ARGUMENT],
    fallback: argumentDefaults(schema),
    label: `${build.patternId}/argument`,
    writable: false,
    owner: build.owner,
  });
}

/**
 * The argument as it is stored: checked, defaults filled in. A link stands for any value and is kept:
 * what it leads to is not known where the piece is created.
 *
 * @throws ProtocolError with the path of what does not fit the schema.
 */
export function completeArgument(schema: ZodType | undefined, given: unknown): JsonValue {
  const json = validateJson(given === undefined ? {} : given);
  if (!json.ok) throw argumentError(json.error.message, json.error.path);
  if (schema === undefined) return json.value;
  if (schema instanceof z.ZodObject && isJsonObject(json.value)) {
    return completeObject(schema, json.value);
  }
  return isLink(json.value) ? json.value : parsed(schema, json.value, []);
}

function completeObject(
  schema: z.ZodObject,
  given: Readonly<Record<string, JsonValue>>,
): JsonValue {
  const complete: MutableJsonObject = {};
  for (const [name, value] of Object.entries(given)) setOwn(complete, name, value);
  for (const [name, field] of Object.entries(schema.shape)) {
    const value = getOwn(given, name);
    if (value !== undefined && isLink(value)) continue;
    const next = parsed(field as ZodType, value, [name]);
    if (next !== undefined) setOwn(complete, name, next);
  }
  return complete;
}

function parsed(schema: ZodType, value: JsonValue | undefined, path: readonly string[]): JsonValue {
  const result = schema.safeParse(value);
  if (!result.success) {
    const issue = result.error.issues[0];
    const inner = (issue?.path ?? []).filter((part) => typeof part !== "symbol");
    throw argumentError(issue?.message ?? "malformed", [...path, ...inner]);
  }
  // An optional field without a default stays out.
  if (result.data === undefined) return undefined as unknown as JsonValue;
  const json = validateJson(result.data);
  if (!json.ok) throw argumentError(json.error.message, [...path, ...json.error.path]);
  return json.value;
}

/** What the schema alone says: read where a piece's document has a gap. */
function argumentDefaults(schema: ZodType | undefined): JsonValue | undefined {
  if (!(schema instanceof z.ZodObject)) return undefined;
  const defaults: MutableJsonObject = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const result = (field as ZodType).safeParse(undefined);
    const json = result.success ? validateJson(result.data) : undefined;
    if (json?.ok === true) setOwn(defaults, name, json.value);
  }
  return defaults;
}

function argumentError(what: string, path: readonly (string | number)[]): ProtocolError {
  const at = path.length === 0 ? "the argument" : `argument ${path.join(".")}`;
  return new ProtocolError(`${at} is refused: ${what}`, { path });
}
