import type { DocId, InstanceKey, JsonValue, SpaceId } from "@tidemark/protocol";
import type { Posture, StateView } from "../types.js";

/** What transactions need of their runtime. */
export interface TransactionHost {
  readonly space: SpaceId;
  readonly view: StateView;
  readonly posture: Posture;
  /** Makes the writer of a document current before it is read (R22). */
  pull(key: InstanceKey): void;
  /** A document that lives in the graph alone, such as the elements of a list. */
  transient(key: InstanceKey): { readonly value: JsonValue | undefined } | undefined;
  /** Gives the host the chance to start the piece of a node that no started piece has. */
  ensure(id: DocId): void;
  /** The declared default of a cell of a started piece, for handles that come from links. */
  initialOf(id: DocId): JsonValue | undefined;
  /** Whether a computation of this runtime writes the document: then nobody else does. */
  isDerived(id: DocId): boolean;
}

/** Why a run did not come to an end of its own. */
export type Suspension =
  | { readonly kind: "pending"; readonly on: InstanceKey }
  | { readonly kind: "failed"; readonly on: InstanceKey; readonly error: unknown }
  /** The scheduler has to run an input first (its `PullDeferredError`). */
  | { readonly kind: "deferred"; readonly on: InstanceKey; readonly error: unknown };
