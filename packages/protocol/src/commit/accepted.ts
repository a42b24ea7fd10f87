import type { DocId, EventId, HolderId, LocalSeq, Principal, Seq, SessionId } from "../ids/ids.js";
import type { ValueOperation } from "../patch/operations.js";
import type { ScopeKey } from "../scope/scope.js";
import type { CommitClass } from "./commit-class.js";
import type { EntryMark, Frontier, StreamEntry } from "./entry.js";

/** What a commit did to one document instance. */
export interface DocChange {
  readonly id: DocId;
  readonly scopeKey: ScopeKey;
  readonly op: ValueOperation;
}

/** The right of a commit that the server makes for an actor: what it names is resolved at admission. */
export type CapabilityRef = `event-consequence:${EventId}`;

/** What one accepted commit changed: the unit of the feed, within a process, immutable. */
export interface AcceptedCommit {
  readonly seq: Seq;
  readonly class: CommitClass;
  /** Wall ms of the store. */
  readonly at: number;
  readonly principal?: Principal;
  readonly session?: SessionId;
  readonly localSeq?: LocalSeq;
  readonly holder?: HolderId;
  /** Of an authored commit that the server made for an actor: the right it was made under (protocol.md §2). */
  readonly capabilityRef?: CapabilityRef;
  readonly changes: readonly DocChange[];
  readonly appends: readonly StreamEntry[];
  readonly marks: readonly EntryMark[];
  readonly frontiers: readonly Frontier[];
  /** Derived only: the seq the derivations have seen. */
  readonly derivedThrough?: Seq;
  /** Derived only: the watermark it wrote. */
  readonly watermark?: Seq;
  /** Derived only: the events whose consequences it holds. */
  readonly consequenceOf?: readonly EventId[];
}
