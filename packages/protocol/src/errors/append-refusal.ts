import type { AuthorizationDetails } from "./refusals.js";
import { isTidemarkError, type TidemarkError } from "./tidemark-error.js";

/** What a refusal of an append says of the event. */
export type AppendRefusal =
  /** The stream has it already, under the same event id. */
  | "delivered"
  /** It will never be admitted, however often it is sent. */
  | "final"
  /** Refused for now: the event keeps its place before the later ones of its stream. */
  | "passing";

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
 * Reads a refusal of an append (seed 000 §5, "a client append rejected by a current-ACL …"). Server and
 * client ask the same function: the one holds back what the other will send again. What is not known to
 * be final passes, an error of somebody else's too: no intent is lost to what may be gone tomorrow.
 */
export function readAppendRefusal(error: unknown): AppendRefusal {
  if (!isTidemarkError(error)) return "passing";
  if (error.code === "duplicate-event") return isForeign(error) ? "final" : "delivered";
  if (error.code === "unauthorized") return isProvenDenial(error) ? "final" : "passing";
  return FINAL_CODES.has(error.code) ? "final" : "passing";
}

/** Whether what stands under the id is somebody else's event: sent again it meets the same. */
function isForeign(error: TidemarkError): boolean {
  return (error.details as { readonly foreign?: boolean }).foreign === true;
}

/** Only a denial that names the access list's revision it rests on cannot pass. */
function isProvenDenial(error: TidemarkError): boolean {
  const { permanentEvidence, aclRevision, retriable } = error.details as AuthorizationDetails;
  return permanentEvidence === true && aclRevision !== undefined && retriable !== true;
}
