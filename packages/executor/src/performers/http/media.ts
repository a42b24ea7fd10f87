import { type JsonValue, MAX_JSON_DEPTH, validateJson } from "@tidemark/protocol";
import { failure } from "../failure.js";

/** A result lies inside its document, and the document inside nothing: room for the way down to it. */
const MAX_RESULT_DEPTH = MAX_JSON_DEPTH - 2;

const TEXT_TYPES: ReadonlySet<string> = new Set([
  "application/ecmascript",
  "application/javascript",
  "application/jsonl",
  "application/x-ndjson",
  "application/x-www-form-urlencoded",
  "application/xml",
  "application/yaml",
]);

/**
 * The value of a body: JSON where its type says so (`application/json`, `…+json`), text where it is text by its type
 * or has none. Text is decoded by its charset, UTF-8 without one, and never repaired.
 *
 * @throws EffectError "invalid": another type, another charset than it says, or JSON that cannot be stored.
 */
export function bodyValue(body: Uint8Array, contentType: string | undefined): JsonValue {
  const { type, charset } = mediaType(contentType);
  const json = type === "application/json" || type === "text/json" || type.endsWith("+json");
  if (!json && !isText(type)) {
    throw failure("invalid", "media-type", "the answer is neither JSON nor text");
  }
  const text = decode(body, json ? "utf-8" : charset);
  return storable(json ? parse(text) : text);
}

/** @throws EffectError "invalid" (reason `json`) for what no document may hold. */
export function storable(value: unknown): JsonValue {
  const checked = validateJson(value, { depth: MAX_RESULT_DEPTH, reuse: true });
  if (checked.ok) return checked.value;
  throw failure("invalid", "json", `the answer cannot be stored: ${checked.error.reason}`);
}

/** The type in lower case, empty where there is none, and the charset. */
export function mediaType(contentType = ""): { readonly type: string; readonly charset: string } {
  const [type = "", ...parameters] = contentType.split(";");
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"]*)"?\s*$/iu.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  return { type: type.trim().toLowerCase(), charset: charset?.trim() || "utf-8" };
}

function isText(type: string): boolean {
  return type === "" || type.startsWith("text/") || type.endsWith("+xml") || TEXT_TYPES.has(type);
}

function decode(body: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body);
  } catch {
    throw failure("invalid", "charset", "the answer is not in the charset that it names");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw failure("invalid", "json", "the answer says that it is JSON, and is not");
  }
}
