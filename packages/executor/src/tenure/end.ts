import { LeaseError } from "@tidemark/protocol";
import type { ParkReason } from "../host/park.js";

/** Ends a tenure from wherever it is thrown; never seen outside the package. */
export class TenureEnd extends Error {
  override readonly name = "TenureEnd";
  readonly reason: ParkReason;

  constructor(reason: ParkReason, cause?: unknown) {
    super(`the tenure ends: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** Why a tenure that threw ended. */
export function parkReasonOf(error: unknown): ParkReason {
  if (error instanceof TenureEnd) return error.reason;
  return error instanceof LeaseError ? "lapse" : "failed";
}
