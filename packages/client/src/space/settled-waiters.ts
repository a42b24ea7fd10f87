import type { Seq } from "@tidemark/protocol";

/** Those who wait for W to cover a seq. Each is told once and leaves nothing behind (PU-07). */
export class SettledWaiters {
  readonly #waiting: { readonly seq: Seq; readonly resolve: () => void }[] = [];
  #watermark: Seq | undefined;

  /** Resolves when W is at or above `seq`, at once where it is. */
  wait(seq: Seq): Promise<void> {
    if (this.#watermark !== undefined && this.#watermark >= seq) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ seq, resolve }));
  }

  moved(watermark: Seq): void {
    this.#watermark = watermark;
    const due = this.#waiting.filter(({ seq }) => watermark >= seq);
    for (const waiter of due) {
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      waiter.resolve();
    }
  }
}
