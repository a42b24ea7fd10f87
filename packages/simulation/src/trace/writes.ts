import {
  type AcceptedCommit,
  type DocChange,
  type InstanceKey,
  instanceKey,
  jsonEqual,
} from "@tidemark/protocol";

interface Write {
  readonly seq: number;
  readonly change: DocChange;
}

/** What people and the server itself wrote last to each instance: no wave may write over it unseen (seed 001 §3d). */
export class ForeignWrites {
  readonly #last = new Map<InstanceKey, Write>();

  take({ seq, class: kind, changes }: AcceptedCommit): void {
    if (kind === "derived") return;
    for (const change of changes) this.#last.set(keyOf(change), { seq, change });
  }

  /**
   * The first write that a derived commit replaces whole, though nothing of the wave can have seen it. What a wave
   * patches is rebased; what stands as it would have been written anyhow is nobody's loss.
   */
  replacedUnseen({ changes }: AcceptedCommit, applied: number): Write | undefined {
    for (const change of changes) {
      const under = this.#last.get(keyOf(change));
      if (under === undefined || under.seq <= applied || change.op.op === "patch") continue;
      if (!isSame(change, under.change)) return under;
    }
    return undefined;
  }
}

function keyOf({ id, scopeKey }: DocChange): InstanceKey {
  return instanceKey(id, scopeKey);
}

function isSame({ op: ours }: DocChange, { op: theirs }: DocChange): boolean {
  if (ours.op === "set" && theirs.op === "set") return jsonEqual(ours.value, theirs.value);
  return ours.op === theirs.op && ours.op === "delete";
}
