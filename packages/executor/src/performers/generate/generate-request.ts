import { isJsonObject, type JsonObject, type JsonValue } from "@tidemark/protocol";
import { z } from "zod";
import { failure } from "../failure.js";
import { parseRequest } from "../request.js";
import type { LlmRequest } from "./provider.js";

const MAX_MESSAGES = 1_000;
/** Of all messages of a request, in characters. */
const MAX_TEXT = 2 * 1_048_576;
const MAX_SCHEMA_TEXT = 65_536;

const MessageSchema = z.strictObject({
  role: z.enum(["system", "user", "assistant"]),
  content: z.string(),
});

const ParamsSchema = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  maxTokens: z.int().min(1).optional(),
  stop: z.array(z.string().max(256)).max(16).optional(),
  seed: z.int().optional(),
});

const TextSchema = z.strictObject({
  model: z.string().min(1).max(256).optional(),
  messages: z.array(MessageSchema).min(1).max(MAX_MESSAGES),
  params: ParamsSchema.optional(),
});

const ObjectSchema = TextSchema.extend({
  schema: z.custom<JsonObject>((value) => isJsonObject(value as JsonValue), "a JSON Schema"),
});

/** Reads `{ model?, messages, params? }`. @throws EffectError "invalid" or "too-large". */
export function readTextRequest(request: JsonValue): LlmRequest {
  return checked("generateText", {
    schema: undefined,
    ...parseRequest("generateText", TextSchema, request),
  });
}

/** Reads `{ model?, messages, params?, schema }`. @throws EffectError "invalid" or "too-large". */
export function readObjectRequest(
  request: JsonValue,
): LlmRequest & { readonly schema: JsonObject } {
  return checked("generateObject", parseRequest("generateObject", ObjectSchema, request));
}

function checked<S extends JsonObject | undefined>(
  builtIn: string,
  { model, messages, params, schema }: z.infer<typeof TextSchema> & { readonly schema: S },
): LlmRequest & { readonly schema: S } {
  const length = messages.reduce((sum, { content }) => sum + content.length, 0);
  if (length > MAX_TEXT || JSON.stringify(schema ?? null).length > MAX_SCHEMA_TEXT) {
    throw failure("too-large", "request", `${builtIn}: the messages or the schema are too long`);
  }
  return { model, messages, params: params ?? {}, schema };
}
