import { TidemarkError } from "@tidemark/protocol";

/** A handler aborted its own transaction: an error consequence, never a retry (R14). */
export class AbortError extends TidemarkError<{ readonly reason: string }> {
  override readonly name = "AbortError";
  override readonly code = "aborted";
  get reason(): string {
    return this.details.reason;
  }
}

/** A function of the pattern API whose service does not exist yet. */
export class NotServedError extends TidemarkError<{ readonly builtin: string }> {
  override readonly name = "NotServedError";
  override readonly code = "not-served";
}

/** A pattern definition that is refused: a node without a name, a name twice, two patterns as one. */
export class PatternError extends TidemarkError<{
  readonly patternId?: string;
  readonly version?: string;
  readonly node?: string;
}> {
  override readonly name = "PatternError";
  override readonly code = "pattern";
}

/**
 * Ends a run whose input is not there. Thrown through pattern code, which may catch it: the
 * transaction remembers, so that swallowing it does not make the run count.
 *
 * @internal
 */
export class SuspendedError extends TidemarkError {
  override readonly name = "SuspendedError";
  override readonly code = "suspended";
}
