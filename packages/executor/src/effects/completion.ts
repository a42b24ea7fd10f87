import {
  isTidemarkError,
  parseInstanceKey,
  validateJson,
  type DerivedBatch,
  type JsonValue,
  type Seq,
} from "@tidemark/protocol";
import {
  answeredValue,
  EFFECT_FAILURE_KINDS,
  failedValue,
  storedMemo,
  type EffectFailure,
  type EffectFailureKind,
  type EffectRequest,
} from "@tidemark/runtime";
import type { RunCarriage } from "./in-flight.js";
import type { EffectError } from "./performer.js";

/** How a call ended. */
export type CallEnd =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: unknown };

/** An answer on its way into the store. */
export interface Completion {
  readonly request: EffectRequest;
  readonly carriage: RunCarriage;
  /** The result document to be. */
  readonly value: JsonValue;
  /** It is an error; `unexpected` where the performer failed in a way that nobody named. */
  readonly failed: boolean;
  readonly unexpected?: unknown;
}

const MAX_WORDS = 1_000;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** The result document that a call's end makes (seed 001 §4: a failure is remembered like an answer). */
export function completionOf(
  request: EffectRequest,
  carriage: RunCarriage,
  end: CallEnd,
): Completion {
  if (end.ok) {
    const json = validateJson(answeredValue(request.key, end.value));
    if (json.ok) return { request, carriage, value: json.value, failed: false };
    const kind = json.error.reason.startsWith("too-") ? "too-large" : "invalid";
    const failure = { kind, message: `the answer is not stored: ${json.error.message}` } as const;
    return { request, carriage, value: failedValue(request.key, bounded(failure)), failed: true };
  }
  const failure = failureOf(end.error);
  const value = failedValue(request.key, bounded(failure));
  const told = failure.kind === "unknown" ? { unexpected: end.error } : {};
  return { request, carriage, value, failed: true, ...told };
}

/** What is stored of an error: the words of ours alone, since any other's may hold secrets. */
function failureOf(error: unknown): EffectFailure {
  if (!isEffectError(error)) {
    return { kind: "unknown", message: "the effect failed, and the server's log says how" };
  }
  const { kind, status, reason } = error.details;
  return {
    kind,
    message: error.message,
    ...(typeof status === "number" && Number.isFinite(status) ? { status } : {}),
    ...(typeof reason === "string" ? { reason: words(reason) } : {}),
  };
}

function isEffectError(error: unknown): error is EffectError {
  if (!isTidemarkError(error, "effect")) return false;
  const { kind } = error.details as { readonly kind?: unknown };
  return EFFECT_FAILURE_KINDS.includes(kind as EffectFailureKind) && kind !== "unknown";
}

function bounded(failure: EffectFailure): EffectFailure {
  return { ...failure, message: words(failure.message) };
}

/** Bounded, and storable whatever it was cut out of. */
function words(text: string): string {
  return String(text).slice(0, MAX_WORDS).replace(LONE_SURROGATES, "\u{fffd}");
}

/** What becomes of a completion that meets its document. */
export type CompletionFate =
  | "lands"
  /** Another request is selected there, or none: the answer is nobody's any more. */
  | "stale"
  /** The request is answered there already, and a stored answer stands. */
  | "answered";

/**
 * Acceptance follows the request that the stored document selects (seed 001 §4), read inside the
 * transaction that writes: A→B→A takes the original A, and never a late B.
 */
export function judgeCompletion(key: string, stored: JsonValue | undefined): CompletionFate {
  const memo = storedMemo(stored);
  if (memo?.key !== key) return "stale";
  return memo.settled ? "answered" : "lands";
}

/** The derived commit of one completion: result and key in one document, under the original run's identity. */
export function completionBatch(
  { request, carriage, value }: Completion,
  derivedThrough: Seq,
): DerivedBatch {
  return {
    derivedThrough,
    consequenceOf: [],
    changes: [
      {
        ...parseInstanceKey(request.target),
        op: { op: "set", value },
        ...(carriage.actor === undefined ? {} : { attribution: carriage.actor }),
      },
    ],
    appends: [],
    marks: [],
    frontiers: [],
    basis: [],
  };
}
