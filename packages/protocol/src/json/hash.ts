import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64urlnopad } from "@scure/base";
import { canonicalJson } from "./canonical.js";
import type { JsonValue } from "./json-value.js";

/** Keeps these hashes apart from any other use of SHA-256 over the same bytes. */
const DOMAIN_TAG = utf8ToBytes("tidemark:json@1\n");

/** The SHA-256 bytes behind {@link contentHash}. */
export function contentDigest(value: JsonValue): Uint8Array {
  const text = utf8ToBytes(`${typeTag(value)}:${canonicalJson(value)}`);
  return sha256(concatBytes(DOMAIN_TAG, text));
}

/**
 * The content hash of a value: 43 characters of base64url. It is tagged by type, so `null` and the
 * text `"null"`, or 1 and `"1"`, never share one (seed 003), and blind to key order.
 */
export function contentHash(value: JsonValue): string {
  return base64urlnopad.encode(contentDigest(value));
}

function typeTag(value: JsonValue): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
