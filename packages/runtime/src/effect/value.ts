import { getOwn, isJsonObject, type JsonValue } from "@tidemark/protocol";
import type { Computed } from "../cell/types.js";

/**
 * How an effect failed. "network": no answer; "refused": a policy forbids the request; "timeout";
 * "too-large": the answer passed a limit; "invalid": request or answer do not fit; "provider": the
 * other side answered with an error; "limit": a budget is used up; "unknown": none of these, and the
 * server's operator was told.
 */
export const EFFECT_FAILURE_KINDS = [
  "network",
  "refused",
  "timeout",
  "too-large",
  "invalid",
  "provider",
  "limit",
  "unknown",
] as const;

export type EffectFailureKind = (typeof EFFECT_FAILURE_KINDS)[number];

/** What an effect failed with, as its result document keeps it. */
export interface EffectFailure {
  readonly kind: EffectFailureKind;
  readonly message: string;
  /** Status of the other side, where it answered with one. */
  readonly status?: number;
  readonly reason?: string;
}

/** An effectful node's value: its result document (builtins.md "Effectful nodes"). */
export interface EffectValue<T> {
  /** The request was made and its answer is not here. */
  readonly pending: boolean;
  readonly result?: T;
  readonly error?: EffectFailure;
  /** Key of the request that this is the answer to (seed 001 §4). */
  readonly requestHash: string;
}

/** An effectful node: absent while its request is `undefined`. */
export type Effect<T> = Computed<EffectValue<T> | undefined>;

/** What a stored result document says. */
export interface StoredMemo {
  /** The selected request. */
  readonly key: string;
  /** A result or an error is there: the marker alone is not a stored result (seed 001 §4). */
  readonly settled: boolean;
}

/** Reads a result document. Anybody may have written there, so that it may be anything. */
export function storedMemo(value: JsonValue | undefined): StoredMemo | undefined {
  if (!isJsonObject(value)) return undefined;
  const key = getOwn(value, "requestHash");
  if (typeof key !== "string") return undefined;
  const answered = getOwn(value, "result") !== undefined || getOwn(value, "error") !== undefined;
  return { key, settled: answered && getOwn(value, "pending") === false };
}

/** Selects a request: its answer is awaited, and no other is taken. */
export function pendingValue(key: string): JsonValue {
  return { pending: true, requestHash: key };
}

/** The answer to a request, with its key: one document, so that neither is there without the other. */
export function answeredValue(key: string, result: JsonValue): JsonValue {
  return { pending: false, result, requestHash: key };
}

/** The failure of a request, remembered as an answer is (seed 001 §4). */
export function failedValue(key: string, error: EffectFailure): JsonValue {
  return { pending: false, error: { ...error }, requestHash: key };
}
