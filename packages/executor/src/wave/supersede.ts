import { overwritesOf, standingPart, type ValueOperation } from "@tidemark/protocol";
import type { RunWrite } from "./contribution.js";

/** A consequence's write to one document after the firing session's later writes (seed 001 §3d). */
export interface Superseded {
  readonly kept: readonly RunWrite[];
  readonly dropped: boolean;
}

/**
 * Drops what the firing session overwrote after it fired. A write to a path above the overwritten one keeps
 * commit order (R9).
 */
export function supersede(
  writes: readonly RunWrite[],
  later: readonly ValueOperation[],
): Superseded {
  const overwritten = later.flatMap((op) => overwritesOf(op));
  if (overwritten.length === 0) return { kept: writes, dropped: false };
  const kept: RunWrite[] = [];
  let dropped = false;
  for (const write of writes) {
    const op = standingPart(write.op, overwritten);
    if (op === write.op) {
      kept.push(write);
      continue;
    }
    dropped = true;
    if (op !== undefined) kept.push({ ...write, op });
  }
  return { kept, dropped };
}
