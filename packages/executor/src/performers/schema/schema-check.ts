import { isJsonObject, type JsonValue } from "@tidemark/protocol";
import { z } from "zod";
import { failure } from "../failure.js";
import { withinMs } from "./within.js";

/** Answers what does not fit, in words, or `undefined` where everything does. */
export type SchemaCheck = (value: JsonValue) => string | undefined;

/** A schema comes out of cells: a regular expression that explodes must not hold the process. */
const CHECK_MS = 200;

/**
 * Makes a check of a JSON Schema, as far as zod reads it: the keywords that say something of a value alone, local
 * `$ref`s included, conditional ones not. The value itself is never changed; `default` does not make up for what is
 * not there.
 *
 * @throws EffectError "invalid" (reason `schema`) for a schema that cannot be read.
 */
export function schemaCheck(schema: JsonValue): SchemaCheck {
  const readable = isJsonObject(schema) || typeof schema === "boolean";
  const read = readable && within(() => z.fromJSONSchema(withoutDefaults(schema) as never));
  if (!read) {
    throw failure("invalid", "schema", "the schema is no JSON Schema that can be checked");
  }
  return (value) => {
    const result = within(() => read.safeParse(value));
    if (result === undefined) return "the schema cannot be checked in time";
    const issue = result.error?.issues[0];
    if (issue === undefined) return undefined;
    const path = issue.path.map(String).join(".");
    return `${path === "" ? "" : `${path}: `}${issue.message}`.slice(0, 200);
  };
}

/** `undefined` for what threw as well: a schema may be wrong in ways that show on a value only. */
function within<T>(fn: () => T): T | undefined {
  try {
    return withinMs(CHECK_MS, fn);
  } catch {
    return undefined;
  }
}

/** Keywords whose value is data and no schema. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(["const", "enum", "examples"]);
/** Keywords whose value names schemas. */
const NAMING_KEYWORDS: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "patternProperties",
  "properties",
]);

/** zod takes a default for a value that is there, and JSON Schema does not. */
function withoutDefaults(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(withoutDefaults);
  if (!isJsonObject(schema)) return schema;
  const kept = Object.entries(schema)
    .filter(([keyword]) => keyword !== "default")
    .map(([keyword, value]): [string, JsonValue] => {
      if (DATA_KEYWORDS.has(keyword)) return [keyword, value];
      if (!NAMING_KEYWORDS.has(keyword) || !isJsonObject(value)) {
        return [keyword, withoutDefaults(value)];
      }
      const named = Object.entries(value).map(([name, sub]) => [name, withoutDefaults(sub)]);
      return [keyword, Object.fromEntries(named) as JsonValue];
    });
  return Object.fromEntries(kept);
}
