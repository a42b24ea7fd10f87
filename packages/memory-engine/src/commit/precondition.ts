import { contentHash, type JsonValue } from "@tidemark/protocol";
import type { ResolvedPrecondition } from "../engine-types.js";

/** What an `entity-value-hash` of a document that is not there pins. */
export const ABSENT_HASH = "absent";

/** The hash an `entity-value-hash` precondition compares. */
export function valueHash(value: JsonValue | undefined): string {
  return value === undefined ? ABSENT_HASH : contentHash(value);
}

/** What the store knows of the document a precondition names. */
export interface PreconditionView {
  /** Ever written: a deleted document still counts as existing (ADM-22). */
  readonly exists: boolean;
  value(): JsonValue | undefined;
}

/** Index of the first precondition that does not hold, or undefined (ADM-22). */
export function firstFailed(
  preconditions: readonly ResolvedPrecondition[],
  viewOf: (precondition: ResolvedPrecondition) => PreconditionView,
): number | undefined {
  const index = preconditions.findIndex((precondition) => {
    const view = viewOf(precondition);
    if (precondition.kind === "create-only") return view.exists;
    return valueHash(view.value()) !== precondition.hash;
  });
  return index === -1 ? undefined : index;
}
