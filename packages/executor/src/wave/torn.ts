import {
  applyOperation,
  isTidemarkError,
  type InstanceKey,
  type JsonValue,
} from "@tidemark/protocol";
import type { Contribution, RunWrite } from "./contribution.js";

/** Writes of a contribution to one instance that do not apply to what would stand there. */
export interface Torn {
  readonly contribution: Contribution;
  readonly key: InstanceKey;
}

type Value = JsonValue | undefined;

/** Applies the writes in the order of sealing over what `read` says is stored, and tells those that do not. */
export function tornWrites(
  landing: readonly {
    readonly contribution: Contribution;
    readonly writes: readonly RunWrite[];
  }[],
  read: (key: InstanceKey) => Value,
): readonly Torn[] {
  const torn: Torn[] = [];
  const values = new Map<InstanceKey, Value>();
  for (const { contribution, writes } of landing) {
    for (const key of new Set(writes.map((write) => write.key))) {
      const before = values.has(key) ? values.get(key) : read(key);
      const after = applied(
        before,
        writes.filter((write) => write.key === key),
      );
      if (after === undefined) torn.push({ contribution, key });
      else values.set(key, after.value);
    }
  }
  return torn;
}

/** The value after the writes; undefined where one does not apply. */
function applied(
  before: Value,
  writes: readonly RunWrite[],
): { readonly value: Value } | undefined {
  try {
    return { value: writes.reduce((value, { op }) => applyOperation(value, op), before) };
  } catch (error) {
    if (isTidemarkError(error, "patch")) return undefined;
    throw error;
  }
}
