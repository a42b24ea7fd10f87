/** Whether the text takes more than `max` bytes in UTF-8. Looks at the text only in the doubtful case. */
export function exceedsBytes(text: string, max: number): boolean {
  if (text.length > max) return true;
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= max) return false;
  return utf8Bytes(text) > max;
}

/** The size of the text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // Two for a character below U+0800; three above; a surrogate is half of four.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
