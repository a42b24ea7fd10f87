import type { EntryEnd } from "@tidemark/events";
import type { AccessRequest } from "@tidemark/memory-engine";
import {
  isTidemarkError,
  StorageError,
  TimeoutError,
  type ActionId,
  type Cancellable,
  type Clock,
  type DocId,
  type EventId,
  type GateName,
  type InstanceKey,
  type TidemarkError,
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
import type { StreamLoad } from "../tenure/structure-loads.js";
import type { Draft, Wave, WaveAccumulator } from "../wave/accumulator.js";
import type { Contribution } from "../wave/contribution.js";
import { accessRequestOf } from "../wave/access.js";
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
  /** What it reads is on its way, or cannot be loaded: the entry parks at the head (R22). */
  | { readonly kind: "load-parked"; readonly on: InstanceKey; readonly failed: boolean }
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
    "startHandler" | "streamOwner" | "handlerReads" | "abandonHandler"
  >;
  readonly scheduler: {
    preflight(reads: readonly ReadEntry[]): void;
    notify(changes: readonly Change[], cause: "external" | "rollback"): void;
  };
  readonly prepare: (stream: DocId) => StreamLoad;
  readonly pass: (gate: GateName, event: EventId) => Promise<void> | undefined;
  /** A wave of this space that is being committed: a late seal waits for its outcome. */
  readonly committing: () => Promise<void> | undefined;
  readonly onSends: (contribution: Contribution) => void;
  /** The memory server's refusal of what a run asks of the access list, if it refuses. */
  readonly checkAccess: (request: AccessRequest) => TidemarkError | undefined;
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

  /** A dispatch has begun its way: to its body, or from it to the seal. */
  get engaged(): boolean {
    return this.#running !== undefined || this.#coming !== undefined;
  }

  /**
   * The whole way of one event: gates, preflight, body, seal. The result itself where no gate holds and
   * the body is synchronous. Throws or rejects with what a gate throws.
   */
  deliver(event: Runnable, copy?: CopyOf): DeliveryResult | Promise<DeliveryResult> {
    this.#coming = { recalled: false };
    const held = this.#options.pass("preflight:before", event.eventId);
    if (held === undefined) return this.#prepare(event, copy);
    return held.then(() => this.#prepare(event, copy));
  }

  #prepare(event: Runnable, copy: CopyOf | undefined): DeliveryResult | Promise<DeliveryResult> {
    const prepared = this.#options.prepare(event.stream);
    if (!prepared.ok) {
      this.#coming = undefined;
      const { load, reason } = prepared;
      if (load !== undefined) {
        return { kind: "load-parked", on: load.on, failed: load.error !== undefined };
      }
      return { kind: "not-run", reason };
    }
    this.#preflight(event.stream);
    const held = this.#options.pass("handler:before-run", event.eventId);
    if (held === undefined) return this.#begin(event, copy);
    return held.then(() => this.#begin(event, copy));
  }

  /** While a body waits, the replica stands still: whoever was kept from moving it is told of the end. */
  #begin(event: Runnable, copy: CopyOf | undefined): DeliveryResult | Promise<DeliveryResult> {
    const recalled = this.#coming?.recalled === true;
    this.#coming = undefined;
    if (!this.#options.live()) return { kind: "abandoned" };
    if (recalled) return { kind: "requeued" };
    if (copy !== undefined && copy.wave !== this.#options.accumulator.open) {
      // It was on its way here when its wave's copies were purged.
      this.#options.stats.events.lt1LeftoversPurged += 1;
      return { kind: "requeued" };
    }
    const running: Running = { event, trace: new Set(), staged: undefined, tainted: false };
    this.#running = running;
    let waits = false;
    try {
      const result = this.#runBody(running, copy);
      if (!(result instanceof Promise)) return result;
      waits = true;
      return result.finally(() => {
        this.#running = undefined;
        this.#options.onEnd();
      });
    } finally {
      if (!waits) this.#running = undefined;
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

  #runBody(running: Running, copy: CopyOf | undefined): DeliveryResult | Promise<DeliveryResult> {
    const outcome = this.#body(running, copy);
    const { eventId } = running.event;
    const { pass, committing } = this.#options;
    if (outcome instanceof Promise) return this.#runSlowly(running, copy, outcome);
    const after = pass("handler:after-run", eventId);
    if (after !== undefined)
      return this.#runSlowly(
        running,
        copy,
        after.then(() => outcome),
        true,
      );
    const before = pass("seal:before", eventId) ?? committing();
    if (before === undefined) return this.#sealable(running, copy, outcome);
    return before.then(() => this.#sealDecided(running, copy, outcome));
  }

  /** The same with waits in it: for a body, or a gate after it, that does. */
  async #runSlowly(
    running: Running,
    copy: CopyOf | undefined,
    body: Promise<HandlerOutcome>,
    passed = false,
  ): Promise<DeliveryResult> {
    const { eventId } = running.event;
    const outcome = await body;
    if (!passed) await this.#options.pass("handler:after-run", eventId);
    await this.#options.pass("seal:before", eventId);
    return this.#sealDecided(running, copy, outcome);
  }

  /**
   * Seals once no wave is being committed: what such a one gives back may be what the run rests on. That is looked
   * at in the very turn that seals, since one may have begun while it was waited.
   */
  async #sealDecided(
    running: Running,
    copy: CopyOf | undefined,
    outcome: HandlerOutcome,
  ): Promise<DeliveryResult> {
    const { committing } = this.#options;
    for (let wave = committing(); wave !== undefined; wave = committing()) await wave;
    return this.#sealable(running, copy, outcome);
  }

  #sealable(running: Running, copy: CopyOf | undefined, outcome: HandlerOutcome): DeliveryResult {
    if (!this.#options.live()) return { kind: "abandoned" };
    if (copy !== undefined && copy.wave !== this.#options.accumulator.open) {
      this.#options.stats.events.lt1LateSealsRefused += 1;
      return { kind: "requeued" };
    }
    if (running.tainted) return { kind: "requeued" };
    return this.#conclude(running, copy, outcome);
  }

  #body(running: Running, copy: CopyOf | undefined): HandlerOutcome | Promise<HandlerOutcome> {
    const { event } = running;
    const { runtime, view } = this.#options;
    const owner = runtime().streamOwner(event.stream);
    if (owner === undefined) return { kind: "not-run", reason: "its piece has no handler for it" };
    if (event.unreadable === true) return { kind: "errored", error: unreadable(event) };
    const action = actionOf(owner.piece.pattern.id, owner.handler.name, owner.piece.id);
    view.trace(running.trace);
    let waits = false;
    try {
      const outcome = runtime().startHandler(invocationOf(event, action, copy));
      if (!(outcome instanceof Promise)) return outcome;
      waits = true;
      const budget = this.#budget(event, action);
      return outcome.finally(() => {
        view.trace(undefined);
        budget.cancel();
      });
    } finally {
      if (!waits) view.trace(undefined);
    }
  }

  #conclude(running: Running, copy: CopyOf | undefined, outcome: HandlerOutcome): DeliveryResult {
    switch (outcome.kind) {
      case "sealed":
        return running.staged === undefined
          ? { kind: "not-run", reason: "the runtime sealed nothing" }
          : this.#sealHandling(running, running.staged, copy);
      case "errored":
        return this.#sealEnd(running, copy, { kind: "errored", error: textOf(outcome.error) });
      case "refused":
        return this.#sealRefusal(running, copy, outcome.error);
      case "not-run":
        return outcome.on === undefined
          ? { kind: "not-run", reason: outcome.reason }
          : { kind: "load-parked", on: outcome.on, failed: true };
      case "pending":
        // A pull that was given up waits for nothing that would tell of its end.
        return this.#options.view.read(outcome.on).state === "pending"
          ? { kind: "load-parked", on: outcome.on, failed: false }
          : { kind: "failed" };
    }
  }

  /** What it asks of the access list is decided before it joins the wave (seed 001 §3d). */
  #sealHandling(running: Running, run: SealedRun, copy: CopyOf | undefined): DeliveryResult {
    const draft = handlingDraft(run, running.event, copy?.emitter);
    if (draft.accessChanges !== undefined) {
      const request = accessRequestOf(draft);
      if (request === undefined) return this.#withhold(running, copy);
      const refusal = this.#options.checkAccess(request);
      if (refusal !== undefined) return this.#sealRefusal(running, copy, refusal);
    }
    const contribution = this.#seal(draft);
    if (contribution.sends.length > 0) this.#options.onSends(contribution);
    return { kind: "sealed" };
  }

  /** A verdict on the run is the end of the entry that it delivers (R14); a copy delivers none. */
  #sealRefusal(running: Running, copy: CopyOf | undefined, error: TidemarkError): DeliveryResult {
    if (copy !== undefined) return this.#withhold(running, copy);
    return this.#sealEnd(running, copy, { kind: "refused", error: textOf(error) });
  }

  /** Its entry lands without an end, and is drained after this wave; so do the later ones of its stream. */
  #withhold(running: Running, copy: CopyOf | undefined): DeliveryResult {
    const end = { kind: "succeeded" } as const;
    const draft = endDraft(running.event, end, { emitter: copy?.emitter, read: running.trace });
    this.#seal({ ...draft, unfit: "access" });
    return { kind: "requeued" };
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

function unreadable({ eventId, stream }: Runnable): StorageError {
  const message = `what is stored of event ${eventId} on ${stream} cannot be read; send it again`;
  return new StorageError(message, { kind: "corrupt" });
}

function invocationOf(event: Runnable, action: ActionId, copy: CopyOf | undefined): HandlerEvent {
  return {
    stream: event.stream,
    eventId: event.eventId,
    payload: event.payload,
    at: event.at,
    marks: event.marks,
    context: {
      kind: "event-handler",
      action,
      eventId: event.eventId,
      stream: event.stream,
      actor: actorOf(event),
      entry: event.place,
      lt1: copy === undefined ? undefined : true,
    },
  };
}

/** The words of an error, as the entry keeps them: the handler author's, never a stack. */
function textOf(error: unknown): string {
  if (error instanceof Error || isTidemarkError(error)) return (error as Error).message;
  return String(error);
}
