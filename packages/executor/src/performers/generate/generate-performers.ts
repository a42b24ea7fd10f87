import type { JsonValue } from "@tidemark/protocol";
import type { EffectPerformer } from "../../effects/performer.js";
import { failure } from "../failure.js";
import { storable } from "../http/media.js";
import { schemaCheck } from "../schema/schema-check.js";
import { readObjectRequest, readTextRequest } from "./generate-request.js";
import type { LlmProvider } from "./provider.js";

/** What the two performers are made with. */
export interface GeneratePerformerOptions {
  readonly provider: LlmProvider;
}

/** `generateText` (builtins.md): the result is the whole text of a settled answer. */
export function createGenerateTextPerformer({
  provider,
}: GeneratePerformerOptions): EffectPerformer {
  return {
    async perform({ request, signal }) {
      return storable(await provider.complete(readTextRequest(request), signal));
    },
  };
}

/**
 * `generateObject` (builtins.md): the result is a JSON value that fits the request's schema. What a model says that is
 * no JSON, or fits otherwise, is an error: nothing is repaired, and nothing is asked again.
 */
export function createGenerateObjectPerformer({
  provider,
}: GeneratePerformerOptions): EffectPerformer {
  return {
    async perform(call) {
      const request = readObjectRequest(call.request);
      // Before anything is paid for.
      const check = schemaCheck(request.schema);
      const value = storable(parse(await provider.complete(request, call.signal)));
      const problem = check(value);
      if (problem === undefined) return value;
      throw failure(
        "invalid",
        "mismatch",
        `generateObject: the answer is not of the schema: ${problem}`,
      );
    },
  };
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw failure("invalid", "json", "generateObject: the answer is no JSON");
  }
}
