import { applyOperation } from "@tidemark/protocol";
import type { BaseView, InstanceKey, JsonValue } from "@tidemark/protocol";
import type { Overlay } from "@tidemark/speculation";

/**
 * What an authored write may rest on: the confirmed row with this session's own authored writes, and
 * no echo. So typing never fails because an echo still stands (speculation.md §The export rule).
 */
export function durableValue(
  base: BaseView,
  overlay: Overlay,
  key: InstanceKey,
): JsonValue | undefined {
  let value = base.get(key)?.value;
  for (const slot of overlay.slots) {
    if (slot.kind !== "input") continue;
    for (const entry of slot.entries) {
      for (const op of entry.ops.get(key) ?? []) value = applyQuietly(value, op);
    }
  }
  return value;
}

type Op = Parameters<typeof applyOperation>[1];

function applyQuietly(value: JsonValue | undefined, op: Op): JsonValue | undefined {
  try {
    return applyOperation(value, op);
  } catch {
    // It does not apply to the row as it is now; the view passes it over in the same way.
    return value;
  }
}
