import type {
  AccessChange,
  ActionId,
  Actor,
  DocId,
  EventId,
  InstanceKey,
  JsonValue,
  Link,
  Path,
  ScopeKey,
  Seq,
  SpaceId,
  TidemarkError,
  ValueOperation,
} from "@tidemark/protocol";
import type { EventMarks } from "@tidemark/events";
import type { Change } from "@tidemark/scheduler";
import type { BuiltInName } from "./effect/built-in.js";

/** What a view knows of one document instance. */
export type ReadState =
  /** `value` is `undefined` where the instance is known to be absent; `seq` is its last change's. */
  | {
      readonly state: "held";
      readonly value: JsonValue | undefined;
      readonly seq: Seq;
      /** Layers that are not confirmed yet lie over it: `seq` says nothing about `value`. */
      readonly unconfirmed?: true;
      /** What lies under the layers of an echo. */
      readonly confirmed?: ReadState;
    }
  /** Not held, and on its way or not asked for (speculation.md "What speculates"). */
  | { readonly state: "pending" }
  | { readonly state: "failed"; readonly error: unknown };

/** Where runs read: the wave over the replica on a server, the overlay over it on a client. */
export interface StateView {
  /** `space` only for another space than the runtime's own. */
  read(key: InstanceKey, space?: SpaceId): ReadState;
}

/** One read of a run. `shape`: the keys or length at the path, not the values. */
export interface LoggedRead {
  readonly key: InstanceKey;
  readonly path: Path;
  readonly kind: "value" | "shape";
  /** Seq of the instance at read time. */
  readonly seq: Seq;
  /** Present for a document of another space. */
  readonly space?: SpaceId;
}

/** One operation of a run on one instance; a run has at most one per instance. */
export interface SealedWrite {
  readonly key: InstanceKey;
  readonly op: ValueOperation;
}

/** One event that a run sends, with the marks of the event that it forwards, where it forwards one. */
export interface SentEvent extends EventMarks {
  readonly stream: Link;
  readonly eventId: EventId;
  readonly payload: JsonValue;
}

/** A computed's run, or an effectful node's. */
export interface DerivationContext {
  readonly kind: "derivation";
  readonly action: ActionId;
  readonly scopeKey: ScopeKey;
  readonly actor?: Actor;
}

/** Who a run is, and as whom it acts; without one nothing is sealed (seed 001 §3d). */
export type RunContext =
  | {
      readonly kind: "event-handler";
      readonly action: ActionId;
      readonly eventId: EventId;
      readonly stream: DocId;
      readonly entry?: { readonly seq: Seq; readonly index: number } | undefined;
      /** An in-process copy of an entry that its own wave appends (seed 000 §2, LT1). */
      readonly lt1?: boolean | undefined;
      readonly actor: Actor;
    }
  | DerivationContext
  | { readonly kind: "bookkeeping"; readonly action: ActionId };

/** A request of an effectful node that its result document does not answer (seed 001 §4). */
export interface EffectRequest {
  readonly builtIn: BuiltInName;
  /** Its memo key: what the result document's `requestHash` says from now on. */
  readonly key: string;
  /** The result document. */
  readonly target: InstanceKey;
  /** As checked by the built-in's schema, defaults filled in. */
  readonly request: JsonValue;
}

/** What an effectful node's run found in its result document: the answer, or a reason to ask. */
export type EffectRun =
  | { readonly memo: "hit" }
  | { readonly memo: "miss"; readonly request: EffectRequest };

/** Everything one run hands over at its end. */
export interface SealedRun {
  readonly context: RunContext;
  readonly reads: readonly LoggedRead[];
  readonly writes: readonly SealedWrite[];
  readonly sends: readonly SentEvent[];
  /**
   * What a handler's run asks of the space's access list, in turn; absent where it asks for nothing. The
   * memory server decides it as if the event's actor had asked; an echo's leads nowhere (seed 001 §3d).
   */
  readonly accessChanges?: readonly AccessChange[] | undefined;
  /** Domain events; none until the outbox serves them. */
  readonly emits: readonly never[];
  /**
   * Outputs not written because the view already shows their value. If that value is then withdrawn,
   * so is this run (seed 001 §3d).
   */
  readonly elided?: readonly InstanceKey[];
  /** Present for an effectful node whose request could be made; never in an echo. */
  readonly effect?: EffectRun;
  /** A handler's return value: its receipt (R33). */
  readonly value?: JsonValue | undefined;
}

/** The destination's answer; `changes` are what the view shows differently now. */
export type SealVerdict =
  | { readonly ok: true; readonly changes: readonly Change[] }
  | { readonly ok: false; readonly error: TidemarkError };

/** Where runs go: the wave, the overlay or the store (architecture.md "Seams"). */
export interface SealDestination {
  seal(run: SealedRun): SealVerdict;
  /**
   * A derivation met something that is not there yet: where its earlier runs are shown and nothing more, they
   * go (speculation.md "What speculates"). What a wave has sealed stays without this.
   *
   * @returns what the view shows differently now
   */
  withdraw?(run: DerivationContext): readonly Change[];
}

/** Whether runs are authoritative or echoes. */
export type Posture = "serving" | "speculating";

/** What a runtime tells its host beside the results. */
export type RuntimeReport =
  | { readonly kind: "computed-failed"; readonly action: ActionId; readonly error: unknown }
  | { readonly kind: "seal-refused"; readonly action: ActionId; readonly error: TidemarkError };
