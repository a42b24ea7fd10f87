import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { base64urlnopad } from "@scure/base";
import { canonicalJson } from "./canonical.js";
import type { JsonValue } from "./json-value.js";

/** Keeps these hashes apart from any other use of SHA-256 over the same bytes. */
const DOMAIN_TAG = "tidemark:json@1\n";

/** SHA-256 of a text's UTF-8. */
export type TextDigest = (text: string) => Uint8Array;

const portable: TextDigest = (text) => sha256(utf8ToBytes(text));

let digest = portable;

/**
 * Gives this process the host's own SHA-256 in place of the portable one, which is many times slower. It must be
 * synchronous, and it must be SHA-256: what it makes of a known input is looked at.
 *
 * @throws TypeError where it is not.
 */
export function useSha256(native: TextDigest): void {
  const [ours, theirs] = [portable(KNOWN), native(KNOWN)];
  if (theirs.length !== ours.length || ours.some((byte, at) => theirs[at] !== byte)) {
    throw new TypeError(
      "the given function is not SHA-256: it digests a known input to other bytes",
    );
  }
  digest = native;
}

const KNOWN = "a pinch of salt, una pizca de sal, 一撮盐";

/** The SHA-256 bytes behind {@link contentHash}. */
export function contentDigest(value: JsonValue): Uint8Array {
  return canonicalDigest(typeTag(value), canonicalJson(value));
}

/** {@link contentDigest} of a value whose canonical text the caller has made. */
export function canonicalDigest(tag: string, canonical: string): Uint8Array {
  return digest(`${DOMAIN_TAG}${tag}:${canonical}`);
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
