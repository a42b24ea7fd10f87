import type { JsonObject, JsonValue } from "@tidemark/protocol";
import type { LlmMessage, LlmRequest } from "../provider.js";

/**
 * How a server is told to answer in JSON: by the schema itself, or, where it knows only JSON at large, with the schema
 * as a message before all others.
 */
export type ObjectMode = "json-schema" | "json-object";

/** The body of a chat completion request. */
export function completionBody(
  { messages, params, schema }: LlmRequest,
  model: string,
  mode: ObjectMode,
): JsonObject {
  const inWords = schema !== undefined && mode === "json-object";
  const said = inWords ? [schemaMessage(schema), ...messages] : messages;
  return {
    model,
    stream: false,
    n: 1,
    messages: said.map(({ role, content }) => ({ role, content })),
    ...present("temperature", params.temperature),
    ...present("top_p", params.topP),
    ...present("max_tokens", params.maxTokens),
    ...present("stop", params.stop),
    ...present("seed", params.seed),
    ...present("response_format", schema && responseFormat(schema, mode)),
  };
}

function responseFormat(schema: JsonObject, mode: ObjectMode): JsonObject {
  return mode === "json-object"
    ? { type: "json_object" }
    : { type: "json_schema", json_schema: { name: "result", schema } };
}

function schemaMessage(schema: JsonObject): LlmMessage {
  const content = `Answer with one JSON value of this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`;
  return { role: "system", content };
}

function present(name: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}
