import { type Random, seededRandom } from "@tidemark/protocol";
import type { TextPatch } from "./patch.js";
import { textOf, type Trace } from "./trace.js";

/** Beside plain text: beyond the basic plane, joined, combining, and what a careless escape breaks. */
const SPECIAL = ["😀", "é", "\u{1F469}\u200D\u{1F680}", "\n", '"', "\\", "\t", "漢", "\u2028"];
const PASTE_EVERY = 60;
const ELSEWHERE_EVERY = 12;
const DELETE_SHARE = 0.3;

/**
 * A text as a person writes one: keystrokes at a place that wanders, some deletions, now and then a paste or several
 * changes in one transaction. The same seed gives the same text on every machine.
 */
export function syntheticTrace(seed: number, count: number): Trace {
  const random = seededRandom(seed);
  const writer = new Writer(random);
  const txns = Array.from({ length: count }, () => ({ patches: writer.transaction() }));
  return { startContent: "", endContent: textOf(txns), txns };
}

class Writer {
  readonly #random: Random;
  #length = 0;
  #at = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  transaction(): TextPatch[] {
    if (this.#below(ELSEWHERE_EVERY) === 0) this.#at = this.#below(this.#length + 1);
    if (this.#below(PASTE_EVERY) === 0) return [this.#put(this.#words(20 + this.#below(200)))];
    const changes = this.#below(PASTE_EVERY) === 0 ? 2 + this.#below(6) : 1;
    return Array.from({ length: changes }, () => this.#keystroke());
  }

  #keystroke(): TextPatch {
    if (this.#at > 0 && this.#random.next() < DELETE_SHARE) return this.#take();
    return this.#put(this.#words(1));
  }

  #put(insert: string): TextPatch {
    const at = this.#at;
    const length = [...insert].length;
    this.#length += length;
    this.#at += length;
    return [at, 0, insert];
  }

  #take(): TextPatch {
    const remove = Math.min(this.#at, 1 + this.#below(4));
    this.#at -= remove;
    this.#length -= remove;
    return [this.#at, remove, ""];
  }

  #words(length: number): string {
    return Array.from({ length }, () => this.#character()).join("");
  }

  #character(): string {
    if (this.#below(20) === 0) return SPECIAL[this.#below(SPECIAL.length)] ?? "";
    return String.fromCharCode(97 + this.#below(26));
  }

  #below(bound: number): number {
    return Math.floor(this.#random.next() * bound);
  }
}
