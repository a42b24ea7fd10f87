interface Waiter {
  readonly pattern: RegExp;
  resolve(line: string): void;
  reject(error: Error): void;
}

/** The lines of a process, as they come: what a test waits for in place of sleeping. */
export class OutputLines {
  readonly #lines: string[] = [];
  readonly #partial: Record<"stdout" | "stderr", string> = { stdout: "", stderr: "" };
  readonly #waiters = new Set<Waiter>();
  #ended: string | undefined;

  /** All lines so far. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  get text(): string {
    return this.#lines.join("\n");
  }

  /**
   * The first line that matches, those that have come included.
   *
   * @param after how many lines to pass over: `output.lines.length` waits for a new one.
   */
  waitFor(pattern: RegExp, after = 0): Promise<string> {
    const found = this.#lines.slice(after).find((line) => pattern.test(line));
    if (found !== undefined) return Promise.resolve(found);
    if (this.#ended !== undefined) return Promise.reject(this.#failure(pattern));
    return new Promise((resolve, reject) => {
      this.#waiters.add({ pattern, resolve, reject });
    });
  }

  push(stream: "stdout" | "stderr", chunk: string): void {
    const parts = `${this.#partial[stream]}${chunk}`.split("\n");
    this.#partial[stream] = parts.pop() ?? "";
    for (const line of parts) this.#add(line);
  }

  /** Nothing more comes. */
  end(why: string): void {
    if (this.#ended !== undefined) return;
    for (const line of Object.values(this.#partial)) if (line !== "") this.#add(line);
    this.#ended = why;
    for (const waiter of this.#waiters) waiter.reject(this.#failure(waiter.pattern));
    this.#waiters.clear();
  }

  #add(line: string): void {
    this.#lines.push(line);
    for (const waiter of this.#waiters) {
      if (!waiter.pattern.test(line)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(line);
    }
  }

  #failure(pattern: RegExp): Error {
    return new Error(`${this.#ended}, and printed no line like ${pattern}:\n${this.text}`);
  }
}
