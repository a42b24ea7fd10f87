import { isTidemarkError } from "@tidemark/protocol";
import { failure } from "../failure.js";

const UNREACHABLE: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "ETIMEDOUT",
]);
/** Of a stream that ended before its peer had said so. */
const CUT_OFF: ReadonlySet<string> = new Set([
  "ECONNABORTED",
  "ECONNRESET",
  "EPIPE",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

/**
 * What a connection failed with, in our words. Node's own messages name addresses and quote what came, so neither
 * they nor the error itself, as a cause, go on from here.
 */
export function connectionFailure(error: unknown): Error {
  if (isTidemarkError(error, "effect")) return error;
  const code = codeOf(error);
  if (code === "HPE_HEADER_OVERFLOW") {
    return failure("too-large", "head", "the head of the answer is too large");
  }
  if (code.startsWith("HPE_")) return failure("invalid", "http", "the answer is no HTTP");
  if (code.startsWith("Z_") || code.startsWith("ERR_BROTLI") || code.startsWith("ERR__ERROR_")) {
    return failure("invalid", "encoding", "the answer is not in the encoding that it names");
  }
  if (UNREACHABLE.has(code)) {
    return failure("network", "unreachable", "no connection to the host could be made");
  }
  if (CUT_OFF.has(code)) {
    return failure("network", "cut-off", "the connection ended before the answer did");
  }
  if (/CERT|TLS|SSL|SIGNATURE|EPROTO/u.test(code)) {
    return failure("network", "tls", "the host could not be trusted, or does not speak TLS");
  }
  return failure("network", "failed", "the connection failed");
}

/** A connection that was tried on several addresses fails with all of their errors. */
function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const { code, errors } = error as { readonly code?: unknown; readonly errors?: unknown };
  if (typeof code === "string" && code !== "") return code;
  return Array.isArray(errors) ? codeOf(errors[0]) : "";
}
