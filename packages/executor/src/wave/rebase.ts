import {
  operationsCommute,
  pathsOverlap,
  touchedPaths,
  type InstanceKey,
  type PatchOp,
  type Path,
  type ValueOperation,
} from "@tidemark/protocol";
import type { RunRead } from "./contribution.js";

/**
 * Whether a write sealed before `theirs` was known may land on top of it (seed 001 §3d: "these are
 * advances and appends that commute with concurrent authored appends"). Append, addUnique and
 * increment add to whatever stands there; any other patch must touch another field.
 */
export function rebases(ours: ValueOperation, theirs: ValueOperation): boolean {
  if (ours.op !== "patch") return operationsCommute(ours, theirs);
  return ours.value.every(
    (patch) => addsToWhateverStands(patch) || operationsCommute(single(patch), theirs),
  );
}

/** Whether a run read on this document something that the intruding write may have changed. */
export function readsIntruded(
  reads: readonly RunRead[],
  key: InstanceKey,
  theirs: ValueOperation,
): boolean {
  const touched = touchedPaths(theirs);
  return reads.some(
    (read) =>
      read.key === key &&
      read.space === undefined &&
      touched.some((path) =>
        read.kind === "value" ? pathsOverlap(path, read.path) : changesShape(path, read.path),
      ),
  );
}

function addsToWhateverStands(patch: PatchOp): boolean {
  return patch.op === "append" || patch.op === "addUnique" || patch.op === "increment";
}

function single(patch: PatchOp): ValueOperation {
  return { op: "patch", value: [patch] };
}

/** The key set at `at` may differ after a write at, above, or one step below it. */
function changesShape(written: Path, at: Path): boolean {
  return written.length <= at.length + 1 && pathsOverlap(written, at);
}
