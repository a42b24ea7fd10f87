import type {
  AccessChange,
  ActionId,
  Actor,
  DocId,
  EntryMark,
  EventId,
  InstanceKey,
  Path,
  Precondition,
  Principal,
  ScopeKey,
  Seq,
  SessionId,
  SpaceId,
  ValueOperation,
  ViewLayer,
} from "@tidemark/protocol";
import type { CarriedEntry, EntryEnd } from "@tidemark/events";
import type { EffectRequest } from "@tidemark/runtime";
import type { Reason } from "./plan.js";

/** A read of a run. `seq` is that of the document's last committed change, as the replica held it. */
export interface RunRead {
  readonly key: InstanceKey;
  readonly path: Path;
  readonly kind: "value" | "shape";
  readonly seq: Seq;
  /** Another space's document: nothing of this wave bears on it. */
  readonly space?: SpaceId;
}

/** A write of a run. */
export interface RunWrite {
  readonly key: InstanceKey;
  readonly op: ValueOperation;
  /** Lands only where nothing was ever written: a receipt (seed 000 §4). */
  readonly once?: true;
}

/** The session that fired a durable entry: its later writes supersede the consequence (§3d). */
export interface FiredBy {
  readonly user: Principal;
  readonly session: SessionId;
}

/** What an event-handler contribution delivers. */
export interface Delivery {
  readonly stream: DocId;
  readonly eventId: EventId;
  /** Where the durable entry stands; absent for an in-process copy of this wave (LT1). */
  readonly place?: { readonly seq: Seq; readonly index: number } | undefined;
  /** The contribution whose run sent the event, for an in-process copy. */
  readonly emitter?: number | undefined;
  readonly firedBy?: FiredBy | undefined;
  /** How the entry ends if this contribution lands. */
  readonly end: EntryEnd;
  /** A duplicate that is passed over (R1): its mark takes over the first entry's outcome. */
  readonly duplicate?: EntryMark | undefined;
}

/**
 * What one run sealed into the wave: the unit of failure isolation (seed 001 §3d). There is one for each
 * event and derivation, each with all of its fields, so that whatever looks at them meets one shape.
 */
export interface Contribution {
  /** Order of sealing within the tenure. */
  readonly id: number;
  readonly kind: "event-handler" | "derivation" | "bookkeeping";
  readonly action: ActionId;
  /** The instance that ran. */
  readonly instance: ScopeKey;
  /** Who the run acted as; absent: nobody. */
  readonly actor?: Actor | undefined;
  /** The seq the replica stood at when it sealed. */
  readonly basis: Seq;
  readonly reads: readonly RunRead[];
  /** Outputs left alone because the view already showed their value. */
  readonly elided: readonly InstanceKey[];
  /** The same derivation's contribution before this one, where it is not accepted yet. */
  readonly previous?: number | undefined;
  readonly writes: readonly RunWrite[];
  readonly delivery?: Delivery | undefined;
  /** Same-space sends of the run (LT1): entries of this very wave. */
  readonly sends: readonly CarriedEntry[];
  /** What an effectful node's run asks of the world, once the wave has committed. */
  readonly effect?: EffectRequest | undefined;
  /** What the run asks of the access list: committed ahead of the wave, where the run lands (§3d). */
  readonly accessChanges?: readonly AccessChange[] | undefined;
  /** It does not land, whatever the store holds. */
  readonly unfit?: Reason | undefined;
  /** Documents on which it has seen a direct commit, and that commit: it lands while each is the head (§3e). */
  readonly observed?: ReadonlyMap<InstanceKey, Seq> | undefined;
  /** Who asked for it: it lands while they may write, by the list in the wave's transaction. */
  readonly askedBy?: Principal | undefined;
  /** Checked by the store in the wave's transaction; one that fails costs this contribution. */
  readonly preconditions?: readonly Precondition[] | undefined;
  /** What the layered view shows of it. */
  readonly layer: ViewLayer;
}

/** The instances that a contribution writes. */
export function writtenKeys(contribution: Contribution): ReadonlySet<InstanceKey> {
  return new Set(contribution.writes.map((write) => write.key));
}
