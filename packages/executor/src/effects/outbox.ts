import type { Cancellable, Clock, GateName, InstanceKey, SpaceId } from "@tidemark/protocol";
import type { BuiltInName, StoredMemo } from "@tidemark/runtime";
import type { SpaceStats } from "../stats/counters.js";
import type { Contribution } from "../wave/contribution.js";
import type { WavePlan } from "../wave/plan.js";
import type { EgressBudget } from "./budget.js";
import { completionOf, type CallEnd, type Completion } from "./completion.js";
import type { CompletionStep } from "./completion-step.js";
import { InFlightBook, type InFlightEffect, type RunCarriage } from "./in-flight.js";
import { EffectError, type DispatchedCall, type EffectPerformers } from "./performer.js";
import { requestsOf, sentRequest } from "./requests.js";

/** What an {@link EffectOutbox} is made of. */
export interface EffectOutboxOptions {
  readonly space: SpaceId;
  readonly clock: Pick<Clock, "timer">;
  readonly stats: SpaceStats;
  readonly performers: EffectPerformers;
  readonly budget: EgressBudget;
  readonly completions: Pick<CompletionStep, "waits" | "land">;
  readonly pass: (gate: GateName) => Promise<void> | undefined;
  readonly wake: () => void;
  /** What the result document says in the store, as the replica holds it. */
  readonly selected: (target: InstanceKey) => StoredMemo | undefined;
  /** Whether the node whose run asked still stands. */
  readonly stands: (carriage: RunCarriage) => boolean;
  /** A performer failed in a way that nobody named. */
  readonly reportFailure: (builtIn: BuiltInName, carriage: RunCarriage, error: unknown) => void;
}

/** Built-ins that reach nothing outside this process: no budget holds them (seed 001 §5). */
const LOCAL: ReadonlySet<BuiltInName> = new Set(["sqliteQuery"]);

interface Answer {
  readonly effect: InFlightEffect;
  readonly completion: Completion;
}

/**
 * The effect half of the outbox (seed 001 §4, §5): a process-local queue. Requests enter it once their
 * wave has committed, leave as the budget lets them, and their answers go back to the loop, which never
 * waits for one. It keeps nothing durable: a request that is lost is missed again from its key.
 */
export class EffectOutbox {
  readonly #options: EffectOutboxOptions;
  readonly #book = new InFlightBook();
  /** Admitted and held, in order. */
  #waiting: InFlightEffect[] = [];
  #answers: Answer[] = [];
  /** Answers that are here and not readable yet, those at their gate included. */
  #landing = 0;
  #pacing: Cancellable | undefined;
  #failure: { readonly error: unknown } | undefined;
  #open = false;
  #abandoned = false;

  constructor(options: EffectOutboxOptions) {
    this.#options = options;
  }

  /** A tenure begins. */
  open(): void {
    this.#open = true;
    this.#abandoned = false;
    this.#failure = undefined;
    this.#options.budget.listen(() => this.#pump());
  }

