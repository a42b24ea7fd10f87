import { z } from "zod";
import type { EffectError } from "../../../effects/performer.js";
import { failure } from "../../failure.js";
import { mediaType } from "../../http/media.js";

const AnswerSchema = z.object({
  choices: z.array(
    z.object({
      finish_reason: z.string().nullish(),
      message: z.object({
        content: z.string().nullish(),
        refusal: z.string().nullish(),
        tool_calls: z.array(z.unknown()).nullish(),
        function_call: z.unknown().nullish(),
      }),
    }),
  ),
});

/** Words for the statuses that an operator can do something about. */
const STATUS_REASONS: Readonly<Record<number, string>> = {
  400: "bad-request",
  401: "unauthorized",
  402: "quota",
  403: "unauthorized",
  404: "not-found",
  408: "unavailable",
  413: "bad-request",
  422: "bad-request",
  429: "rate-limited",
};

/** Why a status is no answer. The body of one may quote the credential, so nothing of it is said. */
export function statusFailure(status: number): EffectError {
  const reason = STATUS_REASONS[status] ?? (status >= 500 ? "unavailable" : "status");
  return failure("provider", reason, `the model's provider answered ${status}`, status);
}

/**
 * The settled text of a chat completion.
 *
 * @throws EffectError "invalid" for what is no completion, "too-large" for one that was cut off, "provider" for one
 * without a text.
 */
export function settledText(body: Uint8Array, contentType: string | undefined): string {
  const { type } = mediaType(contentType);
  if (type !== "application/json" && !type.endsWith("+json")) {
    throw malformed("its answer is no JSON");
  }
  const [choice] = readAnswer(body).choices;
  if (choice === undefined) throw unanswered("empty", "it gave no answer");
  const { message, finish_reason: finish } = choice;
  if (message.refusal) throw unanswered("refusal", "the model refused");
  switch (finish) {
    case "length":
    case "max_tokens":
      throw failure("too-large", "max-tokens", "the answer was cut off at the greatest length");
    case "content_filter":
      throw unanswered("content-filter", "its filter took the answer away");
    case undefined:
    case null:
    case "":
      throw unanswered("unfinished", "the answer is not finished");
    default:
  }
  if (typeof message.content === "string") return message.content;
  const calls =
    (message.tool_calls?.length ?? 0) > 0 || (message.function_call ?? undefined) !== undefined;
  throw calls || finish === "tool_calls"
    ? unanswered("tool-calls", "the model called a tool and said nothing")
    : unanswered("empty", "it gave no text");
}

function readAnswer(body: Uint8Array): z.infer<typeof AnswerSchema> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw malformed("its answer is no JSON");
  }
  const parsed = AnswerSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw malformed("its answer is no chat completion");
}

function malformed(words: string): EffectError {
  return failure("invalid", "answer", `the model's provider misbehaves: ${words}`);
}

function unanswered(reason: string, words: string): EffectError {
  return failure("provider", reason, `the model's provider has no answer: ${words}`);
}
