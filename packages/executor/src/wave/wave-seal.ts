import {
  AuthorizationError,
  FrameError,
  isReserved,
  parseInstanceKey,
  ProtocolError,
  type SpaceId,
  type TidemarkError,
} from "@tidemark/protocol";
import type { SealDestination, SealedRun, SealVerdict } from "@tidemark/runtime";
import type { SpaceStats } from "../stats/counters.js";
import type { WaveAccumulator } from "./accumulator.js";
import type { Contribution } from "./contribution.js";
import { bookkeepingDraft, derivationDraft } from "./draft.js";

/** What a {@link WaveSeal} is made of. */
export interface WaveSealOptions {
  readonly space: SpaceId;
  readonly accumulator: WaveAccumulator;
  readonly stats: SpaceStats;
  /** Wall ms: the instant of what a derivation sends. */
  readonly now: () => number;
  /** A handler's run: kept until its gates are passed, then sealed by the delivery. */
  readonly stage: (run: SealedRun) => SealVerdict;
  /** A sealed run sent events within the space. */
  readonly onSends: (contribution: Contribution) => void;
  /** Whether the tenure may still seal: after a park nothing may land (seed 001 §2). */
  readonly live: () => boolean;
  /** A transaction was closed that nothing can land any more: what holds its state has moved (§1, Parking). */
  readonly onLate: () => void;
}

/** The seal destination of a serving runtime: runs join the open wave (seed 001 §3d). */
export class WaveSeal implements SealDestination {
  readonly #options: WaveSealOptions;

  constructor(options: WaveSealOptions) {
    this.#options = options;
  }

  seal(run: SealedRun): SealVerdict {
    const refusal = this.#refusal(run);
    if (refusal !== undefined) return { ok: false, error: refusal };
    const { context } = run;
    switch (context.kind) {
      case "event-handler":
        return this.#options.stage(run);
      case "derivation":
        this.#countMemo(run);
        return this.#join(derivationDraft({ ...run, context }, this.#options.now()));
      case "bookkeeping":
        return this.#join(bookkeepingDraft({ ...run, context }));
    }
  }

  #join(draft: Parameters<WaveAccumulator["seal"]>[0]): SealVerdict {
    const { contribution, changes } = this.#options.accumulator.seal(draft);
    if (contribution.sends.length > 0) this.#options.onSends(contribution);
    return { ok: true, changes };
  }

  #countMemo({ effect }: SealedRun): void {
    const { memo } = this.#options.stats;
    if (effect?.memo === "hit") memo.hits += 1;
    if (effect?.memo === "miss") memo.misses += 1;
  }

  #refusal(run: SealedRun): TidemarkError | undefined {
    if (!this.#options.live()) {
      this.#options.onLate();
      return new ProtocolError("the tenure that this run belonged to has ended", {});
    }
    return (
      this.#unstamped(run) ??
      this.#strayAccess(run) ??
      this.#reservedWrite(run) ??
      this.#foreignSend(run)
    );
  }

  /** Never an anonymous fallback: a write without a declared run is refused, loudly (§3d). */
  #unstamped(run: SealedRun): TidemarkError | undefined {
    const context: SealedRun["context"] | undefined = run.context;
    if (context?.kind !== undefined && context.action !== undefined) return undefined;
    if (run.writes.length === 0 && run.sends.length === 0) return undefined;
    this.#options.stats.counts.unstampedSealRefusals += 1;
    return new ProtocolError(
      "a transaction that writes was sealed without a run context; declare the run's kind and action",
      { path: ["context"] },
    );
  }

  /** An event's run alone has a right to ask by (§3d). */
  #strayAccess({ context, accessChanges }: SealedRun): TidemarkError | undefined {
    if (accessChanges === undefined || context.kind === "event-handler") return undefined;
    const message = `${context.action} delivers no event, and asks for a change of the access list`;
    return new AuthorizationError(message, {});
  }

  /** No run writes an access list, a watermark or any other document of the server's (§3d, R35). */
  #reservedWrite(run: SealedRun): TidemarkError | undefined {
    const reserved = run.writes.find(({ key }) => isReserved(parseInstanceKey(key).id));
    if (reserved === undefined) return undefined;
    const { id } = parseInstanceKey(reserved.key);
    return new AuthorizationError(`${run.context.action} may not write ${id}`, {});
  }

  #foreignSend(run: SealedRun): TidemarkError | undefined {
    const { space } = this.#options;
    const foreign = run.sends.find(
      ({ stream }) => stream.space !== undefined && stream.space !== space,
    );
    if (foreign === undefined) return undefined;
    this.#options.stats.counts.foreignWriteRefusals += 1;
    return new FrameError(
      `${run.context.action} sends to ${foreign.stream.space ?? ""}, and sends across spaces are not served yet`,
      { builtin: "send" },
    );
  }
}
