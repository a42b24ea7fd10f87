import type { InstanceKey, Seq, ValueOperation } from "@tidemark/protocol";
import type {
  DerivationContext,
  SealDestination,
  SealedRun,
  SealVerdict,
  SentEvent,
} from "@tidemark/runtime";
import type { Overlay, OverlayChange, SealedEcho, SealResult } from "@tidemark/speculation";

/** What an echo sent, to be echoed in its turn. */
export interface EchoedSend extends SentEvent {
  readonly parent: SealedRun["context"] & { readonly kind: "event-handler" };
}

/**
 * Where a client's runs go: the overlay, and nowhere else (seed 000 §7). A run that is no handler's
 * and no computed's changes nothing here.
 */
export class EchoSeal implements SealDestination {
  readonly #overlay: Overlay;
  readonly #baseSeq: () => Seq;
  readonly #moved: (key: InstanceKey) => void;
  #sends: EchoedSend[] = [];

  /** `moved` is told each document that looks different after a seal. */
  constructor(overlay: Overlay, baseSeq: () => Seq, moved: (key: InstanceKey) => void) {
    this.#overlay = overlay;
    this.#baseSeq = baseSeq;
    this.#moved = moved;
  }

  seal(run: SealedRun): SealVerdict {
    return { ok: true, changes: this.#tell(this.#lay(run).changes) };
  }

  /** A computed that met something that is not there yet shows nothing of its own. */
  withdraw(run: DerivationContext): readonly OverlayChange[] {
    return this.#tell(this.#overlay.dropDerived(writerOf(run)));
  }

  /** The events sent by the runs sealed since the last call. */
  takeSends(): readonly EchoedSend[] {
    const sends = this.#sends;
    this.#sends = [];
    return sends;
  }

  #tell(changes: readonly OverlayChange[]): readonly OverlayChange[] {
    for (const { key } of changes) this.#moved(key);
    return changes;
  }

  #lay(run: SealedRun): Pick<SealResult, "changes"> {
    const { context } = run;
    if (context.kind === "bookkeeping") return { changes: [] };
    if (context.kind === "derivation") {
      return this.#overlay.sealDerived(this.#echo(run, writerOf(context)));
    }
    const sealed = this.#overlay.sealHandler(context.eventId, this.#echo(run, context.eventId));
    if (sealed.accepted) {
      for (const sent of run.sends) this.#sends.push({ ...sent, parent: context });
    }
    return sealed;
  }

  #echo(run: SealedRun, writer: string): SealedEcho {
    const ops = new Map<InstanceKey, ValueOperation[]>();
    for (const { key, op } of run.writes) ops.set(key, [...(ops.get(key) ?? []), op]);
    // What came out as it already looks is held all the same: the row below may move before the
    // server has seen what this run has seen.
    for (const key of run.elided ?? []) ops.set(key, [this.#asSeen(key)]);
    const reads = new Set(
      run.reads.filter(({ space }) => space === undefined).map(({ key }) => key),
    );
    return { writer, ops, reads, baseSeq: this.#baseSeq() };
  }

  #asSeen(key: InstanceKey): ValueOperation {
    const value = this.#overlay.view.get(key)?.value;
    return value === undefined ? { op: "delete" } : { op: "set", value };
  }
}

function writerOf({ action, scopeKey }: DerivationContext): string {
  return `${action} ${scopeKey}`;
}
