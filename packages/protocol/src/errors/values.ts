import type { Path } from "../json/json-value.js";
import { TidemarkError } from "./tidemark-error.js";

/** Why a value is no storable JSON (R11, R12, R38). */
export type ValueReason =
  | "undefined"
  | "function"
  | "symbol"
  | "bigint"
  | "not-plain"
  | "not-finite"
  | "lone-surrogate"
  | "cycle"
  | "too-deep"
  | "too-large"
  | "too-many-keys"
  | "key-too-long"
  | "unreadable";

/** A value that is no storable JSON, with the path to what is wrong in it. */
export class ValueError extends TidemarkError<{
  readonly path: Path;
  readonly reason: ValueReason;
}> {
  override readonly name = "ValueError";
  override readonly code = "value";
  get path(): Path {
    return this.details.path;
  }
  get reason(): ValueReason {
    return this.details.reason;
  }
}

/** Why a patch operation does not apply to a value. */
export type PatchReason =
  | "no-container"
  | "no-document"
  | "not-a-list"
  | "not-a-number"
  | "not-text-or-list"
  | "bad-index"
  | "bad-value"
  | "bad-path"
  | "too-deep"
  | "root-removal";

/** A patch operation that does not apply. `path` is the operation's, `index` its place in the patch. */
export class PatchError extends TidemarkError<{
  readonly path: Path;
  readonly reason: PatchReason;
  readonly index?: number;
}> {
  override readonly name = "PatchError";
  override readonly code = "patch";
  get path(): Path {
    return this.details.path;
  }
  get reason(): PatchReason {
    return this.details.reason;
  }
}

/** Why no instance could be named. */
export type ScopeReason = "no-acting-user" | "no-acting-session" | "malformed";

/**
 * A scope that names no instance: a scoped access with nobody acting (seed 000 §2), or a malformed
 * part of a key. `code` is "scope", or the reason itself where nobody acts.
 */
export class ScopeError extends TidemarkError<{ readonly reason: ScopeReason }> {
  override readonly name = "ScopeError";
  override readonly code: "scope" | "no-acting-user" | "no-acting-session" =
    this.details.reason === "malformed" ? "scope" : this.details.reason;
  get reason(): ScopeReason {
    return this.details.reason;
  }
}

/** A bound was exceeded. `limit` names it; `max` and `actual` are in that bound's own unit. */
export class LimitError extends TidemarkError<{
  readonly limit: string;
  readonly max: number;
  readonly actual?: number;
}> {
  override readonly name = "LimitError";
  override readonly code = "limit";
  get limit(): string {
    return this.details.limit;
  }
  get max(): number {
    return this.details.max;
  }
}
