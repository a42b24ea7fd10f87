import { AuthorizationError, ConnectionError, DuplicateEventError } from "@tidemark/protocol";
import type { Seq, TidemarkError } from "@tidemark/protocol";

/** What the answer to an append means for the queued intent. */
export type AppendVerdict =
  /** It is in the stream, now or since an earlier try under the same event id. */
  | { readonly kind: "delivered"; readonly seq: Seq | undefined }
  /** It will never be admitted: it leaves the queue and its sender is told (seed 000 §5). */
  | { readonly kind: "final"; readonly error: TidemarkError }
  /** The connection went away before the answer: it is sent again on the next one. */
  | { readonly kind: "ambiguous" }
  /** Refused for now. `timer`: try again after a while; `session`: on the next connection or level. */
  | { readonly kind: "later"; readonly retry: "timer" | "session"; readonly error: TidemarkError };

function isProvenDenial(error: AuthorizationError): boolean {
  return error.permanentEvidence && error.aclRevision !== undefined && !error.retriable;
}

/** Codes of refusals that come again however often the append is sent: the input itself is wrong. */
const FINAL_CODES: ReadonlySet<string> = new Set([
  "protocol",
  "value",
  "limit",
  "patch",
  "scope",
  "no-acting-user",
  "no-acting-session",
  "precondition",
  "conflict",
  "resolution",
  "unknown-pattern",
  "narrowing-unsupported",
  "frame",
]);

/**
 * Reads a refusal of an append (seed 000 §5, "a client append rejected by a current-ACL …"). What is
 * not known to be final is kept: an intent is never lost to an error that may pass.
 */
export function readRefusal(error: TidemarkError): AppendVerdict {
  if (error instanceof DuplicateEventError) return { kind: "delivered", seq: error.seq };
  if (error instanceof ConnectionError) return { kind: "ambiguous" };
  if (error instanceof AuthorizationError) {
    return isProvenDenial(error)
      ? { kind: "final", error }
      : { kind: "later", retry: "session", error };
  }
  return FINAL_CODES.has(error.code)
    ? { kind: "final", error }
    : { kind: "later", retry: "timer", error };
}
