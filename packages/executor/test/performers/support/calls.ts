import { identityFromSeed, type JsonValue, spaceId } from "@tidemark/protocol";
import type { BuiltInName } from "@tidemark/runtime";
import { type EffectCall, EffectError, type EffectPerformer } from "../../../src/index.js";

export const SPACE = spaceId(identityFromSeed(new Uint8Array(32).fill(1)).did);

/** A call as the loop makes it. */
export function callOf(
  builtIn: BuiltInName,
  request: JsonValue,
  rest: Partial<EffectCall> = {},
): EffectCall {
  return {
    builtIn,
    request,
    space: SPACE,
    reader: undefined,
    signal: new AbortController().signal,
    ...rest,
  };
}

/** What a call failed with; that it succeeded, or failed otherwise than performers may, is the test's failure. */
export async function failureOf(work: Promise<unknown>): Promise<EffectError> {
  const outcome = await work.then(
    (value) => new Error(`it succeeded: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof EffectError) return outcome;
  throw outcome;
}

/** Kind and reason of what a call failed with, in one word each. */
export async function waysOf(work: Promise<unknown>): Promise<string> {
  const { details } = await failureOf(work);
  return `${details.kind} ${details.reason ?? ""}`;
}

/** Everything of an error that is stored or logged. */
export function wordsOf(error: Error): string {
  const { message, stack, cause } = error;
  const details = (error as { readonly details?: unknown }).details;
  return JSON.stringify({ message, stack, cause: String(cause), details, all: { ...error } });
}

/** Performs one request of one built-in. */
export function asking(performer: EffectPerformer, builtIn: BuiltInName) {
  return (request: JsonValue, rest: Partial<EffectCall> = {}): Promise<JsonValue> =>
    performer.perform(callOf(builtIn, request, rest));
}
