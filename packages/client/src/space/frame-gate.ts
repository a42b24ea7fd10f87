/** Frames in the order they came, held back while it is not known what they contain. */
export class FrameGate<T> {
  readonly #waitingFor = new Set<number>();
  readonly #pass: (frame: T) => void;
  #held: T[] = [];

  constructor(pass: (frame: T) => void) {
    this.#pass = pass;
  }

  /**
   * Holds frames until these commits are answered. They were sent on an earlier connection, so the
   * next frame may contain them while they still stand as layers, and would show twice (SP-02).
   */
  holdFor(localSeqs: Iterable<number>): void {
    for (const localSeq of localSeqs) this.#waitingFor.add(localSeq);
  }

  answered(localSeq: number): void {
    if (this.#waitingFor.delete(localSeq) && this.#waitingFor.size === 0) this.#release();
  }

  /** The connection is gone, and what it had brought with it. */
  clear(): void {
    this.#waitingFor.clear();
    this.#held = [];
  }

  frame(frame: T): void {
    if (this.#waitingFor.size > 0) this.#held.push(frame);
    else this.#pass(frame);
  }

  #release(): void {
    const held = this.#held;
    this.#held = [];
    for (const frame of held) this.#pass(frame);
  }
}
