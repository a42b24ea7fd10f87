import { instanceKey, SPACE_SCOPE_KEY } from "@tidemark/protocol";
import type {
  BaseView,
  CommitClass,
  DocId,
  EventId,
  Held,
  InstanceKey,
  JsonValue,
  LocalSeq,
  Seq,
  ValueOperation,
} from "@tidemark/protocol";
import type { ReplicaFacts, SealedEcho } from "@tidemark/speculation";

export const key = (name: string): InstanceKey =>
  instanceKey(`node:${name}` as DocId, SPACE_SCOPE_KEY);
export const event = (name: string): EventId => name as EventId;
export const local = (n: number): LocalSeq => n as LocalSeq;
export const at = (n: number): Seq => n as Seq;
export const STREAM = "stream:s" as DocId;

/** A replica that tests move by hand, with the facts that a sweep asks for. */
export class FakeReplica implements BaseView {
  readonly rows = new Map<InstanceKey, Held>();
  readonly awaitedKeys = new Set<InstanceKey>();
  readonly frontiers = new Map<DocId, Seq>();
  watermark = at(0);
  frameSeq = at(0);

  get(k: InstanceKey): Held | undefined {
    return this.rows.get(k);
  }

  row(name: string, value: JsonValue | undefined, seq: number, cover?: CommitClass): void {
    const head = cover === undefined ? {} : { coverClass: cover };
    this.rows.set(key(name), { value, seq: at(seq), ...head });
    this.frameSeq = at(Math.max(this.frameSeq, seq));
  }

  get facts(): Omit<ReplicaFacts, "agrees"> {
    return {
      watermark: this.watermark,
      frameSeq: this.frameSeq,
      held: (k) => {
        const row = this.rows.get(k);
        return row === undefined ? undefined : { seq: row.seq, cover: row.coverClass };
      },
      awaited: (k) => this.awaitedKeys.has(k),
      frontier: (stream) => this.frontiers.get(stream),
    };
  }
}

export const set = (value: JsonValue): ValueOperation => ({ op: "set", value });
export const increment = (by: number): ValueOperation => ({
  op: "patch",
  value: [{ op: "increment", path: [], value: by, ifAbsent: 0 }],
});
export const append = (value: JsonValue): ValueOperation => ({
  op: "patch",
  value: [{ op: "append", path: [], value, ifAbsent: [] }],
});

export function opsOf(writes: Record<string, ValueOperation>): Map<InstanceKey, ValueOperation[]> {
  return new Map(Object.entries(writes).map(([name, op]) => [key(name), [op]]));
}

export function echo(
  writer: string,
  writes: Record<string, ValueOperation>,
  reads: readonly string[] = [],
): SealedEcho {
  return { writer, ops: opsOf(writes), reads: new Set(reads.map(key)), baseSeq: at(0) };
}
