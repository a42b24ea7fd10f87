import type { JsonObject } from "@tidemark/protocol";

/** One message of a conversation. */
export interface LlmMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** How an answer is to be drawn. Everything is the provider's own default where it is left out. */
export interface LlmParams {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  /** Tokens of the answer. An answer that reaches it is no answer, but the error "too-large". */
  readonly maxTokens?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
}

/** What a provider is asked. */
export interface LlmRequest {
  /** A name of the provider's; its default where it is left out. */
  readonly model: string | undefined;
  readonly messages: readonly LlmMessage[];
  readonly params: LlmParams;
  /** A JSON Schema that the answer, a JSON text then, is asked to fit. Whoever asked checks it. */
  readonly schema: JsonObject | undefined;
}

/**
 * Whoever answers for `generateText` and `generateObject`: the broker, in that it alone holds the credentials. They
 * are in no request, no answer and no error.
 */
export interface LlmProvider {
  /**
   * The whole answer as text, once it is settled: never a part of one, and never one that was cut off.
   *
   * @throws EffectError "refused" for a model that is not offered; "provider" where the other side answered with
   * an error or with no text; "too-large", "timeout", "network", "invalid".
   */
  complete(request: LlmRequest, signal: AbortSignal): Promise<string>;
}
