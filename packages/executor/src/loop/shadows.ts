import {
  instanceKey,
  type AcceptedCommit,
  type InstanceKey,
  type LayeredView,
  type Seq,
} from "@tidemark/protocol";

/** A commit of somebody else's whose writes do not show yet. */
interface Shadowed {
  readonly seq: Seq;
  readonly keys: readonly InstanceKey[];
}

/**
 * Foreign writes that a pending write of our own lies over (seed 001 §3, the shadow floor): nothing here
 * was derived from them, and W stays below them. The end of the wave that holds the write takes it away.
 */
export class Shadows {
  readonly #view: Pick<LayeredView, "has" | "size">;
  #hidden: readonly Shadowed[] = [];

  constructor(view: Pick<LayeredView, "has" | "size">) {
    this.#view = view;
  }

  /** The replica took in a commit of somebody else's. */
  over({ seq, changes }: Pick<AcceptedCommit, "seq" | "changes">): void {
    if (this.#view.size === 0) return;
    const keys = changes
      .map(({ id, scopeKey }) => instanceKey(id, scopeKey))
      .filter((key) => this.#view.has(key));
    if (keys.length > 0) this.#hidden = [...this.#hidden, { seq, keys }];
  }

  /** The lowest seq that does not show whole. */
  get floor(): Seq | undefined {
    return this.#hidden.find((one) => this.#hides(one))?.seq;
  }

  /** Drops what shows by now; true where there was something, and W may go further than it did. */
  lift(): boolean {
    const before = this.#hidden.length;
    this.#hidden = this.#hidden.filter((one) => this.#hides(one));
    return this.#hidden.length < before;
  }

  #hides({ keys }: Shadowed): boolean {
    return keys.some((key) => this.#view.has(key));
  }
}
