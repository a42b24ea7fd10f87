import { inspect } from "node:util";

const HIDDEN = "(secret)";

/** A text that shows nowhere by mistake: neither as JSON, nor as text, nor to who inspects what holds it. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** For the one place that needs it. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
