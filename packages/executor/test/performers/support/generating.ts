import type { JsonValue } from "@tidemark/protocol";
import {
  createGenerateObjectPerformer,
  createGenerateTextPerformer,
  openAiCompatibleProvider,
  type OpenAiProviderOptions,
} from "../../../src/index.js";
import { asking } from "./calls.js";
import type { LocalServer } from "./local-server.js";
import { WatchedClock } from "./watched-clock.js";

/** No key of anybody's. */
export const KEY = "sk-not-a-key-of-anybody";

/** Both performers, with a provider on this machine behind them. */
export function generatingFrom(
  server: Pick<LocalServer, "url">,
  options: Partial<OpenAiProviderOptions> = {},
) {
  const clock = new WatchedClock();
  const provider = openAiCompatibleProvider({
    clock,
    url: `${server.url}/v1`,
    key: KEY,
    models: ["small", "large"],
    ...options,
  });
  return {
    clock,
    provider,
    text: asking(createGenerateTextPerformer({ provider }), "generateText"),
    object: asking(createGenerateObjectPerformer({ provider }), "generateObject"),
  };
}

export const ASK: JsonValue = { messages: [{ role: "user", content: "How are you?" }] };

/** A completion as a server that behaves sends it. */
export function completion(
  message: JsonValue,
  finish: JsonValue = "stop",
  rest: { readonly [field: string]: JsonValue } = {},
): string {
  const choices = [{ index: 0, message, finish_reason: finish }];
  return JSON.stringify({ id: "c1", object: "chat.completion", choices, ...rest });
}
