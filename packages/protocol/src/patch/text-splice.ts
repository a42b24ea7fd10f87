import { isWellFormedText } from "../base/text.js";

/**
 * Editing a long text means finding the same neighbourhood again and again. A finger remembers, for
 * a text that an edit returned, one code point's unit offset, and whether the text is `plain` (no
 * surrogates: offsets and indexes agree). It is a memo alone: every answer is the same without it.
 */
interface Finger {
  readonly text: string;
  readonly plain: boolean;
  readonly point: number;
  readonly unit: number;
}

/** Shorter texts are scanned; longer ones are not held on to. In UTF-16 code units. */
const MIN_REMEMBERED = 512;
const MAX_REMEMBERED = 8 * 1024 * 1024;
const FINGERS = 4;
const SURROGATE = /[\ud800-\udfff]/;

const fingers: (Finger | undefined)[] = Array.from({ length: FINGERS }, () => undefined);
let nextFinger = 0;

/**
 * Replaces `remove` code points from code point `index` on by `insert`. Both are cut to the text's
 * end, and no surrogate pair is ever split. Undefined when `insert` holds a lone surrogate.
 */
export function spliceText(
  text: string,
  index: number,
  remove: number,
  insert: string,
): string | undefined {
  if (!isWellFormedText(insert)) return undefined;
  const slot = text.length < MIN_REMEMBERED ? -1 : fingers.findIndex((f) => f?.text === text);
  const finger = fingers[slot] ?? freshFinger(text);
  const start = unitOf(text, index, finger);
  const end = finger.plain
    ? Math.min(start.unit + remove, text.length)
    : forward(text, start, index + remove).unit;
  const result = text.slice(0, start.unit) + insert + text.slice(end);
  if (result.length >= MIN_REMEMBERED && result.length <= MAX_REMEMBERED) {
    remember(slot, {
      text: result,
      plain: finger.plain && !SURROGATE.test(insert),
      point: start.point,
      unit: start.unit,
    });
  }
  return result;
}

function freshFinger(text: string): Finger {
  return { text, plain: !SURROGATE.test(text), point: 0, unit: 0 };
}

function remember(slot: number, finger: Finger): void {
  if (slot >= 0) {
    fingers[slot] = finger;
  } else {
    fingers[nextFinger] = finger;
    nextFinger = (nextFinger + 1) % FINGERS;
  }
}

interface Place {
  readonly point: number;
  readonly unit: number;
}

function unitOf(text: string, index: number, finger: Finger): Place {
  if (finger.plain) {
    const unit = Math.min(index, text.length);
    return { point: unit, unit };
  }
  if (index >= finger.point) return forward(text, finger, index);
  if (index < finger.point - index) return forward(text, { point: 0, unit: 0 }, index);
  return backward(text, finger, index);
}

function forward(text: string, from: Place, index: number): Place {
  let { point, unit } = from;
  while (point < index && unit < text.length) {
    unit += isHigh(text.charCodeAt(unit)) ? 2 : 1;
    point++;
  }
  return { point, unit };
}

function backward(text: string, from: Place, index: number): Place {
  let { point, unit } = from;
  while (point > index) {
    unit -= isLow(text.charCodeAt(unit - 1)) ? 2 : 1;
    point--;
  }
  return { point, unit };
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
