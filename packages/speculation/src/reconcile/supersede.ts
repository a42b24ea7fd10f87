import { overwritesOf, standingPart } from "@tidemark/protocol";
import type { InstanceKey, Overwrite, ValueOperation } from "@tidemark/protocol";
import type { OverlayEntry } from "../overlay/entry.js";

/** What a session's own later commit overwrote, per instance. */
export type Overwritten = ReadonlyMap<InstanceKey, readonly Overwrite[]>;

/** What an edit overwrites; merging operations overwrite nothing (seed 001 §3d). */
export function overwrittenBy(entry: OverlayEntry): Overwritten {
  const paths = new Map<InstanceKey, readonly Overwrite[]>();
  for (const [key, ops] of entry.ops) {
    const overwritten = ops.flatMap((op) => overwritesOf(op));
    if (overwritten.length > 0) paths.set(key, overwritten);
  }
  return paths;
}

/** Both together. */
export function alsoOverwritten(a: Overwritten, b: Overwritten): Overwritten {
  const all = new Map(a);
  for (const [key, paths] of b) all.set(key, [...(all.get(key) ?? []), ...paths]);
  return all;
}

/** What the server will leave of a consequence: an echo that kept more would show over the newer value (seed 001 §3d). */
export function withoutOverwritten(
  ops: ReadonlyMap<InstanceKey, readonly ValueOperation[]>,
  overwritten: Overwritten,
): ReadonlyMap<InstanceKey, readonly ValueOperation[]> {
  if (overwritten.size === 0) return ops;
  const left = new Map<InstanceKey, readonly ValueOperation[]>();
  for (const [key, list] of ops) {
    const paths = overwritten.get(key);
    const kept = paths === undefined ? list : list.flatMap((op) => standingPart(op, paths) ?? []);
    if (kept.length > 0) left.set(key, kept);
  }
  return left;
}
