import type { DocId, EventId, Seq } from "../ids/ids.js";
import type { ScopeKind } from "../scope/scope.js";
import { TidemarkError } from "./tidemark-error.js";

/** A read below the history that is kept (R30). `horizon` is the oldest seq that can be read. */
export class HistoryHorizonError extends TidemarkError<{
  readonly requested: Seq;
  readonly horizon: Seq;
}> {
  override readonly name = "HistoryHorizonError";
  override readonly code = "history-horizon";
  get requested(): Seq {
    return this.details.requested;
  }
  get horizon(): Seq {
    return this.details.horizon;
  }
}

/** What is wrong with a store. "newer": made by a newer version; "not-a-store": not ours at all. */
export type StorageErrorKind = "io" | "full" | "readonly" | "corrupt" | "newer" | "not-a-store";

/** The store failed. The message may quote SQL and file names, so it never travels on the wire. */
export class StorageError extends TidemarkError<{ readonly kind: StorageErrorKind }> {
  override readonly name = "StorageError";
  override readonly code = "storage";
  get kind(): StorageErrorKind {
    return this.details.kind;
  }
}

/** A computed read a user- or session-scoped instance, which narrowing would have to serve. */
export class NarrowingUnsupportedError extends TidemarkError<{
  readonly id?: DocId;
  readonly scope?: ScopeKind;
}> {
  override readonly name = "NarrowingUnsupportedError";
  override readonly code = "narrowing-unsupported";
}

/** A function was called in a frame where it may not be (builtins.md). */
export class FrameError extends TidemarkError<{ readonly builtin?: string }> {
  override readonly name = "FrameError";
  override readonly code = "frame";
}

/** No pattern is registered under this id and version. */
export class UnknownPatternError extends TidemarkError<{
  readonly patternId?: string;
  readonly version?: string;
}> {
  override readonly name = "UnknownPatternError";
  override readonly code = "unknown-pattern";
}

/** Something took longer than allowed. */
export class TimeoutError extends TidemarkError<{ readonly afterMs?: number }> {
  override readonly name = "TimeoutError";
  override readonly code = "timeout";
}

/** The connection is closed, superseded or cannot be opened. */
export class ConnectionError extends TidemarkError<{ readonly reason?: string }> {
  override readonly name = "ConnectionError";
  override readonly code = "connection";
}

/** How a delivery ended without success (R14, R33). */
export type EventDeliveryKind =
  | "errored"
  | "refused"
  | "dropped"
  | "needs-attention"
  | "append-refused";

/** An event did not have its handler's effect; `kind` says how it ended. */
export class EventDeliveryError extends TidemarkError<{
  readonly kind: EventDeliveryKind;
  readonly reason: string;
  readonly eventId?: EventId;
}> {
  override readonly name = "EventDeliveryError";
  override readonly code = "event-delivery";
  get kind(): EventDeliveryKind {
    return this.details.kind;
  }
  get reason(): string {
    return this.details.reason;
  }
}
