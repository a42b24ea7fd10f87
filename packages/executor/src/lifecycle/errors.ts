import { TidemarkError, type DocId, type Seq, type SpaceId } from "@tidemark/protocol";
import type { ParkReason } from "../host/park.js";

/** Why a verb was not served: how its tenure ended, or that there is no such space. */
export type NotServedReason = ParkReason | "unknown-space";

/**
 * A verb's tenure ended before the verb had settled, or none could serve it (seed 001 §2). Ask again, under
 * the same cause; nothing does so on its own.
 */
export class NotServedError extends TidemarkError<{
  readonly space: SpaceId;
  readonly reason: NotServedReason;
  /** The verb's commit, where it was made: it stands. */
  readonly landed?: Seq;
}> {
  override readonly name = "NotServedError";
  override readonly code = "not-served";
  get reason(): NotServedReason {
    return this.details.reason;
  }
  get landed(): Seq | undefined {
    return this.details.landed;
  }
}

/** What a verb names is no piece, was one once, or was never written. */
export class UnknownPieceError extends TidemarkError<{
  readonly space: SpaceId;
  readonly piece: DocId;
}> {
  override readonly name = "UnknownPieceError";
  override readonly code = "unknown-piece";
}
