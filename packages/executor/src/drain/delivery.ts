import type { EntryEnd } from "@tidemark/events";
import {
  isTidemarkError,
  TimeoutError,
  type ActionId,
  type Cancellable,
  type Clock,
  type DocId,
  type EventId,
  type GateName,
  type InstanceKey,
} from "@tidemark/protocol";
import {
  actionOf,
  type HandlerEvent,
  type HandlerOutcome,
  type Runtime,
  type SealedRun,
  type SealVerdict,
} from "@tidemark/runtime";
import type { Change, ReadEntry } from "@tidemark/scheduler";
import type { ServingView } from "../replica/serving-view.js";
import type { SpaceStats } from "../stats/counters.js";
import type { Draft, Wave, WaveAccumulator } from "../wave/accumulator.js";
import type { Contribution } from "../wave/contribution.js";
import { actorOf, endDraft, handlingDraft } from "../wave/draft.js";
import type { Runnable } from "./places.js";

/** An in-process copy's emitter, and the wave that appends its entry. */
export interface CopyOf {
  readonly emitter: number;
  readonly wave: Wave;
}

/** What became of one dispatch. */
export type DeliveryResult =
  /** A consequence, success or error, is in the open wave. */
  | { readonly kind: "sealed" }
  /** It rested on what was withdrawn while it ran, or its wave closed: the entry is pending. */
  | { readonly kind: "requeued" }
  /** The body did not run: nothing is sealed (seed 000 §5). */
  | { readonly kind: "not-run"; readonly reason: string }
  /** The way to the seal failed: the entry is pending, and time must pass. */
  | { readonly kind: "failed" }
  /** The tenure ended meanwhile. */
  | { readonly kind: "abandoned" };

/** What a {@link Deliveries} is made of. */
export interface DeliveryOptions {
  readonly clock: Clock;
  readonly handlerBudgetMs: number;
  readonly stats: SpaceStats;
  readonly accumulator: WaveAccumulator;
  readonly view: ServingView;
  readonly runtime: () => Pick<
    Runtime,
    "runHandler" | "streamOwner" | "handlerReads" | "abandonHandler"
  >;
  readonly scheduler: {
    preflight(reads: readonly ReadEntry[]): void;
    notify(changes: readonly Change[], cause: "external" | "rollback"): void;
  };
  readonly prepare: (stream: DocId) => { readonly ok: boolean; readonly reason?: string };
  readonly pass: (gate: GateName, event: EventId) => Promise<void> | undefined;
  /** A wave of this space that is being committed: a late seal waits for its outcome. */
  readonly committing: () => Promise<void> | undefined;
  readonly onSends: (contribution: Contribution) => void;
  readonly live: () => boolean;
  /** A body began or ended: the replica may not move in between (R25). */
  readonly onEnd: () => void;
  readonly reportSlow: (event: Runnable, error: TimeoutError) => void;
}

interface Running {
  readonly event: Runnable;
  readonly trace: Set<InstanceKey>;
  staged: SealedRun | undefined;
  tainted: boolean;
}

/** Runs handlers, one at a time, each as its event's actor (scopes.md, "Whose run it is"). */
export class Deliveries {
  readonly #options: DeliveryOptions;
  #running: Running | undefined;
  /** The dispatch whose body has not begun. */
  #coming: { recalled: boolean } | undefined;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** A handler's body has begun and is not sealed yet: the replica stands still. */
  get bodyRunning(): boolean {
    return this.#running !== undefined;
  }

  /** The whole way of one event: gates, preflight, body, seal. Rejects with what a gate throws. */
  async deliver(event: Runnable, copy?: CopyOf): Promise<DeliveryResult> {
    const { prepare, live } = this.#options;
    const coming = { recalled: false };
    this.#coming = coming;
    await this.#options.pass("preflight:before", event.eventId);
    const prepared = prepare(event.stream);
    if (!prepared.ok) return { kind: "not-run", reason: prepared.reason ?? "no handler" };
    this.#preflight(event.stream);
    await this.#options.pass("handler:before-run", event.eventId);
    this.#coming = undefined;
    if (!live()) return { kind: "abandoned" };
    if (coming.recalled) return { kind: "requeued" };
    try {
      return await this.#runBody(event, copy);
    } finally {
      this.#running = undefined;
      this.#options.onEnd();
    }
  }

