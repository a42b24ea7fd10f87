import { applyOperation } from "@tidemark/protocol";
import type { BaseView, InstanceKey, JsonValue } from "@tidemark/protocol";
import type { Overlay } from "../overlay/overlay.js";
import type { OverlayEntry } from "../overlay/entry.js";

/**
 * The oracle of the overlay: what an instance must look like, computed from nothing but the base's row
 * and the entries that are live, in their order. Compare it to `overlay.view` after every operation.
 */
export function replayFromScratch(
  overlay: Overlay,
  base: BaseView,
  key: InstanceKey,
): JsonValue | undefined {
  const entries: OverlayEntry[] = overlay.slots.flatMap((slot) => [...slot.entries]);
  let value = base.get(key)?.value;
  for (const entry of [...entries, ...overlay.derived]) {
    for (const op of entry.ops.get(key) ?? []) value = applyOperation(value, op);
  }
  return value;
}
