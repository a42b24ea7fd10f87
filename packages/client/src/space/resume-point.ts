import type { Watch } from "@tidemark/protocol";

/** What frames are told under: a history, and the watches that are in force at the server. */
export interface Footing {
  readonly historyId: string;
  readonly watches: readonly Watch[];
  /** What is held is one whole only with what came since it was last begun anew. */
  readonly beginning: number;
}

/**
 * What a reconnect may go on from (R26). The server takes a client to hold whatever its watches reached at the cursor, so
 * the watches of a resume are those of the frame that was integrated last and never those of today; the history
 * likewise. Both change hands with the frame: an answer whose frame was lost with its connection counts for nothing.
 */
export class ResumePoint {
  #told: Footing | undefined;
  #held: Footing | undefined;
  #beginning = 0;

  /** Under which the present connection's frames come; `undefined`: none are to come yet. */
  get told(): Footing | undefined {
    return this.#told;
  }

  /** Under which what is held was told; `undefined`: there is nothing to go on from. */
  get held(): Footing | undefined {
    return this.#held;
  }

  /** The space is open: frames from here on are of this history and these watches. */
  opened(historyId: string, watches: readonly Watch[]): void {
    this.#told = { historyId, watches, beginning: this.#beginning };
  }

  /** Other watches are in force: frames from here on are of these. */
  watching(watches: readonly Watch[]): void {
    if (this.#told !== undefined) this.#told = { ...this.#told, watches };
  }

  /** A frame that came under this footing is in the replica. */
  integrated(footing: Footing | undefined): void {
    if (footing?.beginning === this.#beginning) this.#held = footing;
  }

  /** The connection is gone. */
  offline(): void {
    this.#told = undefined;
  }

  /** The next open brings everything anew. */
  forget(): void {
    this.#beginning += 1;
    this.#told = undefined;
    this.#held = undefined;
  }
}
