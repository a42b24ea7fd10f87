import { isTidemarkError } from "@tidemark/protocol";

/** An error as the log holds it: no stack, no details, which may hold what somebody wrote. */
export interface LoggedError {
  readonly code: string;
  readonly message: string;
}

const MESSAGE_MAX = 400;

/** What may be said of an error in a log. */
export function describeError(error: unknown): LoggedError {
  const message = error instanceof Error ? error.message : String(error);
  return { code: codeOf(error), message: message.slice(0, MESSAGE_MAX) };
}

function codeOf(error: unknown): string {
  if (isTidemarkError(error)) return error.code;
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "internal";
}
