import type { Actor, InstanceKey, PatchOp, Path, ValueOperation } from "@tidemark/protocol";

/** One write on its way into a batch. */
export interface LandingWrite {
  readonly key: InstanceKey;
  readonly op: ValueOperation;
  readonly attribution?: Actor | undefined;
  /** The piece whose run wrote it: what a wave is split by. */
  readonly piece: string;
}

/**
 * Final values only (seed 001 §3): what a later `set` or `delete` of the wave rewrites is left out,
 * and adjacent patches of one actor on one instance become one operation. Order per instance is kept.
 */
export function coalesceWrites(writes: readonly LandingWrite[]): readonly LandingWrite[] {
  const pending = new Map<InstanceKey, LandingWrite[]>();
  /** The patch that is being joined, by its place in `pending`: its operations grow in place. */
  const growing = new Map<LandingWrite, PatchOp[]>();
  for (const write of writes) {
    const standing = pending.get(write.key);
    if (standing === undefined || write.op.op !== "patch") {
      pending.set(write.key, [write]);
      continue;
    }
    const last = standing.at(-1);
    if (last === undefined || !join(last, write, standing, growing)) standing.push(write);
  }
  const final: LandingWrite[] = [];
  for (const standing of pending.values()) final.push(...standing);
  return final;
}

/** Adds the operations of `write` to the patch `last`, where both are patches of one actor. */
function join(
  last: LandingWrite,
  write: LandingWrite,
  standing: LandingWrite[],
  growing: Map<LandingWrite, PatchOp[]>,
): boolean {
  if (last.op.op !== "patch" || write.op.op !== "patch") return false;
  if (!sameActor(last.attribution, write.attribution)) return false;
  let ops = growing.get(last);
  if (ops === undefined) {
    // What a run wrote is its own: the first join takes a copy.
    ops = [...last.op.value];
    const joined: LandingWrite = { ...last, op: { op: "patch", value: ops } };
    growing.set(joined, ops);
    standing[standing.length - 1] = joined;
  }
  for (const op of write.op.value) {
    const end = ops.at(-1);
    const summed = end === undefined ? undefined : sum(end, op);
    if (summed === undefined) ops.push(op);
    else ops[ops.length - 1] = summed;
  }
  return true;
}

/** Two increments of one number are one. */
function sum(first: PatchOp, second: PatchOp): PatchOp | undefined {
  if (first.op !== "increment" || second.op !== "increment") return undefined;
  if (!samePath(first.path, second.path)) return undefined;
  return { ...first, value: first.value + second.value };
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((step, at) => step === b[at]);
}

function sameActor(a: Actor | undefined, b: Actor | undefined): boolean {
  return a?.user === b?.user && a?.session === b?.session;
}
