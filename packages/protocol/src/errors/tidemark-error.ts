/** Set on every error of this library; `Symbol.for` makes it the same in every copy of the package. */
const TIDEMARK_ERROR: unique symbol = Symbol.for("tidemark.error");

/** Options of every error of this library. */
export interface TidemarkErrorOptions {
  /** What led to this error. It never travels on the wire. */
  readonly cause?: unknown;
}

/** What follows the message: the details, which may be left out where all of them are optional. */
export type TidemarkErrorArguments<D extends object> =
  Record<never, never> extends D
    ? readonly [details?: D, options?: TidemarkErrorOptions]
    : readonly [details: D, options?: TidemarkErrorOptions];

/**
 * The root of all errors of this library. `code` is stable and meant for programs, the message says
 * what happened, to which ids and what to do, and `details` holds the structured fields.
 * Other packages extend it with a `name`, a `code` and a details type of their own.
 */
export class TidemarkError<D extends object = object> extends Error {
  override readonly name: string = "TidemarkError";
  /** Stable name of what went wrong, for programs. */
  readonly code: string = "internal";
  /** Structured fields; plain JSON. */
  readonly details: D;
  /** @internal */
  readonly [TIDEMARK_ERROR] = true;

  constructor(message: string, ...[details, options]: TidemarkErrorArguments<D>) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.details = details ?? ({} as D);
  }
}

/**
 * True for an error of this library, of any copy of the package; with `code`, for that code alone.
 * Use it in place of `instanceof`, which a second copy defeats.
 */
export function isTidemarkError(error: unknown, code?: string): error is TidemarkError {
  if (typeof error !== "object" || error === null) return false;
  try {
    if ((error as { readonly [TIDEMARK_ERROR]?: unknown })[TIDEMARK_ERROR] !== true) return false;
    return code === undefined || (error as TidemarkError).code === code;
  } catch {
    // Code that is not ours throws what it likes, a proxy that cannot be read included.
    return false;
  }
}
