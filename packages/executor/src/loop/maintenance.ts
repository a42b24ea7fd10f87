import type { Cancellable } from "@tidemark/protocol";
import type { TenureParts } from "../tenure/parts.js";
import type { TenureOptions } from "../tenure/tenure-options.js";

/** A busy space waits so many periods for its round. */
const BUSY_FACTOR = 2;

/**
 * Stream compaction and revision pruning, as bookkeeping of the lease holder, by policy, at quiet
 * moments, one bounded call at a time (R30). Never a commit.
 */
export class Maintenance {
  readonly #options: TenureOptions;
  readonly #wake: () => void;
  #timer: Cancellable | undefined;
  #lastAt: number;
  #owed = false;
  #doneAtSeq = -1;

  constructor(options: TenureOptions, wake: () => void) {
    this.#options = options;
    this.#wake = wake;
    this.#lastAt = options.clock.monotonic();
  }

  /**
   * After a cycle: does one slice where a round is due or under way. A space that never rests gets its
   * rounds all the same, later; none happens under a running body, whose view must stay readable.
   */
  step(parts: TenureParts, atRest: boolean): void {
    const { clock, policy } = this.#options;
    const seq = parts.replica.seq;
    if (parts.loop.bodyRunning) return;
    const overdue = this.#lastAt + BUSY_FACTOR * policy.maintenanceEveryMs;
    if (!atRest && clock.monotonic() < overdue) return;
    if (!this.#owed) {
      if (seq === this.#doneAtSeq) return;
      const due = this.#lastAt + policy.maintenanceEveryMs - clock.monotonic();
      if (due > 0) {
        this.#arm(due);
        return;
      }
    }
    this.#owed = this.#slice(parts);
    this.#lastAt = clock.monotonic();
    if (this.#owed) this.#wake();
    else this.#doneAtSeq = seq;
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** True where rows are left to go. */
  #slice(parts: TenureParts): boolean {
    const { served, holder, policy } = this.#options;
    const { compactAfterMs, compactAfterEntries, compactMaxEntries } = policy;
    const compacted = served.engine.compact(
      { compactAfterMs, compactAfterEntries, compactMaxEntries },
      holder,
    );
    const pruned = served.engine.prune({}, holder);
    parts.scheduler.forgetRemoved();
    return compacted.more || pruned.more;
  }

  #arm(ms: number): void {
    this.#timer ??= this.#options.clock.timer(ms, () => {
      this.#timer = undefined;
      this.#wake();
    });
  }
}
