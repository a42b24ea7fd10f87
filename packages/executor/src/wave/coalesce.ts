import type { Actor, InstanceKey, PatchOp, ValueOperation } from "@tidemark/protocol";
import { canonicalJson } from "@tidemark/protocol";

/** One write on its way into a batch. */
export interface LandingWrite {
  readonly key: InstanceKey;
  readonly op: ValueOperation;
  readonly attribution?: Actor;
}

/**
 * Final values only (seed 001 §3): what a later `set` or `delete` of the wave rewrites is left out,
 * and adjacent patches of one actor on one instance become one operation. Order per instance is kept.
 */
export function coalesceWrites(writes: readonly LandingWrite[]): readonly LandingWrite[] {
  const pending = new Map<InstanceKey, LandingWrite[]>();
  for (const write of writes) {
    const standing = pending.get(write.key);
    if (standing === undefined || write.op.op !== "patch") {
      pending.set(write.key, [write]);
      continue;
    }
    const last = standing.at(-1);
    const joined = last === undefined ? undefined : join(last, write);
    if (joined === undefined) standing.push(write);
    else standing[standing.length - 1] = joined;
  }
  return [...pending.values()].flat();
}

function join(first: LandingWrite, second: LandingWrite): LandingWrite | undefined {
  if (first.op.op !== "patch" || second.op.op !== "patch") return undefined;
  if (!sameActor(first.attribution, second.attribution)) return undefined;
  const [head, ...rest] = second.op.value;
  const last = first.op.value.at(-1);
  const summed = last === undefined || head === undefined ? undefined : sum(last, head);
  const value =
    summed === undefined
      ? [...first.op.value, ...second.op.value]
      : [...first.op.value.slice(0, -1), summed, ...rest];
  return { ...first, op: { op: "patch", value } };
}

/** Two increments of one number are one. */
function sum(first: PatchOp, second: PatchOp): PatchOp | undefined {
  if (first.op !== "increment" || second.op !== "increment") return undefined;
  if (canonicalJson(first.path as never) !== canonicalJson(second.path as never)) return undefined;
  return { ...first, value: first.value + second.value };
}

function sameActor(a: Actor | undefined, b: Actor | undefined): boolean {
  return a?.user === b?.user && a?.session === b?.session;
}
