import type {
  AppendEntry,
  ConfirmedRead,
  DocId,
  DocOperation,
  Precondition,
  Seq,
} from "@tidemark/protocol";
import type { EventRecord } from "../handle/fired-event.js";

/** A fired event on its way to its stream. */
export interface OutgoingAppend {
  readonly kind: "append";
  readonly stream: DocId;
  readonly entry: AppendEntry;
  readonly record: EventRecord;
}

/** What a durable commit got. */
export interface Committed {
  readonly seq: Seq;
}

/** An authored commit on its way. */
export interface OutgoingCommit {
  readonly kind: "commit";
  readonly reads: readonly ConfirmedRead[];
  readonly ops: readonly DocOperation[];
  readonly preconditions: readonly Precondition[];
  /** Whether it has been sent before: then the store may have it already. */
  sent: boolean;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: Error) => void;
}

/** What a session has done in a space and the store has not acknowledged. */
export type Outgoing = OutgoingAppend | OutgoingCommit;
