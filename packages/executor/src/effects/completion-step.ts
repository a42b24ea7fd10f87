import type { ServedSpace } from "@tidemark/memory-engine";
import { parseInstanceKey, type GateName, type HolderId } from "@tidemark/protocol";
import type { Scheduler } from "@tidemark/scheduler";
import type { CoverageKeeper } from "../loop/coverage-keeper.js";
import type { SpaceStats } from "../stats/counters.js";
import { TenureEnd } from "../tenure/end.js";
import type { WaveAccumulator } from "../wave/accumulator.js";
import {
  completionBatch,
  judgeCompletion,
  type Completion,
  type CompletionFate,
} from "./completion.js";

/** What a {@link CompletionStep} is made of. */
export interface CompletionStepOptions {
  readonly served: Pick<ServedSpace, "commitDerived">;
  readonly holder: HolderId;
  readonly accumulator: WaveAccumulator;
  readonly coverage: CoverageKeeper;
  readonly scheduler: Pick<Scheduler, "notify">;
  readonly stats: SpaceStats;
  readonly pass: (gate: GateName) => Promise<void> | undefined;
  readonly live: () => boolean;
  readonly confirmLease: () => boolean;
}

/**
 * Commits answers, one derived commit each, ahead of the wave that consumes them (seed 001 §4). Called
 * by the loop in its own turn, so that nothing moves under a run.
 */
export class CompletionStep {
  readonly #options: CompletionStepOptions;

  constructor(options: CompletionStepOptions) {
    this.#options = options;
  }

  /**
   * Whether sealed writes that no commit has decided lie over the document: they may select another
   * request, or fall. The answer waits for them, so that it is judged by what is stored and a marker
   * sealed before it never comes after it (fault class 36).
   */
  waits({ request }: Completion): boolean {
    return this.#options.accumulator.view.has(request.target);
  }

  /**
   * Writes the answer if its request is the selected one, and tells the graph. Readable once this
   * resolves. Whatever the view shows, the store alone is asked (seed 001 §5, authoritative writebacks).
   *
   * @throws TenureEnd where the lease is lost or the store refuses; what the gate throws.
   */
  async land(completion: Completion): Promise<CompletionFate> {
    const { live, confirmLease, stats, coverage, pass } = this.#options;
    if (!live()) throw new TenureEnd("lapse");
    const { fate, verdict } = this.#write(completion);
    if (!verdict.ok) throw new TenureEnd(confirmLease() ? "failed" : "lapse", verdict.error);
    const { commit } = verdict;
    try {
      if (commit === undefined) return fate;
      stats.counts.derivedCommits += 1;
      coverage.landed(commit);
      const held = pass("effect:after-completion");
      if (held !== undefined) await held;
      this.#tell(completion, commit.seq);
      return fate;
    } finally {
      verdict.release();
    }
  }

  #write(completion: Completion) {
    const { served, holder, coverage } = this.#options;
    const { id, scopeKey } = parseInstanceKey(completion.request.target);
    let fate: CompletionFate = "stale";
    const verdict = served.commitDerived(
      holder,
      (tx) => {
        fate = judgeCompletion(completion.request.key, tx.read(id, scopeKey).value);
        return fate === "lands" ? completionBatch(completion, coverage.watermark) : undefined;
      },
      { hold: true },
    );
    return { fate, verdict };
  }

  /** The subscription's copy is a self-echo: the graph hears of the answer here and nowhere else. */
  #tell({ request, value }: Completion, seq: Parameters<WaveAccumulator["absorb"]>[2]): void {
    const { accumulator, scheduler } = this.#options;
    scheduler.notify(accumulator.absorb(request.target, value, seq), "external");
  }
}