  /**
   * The tenure is over: calls are aborted, held ones dropped, and an answer that comes now is nobody's.
   * The next tenure misses what is missing (seed 001 §5).
   */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#options.budget.listen(undefined);
    this.#pacing?.cancel();
    this.#pacing = undefined;
    for (const effect of this.#book.all()) {
      this.#abandoned = true;
      this.#book.retire(effect, "dropped");
      effect.cut.abort(
        new EffectError("the tenure that asked is over", { kind: "network", reason: "aborted" }),
      );
    }
    this.#waiting = [];
    this.#answers = [];
    this.#landing = 0;
    this.#gauge();
  }

  /** Requests that are not retired, and what is held for them. */
  get held(): number {
    return this.#book.size + (this.#pacing === undefined ? 0 : 1);
  }

  /** Whether the tenure's end cut off requests: their nodes believe that somebody asks (seed 001 §1, Parking). */
  get abandoned(): boolean {
    return this.#abandoned;
  }

  /** Whether the loop has something to land, or to fail for. */
  get due(): boolean {
    return this.#answers.length > 0 || this.#failure !== undefined;
  }

  /** A wave has committed: what its landing runs ask for enters the queue. */
  take(contributions: readonly Contribution[], plan: WavePlan): void {
    if (!this.#open) return;
    for (const { request, carriage } of requestsOf(contributions, plan)) {
      const { effect, fresh } = this.#book.admit(request, carriage);
      if (!fresh) continue;
      this.#options.stats.outbox.queued += 1;
      if (LOCAL.has(request.builtIn)) this.#letGo(effect);
      else this.#waiting.push(effect);
    }
    this.#pump();
    this.#countHeld();
    this.#gauge();
  }

  /** Lands the answers that are here, in the order they came. @throws TenureEnd; what a gate threw */
  async land(): Promise<void> {
    const { completions } = this.#options;
    const kept: Answer[] = [];
    for (let answer = this.#next(); answer !== undefined; answer = this.#next()) {
      if (completions.waits(answer.completion)) {
        kept.push(answer);
        continue;
      }
      await completions.land(answer.completion);
      // Readable now, so that the key may go: whoever misses it from here on has seen the answer.
      if (answer.effect.phase === "answered") {
        this.#landing -= 1;
        this.#book.retire(answer.effect, "landed");
      }
      this.#gauge();
    }
    if (this.#open) this.#answers = [...kept, ...this.#answers];
  }

  #next(): Answer | undefined {
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#open ? this.#answers.shift() : undefined;
  }

  /** Lets go what the budget allows, first come first. */
  #pump(): void {
    while (this.#open) {
      const [effect] = this.#waiting;
      if (effect === undefined) break;
      if (this.#release(effect) === undefined) {
        // Nobody wants it any more: it takes nothing of the budget.
        this.#waiting.shift();
        this.#book.retire(effect, "refused");
        continue;
      }
      const decision = this.#options.budget.take();
      if (!decision.go) {
        this.#pace(decision.waitMs);
        break;
      }
      this.#waiting.shift();
      this.#letGo(effect);
    }
  }

  /** Each that the budget did not let go when it came is a deferral; those before it have been counted. */
  #countHeld(): void {
    for (let at = this.#waiting.length - 1; at >= 0; at -= 1) {
      const effect = this.#waiting[at];
      if (effect === undefined || effect.deferred) return;
      effect.deferred = true;
      this.#options.stats.outbox.budgetDeferrals += 1;
    }
  }

  #pace(waitMs: number | undefined): void {
    if (waitMs === undefined || this.#pacing !== undefined) return;
    this.#pacing = this.#options.clock.timer(waitMs, () => {
      this.#pacing = undefined;
      this.#pump();
      this.#gauge();
    });
  }

  /** The first attachment whose own check lets the request go, under whose context it then goes. */
  #release({ attachments, request }: InFlightEffect): RunCarriage | undefined {
    const memo = this.#options.selected(request.target);
    if (memo?.key !== request.key || memo.settled) return undefined;
    return attachments.find((carriage) => this.#options.stands(carriage));
  }

  #letGo(effect: InFlightEffect): void {
    effect.step("let-go");
    this.#dispatch(effect).catch((error: unknown) => this.#failed(error));
  }

  async #dispatch(effect: InFlightEffect): Promise<void> {
    const budgeted = !LOCAL.has(effect.request.builtIn);
    const held = this.#options.pass("effect:before-dispatch");
    try {
      if (held !== undefined) await held;
      effect.carriage = effect.phase === "leaving" ? this.#release(effect) : undefined;
    } finally {
      if (effect.carriage === undefined && budgeted) this.#options.budget.giveBack();
    }
    if (effect.carriage === undefined) return this.#refused(effect);
    effect.step("dispatched");
    const end = await this.#call(effect, effect.carriage);
    if (budgeted) this.#options.budget.settled();
    if (effect.phase === "out") await this.#ended(effect, effect.carriage, end);
  }

  #refused(effect: InFlightEffect): void {
    if (effect.phase !== "gone") this.#book.retire(effect, "refused");
    this.#gauge();
  }

  async #call({ request, cut }: InFlightEffect, carriage: RunCarriage): Promise<CallEnd> {
    const { performers, space } = this.#options;
    const { builtIn, key, target } = request;
    const call: DispatchedCall = {
      builtIn,
      request: sentRequest(request),
      space,
      reader: carriage.actor,
      signal: cut.signal,
      key,
      target,
    };
    try {
      const performer = performers[builtIn];
      if (performer === undefined) {
        throw new EffectError(`this server performs no ${builtIn}`, {
          kind: "refused",
          reason: "no-performer",
        });
      }
      return { ok: true, value: await performer.perform(call) };
    } catch (error) {
      return { ok: false, error };
    }
  }

  async #ended(effect: InFlightEffect, carriage: RunCarriage, end: CallEnd): Promise<void> {
    const { stats, pass, wake, reportFailure } = this.#options;
    effect.step("ended");
    this.#landing += 1;
    const completion = completionOf(effect.request, carriage, end);
    stats.outbox[completion.failed ? "failed" : "completed"] += 1;
    if (completion.unexpected !== undefined) {
      reportFailure(effect.request.builtIn, carriage, completion.unexpected);
    }
    this.#gauge();
    const held = pass("effect:before-completion");
    if (held !== undefined) await held;
    if (effect.phase !== "answered") return;
    this.#answers.push({ effect, completion });
    wake();
  }

  /** A gate threw: the loop ends the tenure for it, and the next one asks again. */
  #failed(error: unknown): void {
    if (!this.#open) return;
    this.#failure ??= { error };
    this.#options.wake();
  }

  #gauge(): void {
    const { stats } = this.#options;
    stats.memo.inflight = this.#book.size;
    stats.outbox.landing = this.#landing;
  }
}
