import { isWellFormedText } from "../base/text.js";

/** Principals and sessions recur on every row and read, so their encodings are kept. */
const MEMO_LIMIT = 2048;
/** Longer parts are refused, so that a key stays a key. In UTF-16 code units. */
const MAX_PART_LENGTH = 512;
const memo = new Map<string, string>();

/** The encoding of one part of a scope key, undefined for empty, overlong or ill-formed text. */
export function encodePart(text: string): string | undefined {
  const known = memo.get(text);
  if (known !== undefined) return known;
  if (text === "" || text.length > MAX_PART_LENGTH || !isWellFormedText(text)) return undefined;
  const encoded = encodeURIComponent(text);
  if (memo.size >= MEMO_LIMIT) memo.clear();
  memo.set(text, encoded);
  return encoded;
}

/** The text behind an encoded part, undefined unless {@link encodePart} writes it exactly so. */
export function decodePart(encoded: string): string | undefined {
  if (encoded.length > MAX_PART_LENGTH * 9) return undefined;
  let text: string;
  try {
    text = decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
  return encodePart(text) === encoded ? text : undefined;
}
