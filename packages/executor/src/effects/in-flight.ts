import type { ActionId, Actor, InstanceKey, ScopeKey } from "@tidemark/protocol";
import type { EffectRequest } from "@tidemark/runtime";

/**
 * What a completion needs of the run that asked, which is long over by then (seed 001 §4): nothing of
 * it can be had from the key. `action` and `instance` are the reference to the run's basis.
 */
export interface RunCarriage {
  readonly action: ActionId;
  readonly instance: ScopeKey;
  /** Whom the run acted as; absent: nobody. */
  readonly actor?: Actor;
}

/**
 * `held`: admitted, and for the budget to let go. `leaving`: let go. `out`: with its performer.
 * `answered`: its answer is here and not readable yet. `gone`: retired.
 */
export type EffectPhase = "held" | "leaving" | "out" | "answered" | "gone";

export type EffectStep = "let-go" | "refused" | "dispatched" | "ended" | "landed" | "dropped";

/** Each phase's way on; what stands in no row cannot happen. */
const STEPS: Record<EffectPhase, Partial<Record<EffectStep, EffectPhase>>> = {
  held: { "let-go": "leaving", refused: "gone", dropped: "gone" },
  leaving: { dispatched: "out", refused: "gone", dropped: "gone" },
  out: { ended: "answered", dropped: "gone" },
  answered: { landed: "gone", dropped: "gone" },
  // A call may come back after its tenure is over: nothing of it is left to move.
  gone: { ended: "gone", landed: "gone", refused: "gone", dropped: "gone" },
};

/** The phase after a step. @throws TypeError for a step that the phase has no way for */
export function nextPhase(phase: EffectPhase, step: EffectStep): EffectPhase {
  const next = STEPS[phase][step];
  if (next === undefined) throw new TypeError(`an effect that is ${phase} cannot be ${step}`);
  return next;
}

/** One request between the commit of the wave that made it and the readable commit of its answer. */
export class InFlightEffect {
  readonly request: EffectRequest;
  /** The accepted runs that ask for it, in the order of their waves. */
  readonly attachments: RunCarriage[] = [];
  /** Aborts the call. */
  readonly cut = new AbortController();
  /** The run under whose context it was dispatched. */
  carriage: RunCarriage | undefined;
  /** It was held back once and counted. */
  deferred = false;
  #phase: EffectPhase = "held";

  constructor(request: EffectRequest) {
    this.request = request;
  }

  get phase(): EffectPhase {
    return this.#phase;
  }

  step(step: EffectStep): void {
    this.#phase = nextPhase(this.#phase, step);
  }
}

/** The requests in flight: at most one per key and result instance (seed 001 §4). */
export class InFlightBook {
  readonly #effects = new Map<string, InFlightEffect>();

  get size(): number {
    return this.#effects.size;
  }

  all(): readonly InFlightEffect[] {
    return [...this.#effects.values()];
  }

  /** Admits a request, or attaches its run to the one that is in flight. */
  admit(
    request: EffectRequest,
    carriage: RunCarriage,
  ): { readonly effect: InFlightEffect; readonly fresh: boolean } {
    const known = this.#effects.get(placeOf(request));
    const effect = known ?? new InFlightEffect(request);
    effect.attachments.push(carriage);
    if (known === undefined) this.#effects.set(placeOf(request), effect);
    return { effect, fresh: known === undefined };
  }

  /** Lets a key go: asked for again, it is a request of its own. */
  retire(effect: InFlightEffect, step: EffectStep): void {
    effect.step(step);
    const place = placeOf(effect.request);
    if (this.#effects.get(place) === effect) this.#effects.delete(place);
  }
}

function placeOf({ key, target }: { readonly key: string; readonly target: InstanceKey }): string {
  return `${target} ${key}`;
}
