import type { ActionId, DocId, EventId, Seq, SpaceId } from "../ids/ids.js";
import type { Actor, ScopeKey } from "../scope/scope.js";
import type { DocChange } from "./accepted.js";
import type { Precondition } from "./authored.js";
import type { EntryMark, Frontier, NewEntry } from "./entry.js";

/** A change of a wave: addressed by its scope key, and annotated with who the run acted as. */
export interface AttributedChange extends DocChange {
  /** Recorded, and nothing decides from it (protocol.md §1). Absent: the loop's own write. */
  readonly attribution?: Actor;
}

/** One input of an action's instance. `"wave"`: what this same commit writes. */
export interface BasisRead {
  readonly space: SpaceId;
  readonly id: DocId;
  readonly scopeKey: ScopeKey;
  readonly seq: Seq | "wave";
}

/** The inputs an action's instance was computed from, replacing what was recorded (seed 001 §3b). */
export interface BasisUpdate {
  readonly action: ActionId;
  readonly scopeKey: ScopeKey;
  /** Instances of the action whose rows go: it narrowed past them, or was retired. */
  readonly cleared?: readonly ScopeKey[];
  readonly reads: readonly BasisRead[];
}

/** The content of one derived commit, before it has a seq. */
export interface DerivedBatch {
  readonly derivedThrough: Seq;
  readonly consequenceOf: readonly EventId[];
  readonly changes: readonly AttributedChange[];
  readonly appends: readonly NewEntry[];
  readonly marks: readonly EntryMark[];
  readonly frontiers: readonly Frontier[];
  readonly basis: readonly BasisUpdate[];
  readonly watermark?: Seq;
  readonly preconditions?: readonly Precondition[];
}
