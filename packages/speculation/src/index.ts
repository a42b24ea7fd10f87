export { ChangeLog } from "./overlay/changes.js";
export type { OverlayChange } from "./overlay/changes.js";
export { inputOrigin, intentOrigin, originKey } from "./overlay/entry.js";
export type { EntryKind, Origin, OriginKey, OverlayEntry, SealedEcho } from "./overlay/entry.js";
export { Overlay } from "./overlay/overlay.js";
export type { SealResult, SweepResult } from "./overlay/overlay.js";
export type { InputSlot, IntentSlot, Slot } from "./overlay/slot.js";
export { meets, mustRerun, rebaseFrom, writtenKeys } from "./reconcile/rebase.js";
export {
  consequenceArrived,
  editArrived,
  hasArrived,
  originDone,
  passedIntents,
  planSweep,
} from "./reconcile/retire.js";
export type { OriginStates, ReplicaFacts, SweepPlan } from "./reconcile/retire.js";
export { alsoOverwritten, overwrittenBy, withoutOverwritten } from "./reconcile/supersede.js";
export type { Overwritten } from "./reconcile/supersede.js";
