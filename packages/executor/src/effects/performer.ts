import {
  type Actor,
  type InstanceKey,
  type JsonValue,
  type SpaceId,
  TidemarkError,
} from "@tidemark/protocol";
import type { BuiltInName } from "@tidemark/runtime";

/** One request that left its wave: what a performer is asked to do (seed 001 §4, §5). */
export interface EffectCall {
  readonly builtIn: BuiltInName;
  /** As resolved and checked by the built-in's request schema: links stand for their cells. */
  readonly request: JsonValue;
  readonly space: SpaceId;
  /** As whom the node ran that asks; `undefined` where it acts as nobody (space scope). */
  readonly reader: Actor | undefined;
  /** Aborted once nobody waits for the answer: the tenure ended, or its process stops. */
  readonly signal: AbortSignal;
}

/** A call as the outbox makes it: what identifies it, beside what is asked. */
export interface DispatchedCall extends EffectCall {
  /** The memo key: the same at every attempt, so that it may serve as an idempotency key. */
  readonly key: string;
  /** The result document. */
  readonly target: InstanceKey;
}

/**
 * Does what a built-in asks for outside the space. Its answer becomes the node's result, a rejection
 * the node's error: either is remembered with the request's key, and nothing here is called again for
 * that key. A call may be made twice for one request where a process died in between (seed 001 §6).
 */
export interface EffectPerformer {
  /** @throws EffectError for what is expected to go wrong; anything else is reported as well. */
  perform(call: EffectCall): Promise<JsonValue>;
}

/** The performers of a process; a built-in without one fails as "refused". */
export type EffectPerformers = Readonly<Partial<Record<BuiltInName, EffectPerformer>>>;

/**
 * How an effect failed. "network": no answer; "refused": a policy forbids the request; "timeout";
 * "too-large": the answer passed a limit; "invalid": request or answer do not fit; "provider": the
 * other side answered with an error; "limit": a budget of this space or process is used up.
 */
export type EffectErrorKind =
  | "network"
  | "refused"
  | "timeout"
  | "too-large"
  | "invalid"
  | "provider"
  | "limit";

/** What an effect failed with. Message and details are stored in the space: they hold no secrets. */
export class EffectError extends TidemarkError<{
  readonly kind: EffectErrorKind;
  /** Status of the other side, where it answered with one. */
  readonly status?: number;
  /** What the kind leaves open, in a stable word or two. */
  readonly reason?: string;
}> {
  override readonly name = "EffectError";
  override readonly code = "effect";
  get kind(): EffectErrorKind {
    return this.details.kind;
  }
}
