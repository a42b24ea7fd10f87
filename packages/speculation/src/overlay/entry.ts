import type {
  EventId,
  InstanceKey,
  LocalSeq,
  Seq,
  ValueOperation,
  ViewLayer,
} from "@tidemark/protocol";

/** What caused a speculative value: a fired event, or a bound edit of this session. */
export type Origin =
  | { readonly kind: "intent"; readonly eventId: EventId }
  | { readonly kind: "input"; readonly localSeq: LocalSeq };

/** An {@link Origin} as the key of a map. */
export type OriginKey = `intent ${string}` | `input ${number}`;

/** The origin of a fired event's handler and of everything downstream of it. */
export function intentOrigin(eventId: EventId): OriginKey {
  return `intent ${eventId}`;
}

/** The origin of a bound edit and of everything downstream of it. */
export function inputOrigin(localSeq: LocalSeq): OriginKey {
  return `input ${localSeq}`;
}

/** The key of an origin. */
export function originKey(origin: Origin): OriginKey {
  return origin.kind === "intent" ? intentOrigin(origin.eventId) : inputOrigin(origin.localSeq);
}

/**
 * What made an entry:
 * - `handler`: the echo of an event's handler;
 * - `edit`: the authored write itself, shown until the replica carries it;
 * - `derived`: a computed that read something speculative. It has one writer and replaces its document.
 */
export type EntryKind = "handler" | "edit" | "derived";

/** One sealed run (speculation.md §Entries): its operations per document instance, over a base. */
export interface OverlayEntry extends ViewLayer {
  /** Seal order. */
  readonly id: number;
  readonly kind: EntryKind;
  readonly origins: ReadonlySet<OriginKey>;
  /** Who wrote it: an action instance for `derived`, the event id or local number otherwise. */
  readonly writer: string;
  readonly ops: ReadonlyMap<InstanceKey, readonly ValueOperation[]>;
  /** The instances the run read: a change of one of them makes the run stale. */
  readonly reads: ReadonlySet<InstanceKey>;
  /** The space seq of the replica that the run read. */
  readonly baseSeq: Seq;
}

/** What a run brings to the overlay; the overlay adds the id, the kind and the origins. */
export interface SealedEcho {
  readonly writer: string;
  readonly ops: ReadonlyMap<InstanceKey, readonly ValueOperation[]>;
  readonly reads: ReadonlySet<InstanceKey>;
  readonly baseSeq: Seq;
}