  /** The runtime hands over a handler's run; it joins the wave once its gates are passed. */
  stage(run: SealedRun): SealVerdict {
    if (this.#running !== undefined) this.#running.staged = run;
    return { ok: true, changes: [] };
  }

  /** An earlier arrival went back to pending: what has not begun goes back behind it (R16). */
  recall(): void {
    if (this.#coming !== undefined) this.#coming.recalled = true;
  }

  /** Values were taken back, or a stream's earlier event was: a body that rests on them runs again. */
  taint(keys: ReadonlySet<InstanceKey>, streams: ReadonlySet<DocId>): void {
    const running = this.#running;
    if (running === undefined) return;
    const read = [...running.trace].some((key) => keys.has(key));
    if (read || streams.has(running.event.stream)) running.tainted = true;
  }

  async #runBody(event: Runnable, copy: CopyOf | undefined): Promise<DeliveryResult> {
    const running: Running = { event, trace: new Set(), staged: undefined, tainted: false };
    this.#running = running;
    const outcome = await this.#body(running, copy);
    await this.#options.pass("handler:after-run", event.eventId);
    await this.#options.pass("seal:before", event.eventId);
    const committing = this.#options.committing();
    if (committing !== undefined) await committing;
    if (!this.#options.live()) return { kind: "abandoned" };
    if (copy !== undefined && copy.wave !== this.#options.accumulator.open) {
      this.#options.stats.events.lt1LateSealsRefused += 1;
      return { kind: "requeued" };
    }
    if (running.tainted) return { kind: "requeued" };
    return this.#conclude(running, copy, outcome);
  }

  async #body(running: Running, copy: CopyOf | undefined): Promise<HandlerOutcome> {
    const { event } = running;
    const { runtime, view } = this.#options;
    const owner = runtime().streamOwner(event.stream);
    if (owner === undefined) return { kind: "not-run", reason: "its piece has no handler for it" };
    const action = actionOf(owner.piece.pattern.id, owner.handler.name, owner.piece.id);
    const budget = this.#budget(event, action);
    view.trace(running.trace);
    try {
      return await runtime().runHandler(invocationOf(event, action, copy));
    } finally {
      view.trace(undefined);
      budget.cancel();
    }
  }

  #conclude(running: Running, copy: CopyOf | undefined, outcome: HandlerOutcome): DeliveryResult {
    const { event } = running;
    switch (outcome.kind) {
      case "sealed":
        if (running.staged !== undefined) this.#sealHandling(running.staged, event, copy);
        return running.staged === undefined
          ? { kind: "not-run", reason: "the runtime sealed nothing" }
          : { kind: "sealed" };
      case "errored":
        return this.#sealEnd(running, copy, { kind: "errored", error: textOf(outcome.error) });
      case "refused":
        return this.#sealEnd(running, copy, { kind: "refused", error: textOf(outcome.error) });
      case "not-run":
        return { kind: "not-run", reason: outcome.reason };
      case "pending":
        return { kind: "failed" };
    }
  }

  #sealHandling(run: SealedRun, event: Runnable, copy: CopyOf | undefined): void {
    const contribution = this.#seal(handlingDraft(run, event, copy?.emitter));
    if (contribution.sends.length > 0) this.#options.onSends(contribution);
  }

  #sealEnd(running: Running, copy: CopyOf | undefined, end: EntryEnd): DeliveryResult {
    this.#seal(endDraft(running.event, end, { emitter: copy?.emitter, read: running.trace }));
    return { kind: "sealed" };
  }

  #seal(draft: Draft): Contribution {
    const { contribution, changes } = this.#options.accumulator.seal(draft);
    this.#options.scheduler.notify(changes, "external");
    return contribution;
  }

  /** The last run's reads are made current first (R22); what it reads anew is pulled as it reads. */
  #preflight(stream: DocId): void {
    try {
      this.#options.scheduler.preflight(this.#options.runtime().handlerReads(stream));
    } catch {
      // A cycle among what it read last time: the body meets it where it still reads it.
    }
  }

  /** One that does not end is named, counted and given up: its space goes on (issue 2, section 11). */
  #budget(event: Runnable, action: ActionId): Cancellable {
    const { clock, handlerBudgetMs, stats, reportSlow, runtime } = this.#options;
    return clock.timer(handlerBudgetMs, () => {
      stats.counts.handlersOverBudget += 1;
      const message = `${action} has not ended ${handlerBudgetMs} ms after it began`;
      const error = new TimeoutError(message, { afterMs: handlerBudgetMs });
      reportSlow(event, error);
      runtime().abandonHandler(error);
    });
  }
}

function invocationOf(event: Runnable, action: ActionId, copy: CopyOf | undefined): HandlerEvent {
  return {
    stream: event.stream,
    eventId: event.eventId,
    payload: event.payload,
    at: event.at,
    context: {
      kind: "event-handler",
      action,
      eventId: event.eventId,
      stream: event.stream,
      actor: actorOf(event),
      ...(event.place === undefined ? {} : { entry: event.place }),
      ...(copy === undefined ? {} : { lt1: true }),
    },
  };
}

/** The words of an error, as the entry keeps them: the handler author's, never a stack. */
function textOf(error: unknown): string {
  if (error instanceof Error || isTidemarkError(error)) return (error as Error).message;
  return String(error);
}
