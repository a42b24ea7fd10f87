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
  /** Whether a computation of this runtime writes the document: then nobody else does. */
  isDerived(id: DocId): boolean;
}

/** Why a run did not come to an end of its own. */
export type Suspension =
  | { readonly kind: "pending"; readonly on: InstanceKey }
  | { readonly kind: "failed"; readonly on: InstanceKey; readonly error: unknown }
  /** The scheduler has to run an input first (its `PullDeferredError`). */
  | { readonly kind: "deferred"; readonly on: InstanceKey; readonly error: unknown };
