import type { CommitClass, DocId, EventId, InstanceKey, Seq } from "@tidemark/protocol";
import type { OriginKey, OverlayEntry } from "../overlay/entry.js";
import type { Slot } from "../overlay/slot.js";

/** What the replica knows at the moment of a sweep. */
export interface ReplicaFacts {
  /** W: every consequence and demanded derivation of commits at or below it is in. */
  readonly watermark: Seq;
  /** The space seq that integrated frames have brought the replica to. */
  readonly frameSeq: Seq;
  /** The confirmed row of an instance and the class of the commit that covers it. */
  held(
    key: InstanceKey,
  ): { readonly seq: Seq; readonly cover: CommitClass | undefined } | undefined;
  /** Whether a watch has asked for the instance and its first row is still on its way. */
  awaited(key: InstanceKey): boolean;
  /** Whether the entry, laid over the confirmed rows, changes none of them. */
  agrees(entry: OverlayEntry): boolean;
  /** `eventWatermark` of a stream, where a frame has carried it. */
  frontier(stream: DocId): Seq | undefined;
}

/**
 * Whether the replica has a value for an instance that takes the input at `floor` into account: one
 * above the floor, or one at the floor from a derived commit. A class that is not known witnesses
 * nothing at the floor (speculation.md §Reconcile 3; fault class 47).
 */
export function hasArrived(
  held: { readonly seq: Seq; readonly cover: CommitClass | undefined } | undefined,
  floor: Seq,
): boolean {
  if (held === undefined) return false;
  return held.seq > floor || (held.seq === floor && held.cover === "derived");
}

/** Whether the confirmed view carries the edit: acknowledged, and integrated up to its seq. */
export function editArrived(
  entry: OverlayEntry,
  seq: Seq | undefined,
  facts: ReplicaFacts,
): boolean {
  if (seq === undefined) return false;
  for (const key of entry.ops.keys()) {
    const held = facts.held(key);
    if (held !== undefined && held.seq >= seq) continue;
    if (facts.frameSeq < seq) return false;
    if (held === undefined && facts.awaited(key)) return false;
  }
  return true;
}

/**
 * Whether what follows from an input may give way: the commit is acknowledged, W covers it, and every
 * instance the entry wrote has arrived. Where the server's result equals what it held before, no row
 * ever comes; then agreement with the confirmed rows stands for arrival, since nothing can be seen. Nor
 * does one come of an instance that no watch reaches, such as a list's order: coverage is all there is.
 */
export function consequenceArrived(
  entry: OverlayEntry,
  floor: Seq | undefined,
  facts: ReplicaFacts,
): boolean {
  if (floor === undefined || facts.watermark < floor) return false;
  let arrived = true;
  for (const key of entry.ops.keys()) {
    arrived &&= hasArrived(facts.held(key), floor) || isUnwatched(key, floor, facts);
  }
  return arrived || facts.agrees(entry);
}

/** Neither held nor on its way, although the frames have passed the input. */
function isUnwatched(key: InstanceKey, floor: Seq, facts: ReplicaFacts): boolean {
  return facts.held(key) === undefined && !facts.awaited(key) && facts.frameSeq >= floor;
}

/** The part of the overlay's state that decides when a derived entry goes. */
export interface OriginStates {
  intentOpen(origin: OriginKey): boolean;
  /** `undefined`: no such input; it was refused, or nothing waits for it any more. */
  input(origin: OriginKey): { readonly seq: Seq | undefined } | undefined;
}

/** Whether one origin of an entry no longer holds it. */
export function originDone(
  entry: OverlayEntry,
  origin: OriginKey,
  states: OriginStates,
  facts: ReplicaFacts,
): boolean {
  if (origin.startsWith("intent ")) return !states.intentOpen(origin);
  const input = states.input(origin);
  return input === undefined || consequenceArrived(entry, input.seq, facts);
}

/** What a sweep found to be over. */
export interface SweepPlan {
  /** Entries that give way to the confirmed rows. */
  readonly retire: readonly OverlayEntry[];
  /** Events whose own end was missed and whose place the watermarks have passed. */
  readonly passed: readonly EventId[];
}

/** Events that ended without a signal: `eventWatermark` or W stands at or above their seq. */
export function passedIntents(slots: readonly Slot[], facts: ReplicaFacts): readonly EventId[] {
  const passed: EventId[] = [];
  for (const slot of slots) {
    if (slot.kind !== "intent" || slot.seq === undefined) continue;
    const frontier = facts.frontier(slot.stream);
    const covered = facts.watermark >= slot.seq || (frontier !== undefined && frontier >= slot.seq);
    if (covered) passed.push(slot.eventId);
  }
  return passed;
}

/**
 * Everything that may go now. It depends on the facts alone, not on which of watermark, ack and
 * arrival came last, so the order of the three does not matter.
 */
export function planSweep(
  slots: readonly Slot[],
  derived: Iterable<OverlayEntry>,
  states: OriginStates,
  facts: ReplicaFacts,
): SweepPlan {
  const retire: OverlayEntry[] = [];
  for (const slot of slots) {
    if (slot.kind !== "input") continue;
    for (const entry of slot.entries) if (editArrived(entry, slot.seq, facts)) retire.push(entry);
  }
  const passed = passedIntents(slots, facts);
  for (const entry of derived) {
    const done = [...entry.origins].every((origin) => originDone(entry, origin, states, facts));
    if (done) retire.push(entry);
  }
  return { retire, passed };
}
