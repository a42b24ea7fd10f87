import type { DocId, EventId, InstanceKey, LocalSeq, Seq } from "@tidemark/protocol";
import type { Overwritten } from "../reconcile/supersede.js";
import type { OriginKey, OverlayEntry } from "./entry.js";

interface SlotBase {
  readonly origin: OriginKey;
  /** The handler's or edit's entries, in seal order; the root's first, then those of its cascade. */
  readonly entries: readonly OverlayEntry[];
}

/** A fired event that has not ended, at its place in the session's order. */
export interface IntentSlot extends SlotBase {
  readonly kind: "intent";
  readonly eventId: EventId;
  readonly stream: DocId;
  /** The entry's seq once the append is durable. */
  readonly seq: Seq | undefined;
  /** What its runs read, cascade included, also where they wrote nothing, threw or were pending. */
  readonly reads: ReadonlySet<InstanceKey>;
  /** What this session overwrote afterwards and the replica carries: the echo does not show there. */
  readonly overwritten: Overwritten;
  /** Ids of events that its own echo sent, at any depth. Only this client knows them. */
  readonly cascade: ReadonlySet<EventId>;
  /** Whether a run has come to its end since the slot was opened or last withdrawn. */
  readonly ran: boolean;
}

/** A bound edit that is not yet in the replica, or whose consequences are not. */
export interface InputSlot extends SlotBase {
  readonly kind: "input";
  readonly localSeq: LocalSeq;
  /** The commit's seq once it is acknowledged: the floor of everything that follows from it. */
  readonly seq: Seq | undefined;
}

/** A place in the order of what this session did: layers apply in this order. */
export type Slot = IntentSlot | InputSlot;
