/** Says what is being measured: on one line that is written over at a terminal, a line per figure elsewhere. */
export class Progress {
  readonly #out: NodeJS.WriteStream;
  #figure = "";

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  /** A figure begins. */
  figure(name: string): void {
    this.#figure = name;
    if (this.#out.isTTY) this.step("");
    else this.#out.write(`measuring ${name}\n`);
  }

  /** Where within the figure. */
  step(what: string): void {
    if (!this.#out.isTTY) return;
    const text = what === "" ? `measuring ${this.#figure}` : `measuring ${this.#figure}: ${what}`;
    this.#out.write(`\r\u001B[2K${text.slice(0, Math.max(20, this.#out.columns - 1))}`);
  }

  /** Something that must not be overlooked. */
  warn(text: string): void {
    this.clear();
    this.#out.write(`${text}\n`);
  }

  clear(): void {
    if (this.#out.isTTY) this.#out.write("\r\u001B[2K");
  }
}
