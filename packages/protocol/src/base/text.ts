const nativeIsWellFormed = (String.prototype as { readonly isWellFormed?: () => boolean })
  .isWellFormed;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * True when the text holds no lone surrogate. One that does would be stored as another string,
 * since UTF-8 cannot carry it (R12, VL-05).
 */
export function isWellFormedText(text: string): boolean {
  if (nativeIsWellFormed !== undefined) return nativeIsWellFormed.call(text);
  return !LONE_SURROGATE.test(text);
}
