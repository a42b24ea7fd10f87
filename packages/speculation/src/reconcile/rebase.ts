import type { InstanceKey } from "@tidemark/protocol";
import type { IntentSlot, Slot } from "../overlay/slot.js";

/** Whether any instance of one set is in the other. */
export function meets(a: ReadonlySet<InstanceKey>, b: ReadonlySet<InstanceKey>): boolean {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  for (const key of small) if (large.has(key)) return true;
  return false;
}

/**
 * Whether an open intent's echo is stale: it has not run, or something it read moved. An echo whose
 * reads stand still would come out the same, so it stays as it is; its operations apply to the new
 * base by themselves.
 */
export function mustRerun(slot: Slot, touched: ReadonlySet<InstanceKey>): slot is IntentSlot {
  return slot.kind === "intent" && (!slot.ran || meets(slot.reads, touched));
}

/** Index of the first slot whose echo is stale, or -1: everything from there on is laid anew. */
export function rebaseFrom(slots: readonly Slot[], touched: ReadonlySet<InstanceKey>): number {
  return slots.findIndex((slot) => mustRerun(slot, touched));
}

/** The instances that a slot's entries write. */
export function writtenKeys(slot: Slot): Set<InstanceKey> {
  const keys = new Set<InstanceKey>();
  for (const entry of slot.entries) for (const key of entry.ops.keys()) keys.add(key);
  return keys;
}
