import type { ServedSpace, Subscription } from "@tidemark/memory-engine";
import type { Seq, SpaceId } from "@tidemark/protocol";
import { disposeParts } from "./dispose.js";
import type { TenureParts } from "./parts.js";
import type { TenureOptions } from "./tenure-options.js";

/**
 * The runtime of a tenure that parked idle, kept for the space's next one (seed 001 §1, Parking). It holds
 * the idle state the tenure left, over the store that tenure last saw; it never commits, and whatever
 * moves in it or reaches its space taints it.
 */
export class KeptRuntime {
  readonly space: SpaceId;
  /** The store's head at the park. */
  readonly head: Seq;
  readonly #parts: TenureParts;
  readonly #options: TenureOptions;
  #feed: Subscription | undefined;

  constructor(parts: TenureParts, options: TenureOptions) {
    this.space = options.served.space;
    this.head = parts.replica.seq;
    this.#parts = parts;
    this.#options = options;
  }

  /** Watches it from now on: `onTaint` is told once, and at once where it has moved already. */
  watch(onTaint: () => void): void {
    const { binding } = this.#parts;
    // The subscription keeps the store open: the runtime reads from it when it serves again.
    this.#feed = this.#options.served.feed(this.head, binding.taint, { quiet: true });
    binding.unbind(onTaint);
  }

  /** Whether it holds exactly what a runtime built now, over this store, would have to arrive at. */
  fits(served: ServedSpace): boolean {
    const { binding } = this.#parts;
    return (
      served === this.#options.served && !binding.tainted && served.engine.head() === this.head
    );
  }

  /** Hands it over, as it stands. */
  take(): TenureParts {
    this.#feed?.close();
    return this.#parts;
  }

  /** Lets it go, unused. Never rejects. */
  async dispose(): Promise<void> {
    this.#feed?.close();
    await disposeParts(this.#parts, this.#options);
  }
}
