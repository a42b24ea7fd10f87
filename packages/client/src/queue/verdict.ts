import {
  AuthorizationError,
  ConnectionError,
  DuplicateEventError,
  OutOfTurnError,
  readAppendRefusal,
} from "@tidemark/protocol";
import type { Seq, TidemarkError } from "@tidemark/protocol";

/**
 * When an append that was refused for now is tried again. `timer`: after a while; `session`: on the next
 * connection or change of the access list; `turn`: behind an earlier append of its stream.
 */
export type Retry = "timer" | "session" | "turn";

/** What the answer to an append means for the queued intent. */
export type AppendVerdict =
  /** It is in the stream, now or since an earlier try under the same event id. */
  | { readonly kind: "delivered"; readonly seq: Seq | undefined }
  /** It will never be admitted: it leaves the queue and its sender is told (seed 000 §5). */
  | { readonly kind: "final"; readonly error: TidemarkError }
  /** The connection went away before the answer: it is sent again on the next one. */
  | { readonly kind: "ambiguous" }
  /** Refused for now. */
  | { readonly kind: "later"; readonly retry: Retry; readonly error: TidemarkError };

/**
 * Reads a refusal of an append (seed 000 §5, "a client append rejected by a current-ACL …"). What is
 * not known to be final is kept: an intent is never lost to an error that may pass.
 */
export function readRefusal(error: TidemarkError): AppendVerdict {
  if (error instanceof ConnectionError) return { kind: "ambiguous" };
  if (readAppendRefusal(error) === "final") return { kind: "final", error };
  if (error instanceof DuplicateEventError) return { kind: "delivered", seq: error.seq };
  return { kind: "later", retry: retryOf(error), error };
}

function retryOf(error: TidemarkError): Retry {
  if (error instanceof OutOfTurnError) return "turn";
  return error instanceof AuthorizationError ? "session" : "timer";
}
