import type { Clock } from "@tidemark/protocol";

/** Bounds of what leaves one space. */
export interface EgressLimits {
  /** Calls dispatched and not settled; 0: as many as come. */
  readonly maxOutstanding: number;
  /** Calls a second, one second's worth at once; 0: as fast as they come. */
  readonly ratePerSecond: number;
}

/** What has left, and what may leave. */
export interface EgressState {
  readonly outstanding: number;
  /** Calls that may leave at once, as of `at`. */
  readonly tokens: number;
  /** Monotonic ms. */
  readonly at: number;
}

/** Whether a call may leave now; if not, when it is worth asking again (`undefined`: when one has settled). */
export type EgressDecision =
  | { readonly go: true; readonly state: EgressState }
  | { readonly go: false; readonly waitMs: number | undefined };

/** A rate below one a second still lets one through at a time. */
function burstOf({ ratePerSecond }: EgressLimits): number {
  return Math.max(1, ratePerSecond);
}

/** Nothing has left: the whole burst may. */
export function openEgress(limits: EgressLimits, now: number): EgressState {
  return { outstanding: 0, tokens: burstOf(limits), at: now };
}

/** A call wants to leave. */
export function takeEgress(state: EgressState, limits: EgressLimits, now: number): EgressDecision {
  const { maxOutstanding, ratePerSecond } = limits;
  if (maxOutstanding > 0 && state.outstanding >= maxOutstanding) {
    return { go: false, waitMs: undefined };
  }
  const outstanding = state.outstanding + 1;
  if (ratePerSecond === 0) return { go: true, state: { ...state, outstanding, at: now } };
  const earned = ((now - state.at) / 1_000) * ratePerSecond;
  const tokens = Math.min(burstOf(limits), state.tokens + Math.max(0, earned));
  if (tokens < 1) {
    return { go: false, waitMs: Math.ceil(((1 - tokens) / ratePerSecond) * 1_000) };
  }
  return { go: true, state: { outstanding, tokens: tokens - 1, at: now } };
}

/** A call has settled. */
export function settleEgress(state: EgressState): EgressState {
  return { ...state, outstanding: state.outstanding - 1 };
}

/** A call that was let go did not leave after all. */
export function returnEgress(state: EgressState, limits: EgressLimits): EgressState {
  const tokens = Math.min(burstOf(limits), state.tokens + 1);
  return { ...settleEgress(state), tokens };
}

/**
 * The budget of one space over the life of its host: a tenure that ends and begins again has no other
 * (seed 001 §5). It holds dispatches back and nothing else.
 */
export class EgressBudget {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #limits: EgressLimits;
  #state: EgressState;
  #onFree: (() => void) | undefined;

  constructor(clock: Pick<Clock, "monotonic">, limits: EgressLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#state = openEgress(limits, clock.monotonic());
  }

  /** Calls dispatched and not settled, of whatever tenure. */
  get outstanding(): number {
    return this.#state.outstanding;
  }

  take(): Exclude<EgressDecision, { readonly go: true }> | { readonly go: true } {
    const decision = takeEgress(this.#state, this.#limits, this.#clock.monotonic());
    if (decision.go) this.#state = decision.state;
    return decision;
  }

  giveBack(): void {
    this.#state = returnEgress(this.#state, this.#limits);
    this.#onFree?.();
  }

  settled(): void {
    this.#state = settleEgress(this.#state);
    this.#onFree?.();
  }

  /** Who is told that a call has settled: the tenure that serves now. */
  listen(onFree: (() => void) | undefined): void {
    this.#onFree = onFree;
  }
}
