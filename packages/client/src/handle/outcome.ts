import { EventDeliveryError } from "@tidemark/protocol";
import type { EventDeliveryKind, EventId, Seq, TidemarkError } from "@tidemark/protocol";

/**
 * How the handling of a fired event ended (R14, R33). `consequenced`: the store has what the handler
 * did. Any other kind names what went wrong, and `error` carries it.
 */
export type Outcome =
  | { readonly kind: "consequenced" }
  | {
      readonly kind: EventDeliveryKind;
      readonly reason: string;
      readonly error: EventDeliveryError;
    };

/** Where the event stands in its stream once the append is durable. */
export interface Appended {
  readonly seq: Seq | undefined;
}

/** An outcome that is not success. */
export function failedOutcome(
  kind: EventDeliveryKind,
  reason: string,
  eventId: EventId,
  cause?: TidemarkError,
): Outcome {
  const message = `event ${eventId} ended as ${kind}: ${reason}`;
  const options = cause === undefined ? {} : { cause };
  return {
    kind,
    reason,
    error: new EventDeliveryError(message, { kind, reason, eventId }, options),
  };
}
