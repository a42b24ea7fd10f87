import { validateHeaderValue } from "node:http";
import type { JsonValue } from "@tidemark/protocol";
import { z } from "zod";
import type { EgressPolicy } from "../egress/policy.js";
import type { Hop } from "../egress/redirect.js";
import { failure } from "../failure.js";
import { parseRequest } from "../request.js";
import { type SchemaCheck, schemaCheck } from "../schema/schema-check.js";

/** A request for `fetchData`, read and checked. */
export interface FetchRequest {
  readonly first: Hop;
  readonly check: SchemaCheck | undefined;
}

const MAX_URL_LENGTH = 8_192;
const MAX_BODY_BYTES = 1_048_576;
const MAX_HEADERS = 32;
const MAX_HEADER_LENGTH = 8_192;
/** Asking twice for one of these is asking once. */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

const FetchSchema = z.strictObject({
  url: z.string().max(MAX_URL_LENGTH),
  method: z.string().max(16).optional(),
  headers: z.record(z.string(), z.string().max(MAX_HEADER_LENGTH)).optional(),
  body: z.custom<JsonValue>().optional(),
  schema: z.custom<JsonValue>().optional(),
});

/**
 * Reads `{ url, method?, headers?, body?, schema? }`. A body that is text goes as it is, any other as JSON.
 *
 * A request that changes something carries its memo key as `idempotency-key`: where a process dies in between it is
 * made again, under the same key (field fault OB-01).
 *
 * @throws EffectError "invalid", or "refused" (reason `header`) for a header that is not open to requests.
 */
export function readFetchRequest(
  policy: EgressPolicy,
  request: JsonValue,
  key?: string,
): FetchRequest {
  const parsed = parseRequest("fetchData", FetchSchema, request);
  const method = (parsed.method ?? "GET").toUpperCase();
  if (!METHODS.includes(method)) throw invalid(`method: one of ${METHODS.join(", ")}`);
  const body = bodyOf(method, parsed.body);
  const own =
    key === undefined || SAFE_METHODS.has(method)
      ? {}
      : { "idempotency-key": headerValue("idempotency-key", key) };
  const first = {
    url: urlOf(parsed.url),
    method,
    headers: { ...own, ...headersOf(policy, parsed.headers ?? {}, body?.type) },
    body: body?.bytes,
  };
  return { first, check: parsed.schema === undefined ? undefined : schemaCheck(parsed.schema) };
}

function urlOf(text: string): URL {
  try {
    const url = new URL(text);
    url.hash = "";
    return url;
  } catch {
    throw invalid("url: an absolute URL");
  }
}

function bodyOf(method: string, body: JsonValue | undefined) {
  if (body === undefined) return undefined;
  if (SAFE_METHODS.has(method)) throw invalid(`body: a ${method} has none`);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const bytes = Buffer.from(text, "utf8");
  if (bytes.byteLength > MAX_BODY_BYTES) {
    throw failure("too-large", "request", `fetchData: the body is over ${MAX_BODY_BYTES} bytes`);
  }
  const type = typeof body === "string" ? "text/plain;charset=UTF-8" : "application/json";
  return { bytes, type };
}

function headersOf(
  policy: EgressPolicy,
  given: Readonly<Record<string, string>>,
  bodyType: string | undefined,
): Record<string, string> {
  const headers = new Map([["accept", "*/*"]]);
  if (bodyType !== undefined) headers.set("content-type", bodyType);
  const entries = Object.entries(given);
  if (entries.length > MAX_HEADERS) throw invalid(`headers: at most ${MAX_HEADERS}`);
  for (const [name, value] of entries) {
    const known = name.toLowerCase();
    if (!policy.requestHeaders.has(known)) {
      throw failure("refused", "header", "fetchData: a header that is not open to requests");
    }
    headers.set(known, headerValue(known, value));
  }
  return Object.fromEntries(headers);
}

function headerValue(name: string, value: string): string {
  try {
    validateHeaderValue(name, value);
    return value;
  } catch {
    throw invalid(`headers.${name}: characters that no header takes`);
  }
}

function invalid(words: string) {
  return failure("invalid", "request", `fetchData: ${words}`);
}
