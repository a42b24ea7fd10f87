import { instanceKey, SPACE_SCOPE_KEY } from "@tidemark/protocol";
import type {
  CommitClass,
  DocId,
  Held,
  InstanceKey,
  JsonValue,
  PatchOp,
  Seq,
} from "@tidemark/protocol";
import type { Expectation, TestApi } from "@tidemark/protocol/testing";

/** One row as a source of a replica hands it over: a whole value, a patch, or the word that it is absent. */
export type ReplicaRow = {
  readonly name: string;
  readonly seq: number;
  readonly cover: CommitClass;
} & (
  | { readonly value: JsonValue }
  | { readonly patch: { readonly from: number; readonly ops: readonly PatchOp[] } }
  | { readonly absent: true }
);

/** What a replica moves by: a whole batch of rows at a seq. */
export interface ReplicaBatch {
  readonly seq: number;
  readonly rows: readonly ReplicaRow[];
  /** Everything held before is to be forgotten. */
  readonly reset?: boolean;
  /** Instances that are not followed any more. */
  readonly gone?: readonly string[];
}

/** A replica under test. */
export interface ReplicaUnderTest {
  get(key: InstanceKey): Held | undefined;
  /** The space seq it stands at. */
  seq(): number;
  /** Applies a batch whole. Returns false where it applied nothing and wants a resync. */
  apply(batch: ReplicaBatch): boolean;
}

/** What the suite needs of the test runner. */
export interface ReplicaSuite extends TestApi {
  /** A replica that holds nothing. */
  create(): ReplicaUnderTest;
  /** Whether rows may come as patches, and instances leave. A server's replica reads its own store. */
  readonly framed: boolean;
}

const key = (name: string): InstanceKey => instanceKey(name as DocId, SPACE_SCOPE_KEY);

/**
 * What every replica owes those who read it, a client's and a server's alike (architecture.md, "Who
 * owns what"): it moves by whole batches, its position moves with its rows, and absence is knowledge.
 */
export function describeReplica(suite: ReplicaSuite): void {
  const { test, expect } = suite;
  basicRules(suite, test, expect);
  if (suite.framed) framedRules(suite, test, expect);
}

type Test = ReplicaSuite["test"];
type Expect = (actual: unknown) => Expectation;

function basicRules({ create }: ReplicaSuite, test: Test, expect: Expect): void {
  test("[CL-R1] a row that was never told of is not held, and an absent one is held without a value", () => {
    const replica = create();
    expect(replica.get(key("doc:a"))).toEqual(undefined);
    replica.apply({ seq: 3, rows: [{ name: "doc:a", seq: 3, cover: "authored", absent: true }] });
    expect(replica.get(key("doc:a"))?.value).toEqual(undefined);
    expect(replica.get(key("doc:a"))?.seq).toEqual(3);
  });

  test("[CL-R2] the position moves together with the rows of a batch", () => {
    const replica = create();
    const value = (name: string, seq: number): ReplicaRow => ({
      name,
      seq,
      cover: "authored",
      value: seq,
    });
    expect(replica.apply({ seq: 5, rows: [value("doc:a", 4), value("doc:b", 5)] })).toEqual(true);
    expect([replica.get(key("doc:a"))?.value, replica.get(key("doc:b"))?.value]).toEqual([4, 5]);
    expect(replica.seq()).toEqual(5);
    expect(replica.get(key("doc:b"))?.coverClass).toEqual("authored");
  });

  test("[CL-R3] an equal value keeps its identity, so that readers see no change", () => {
    const replica = create();
    replica.apply({
      seq: 1,
      rows: [{ name: "doc:a", seq: 1, cover: "authored", value: { x: [1] } }],
    });
    const before = replica.get(key("doc:a"))?.value;
    replica.apply({
      seq: 2,
      rows: [{ name: "doc:a", seq: 2, cover: "derived", value: { x: [1] } }],
    });
    expect(replica.get(key("doc:a"))?.value === before).toEqual(true);
    expect(replica.get(key("doc:a"))?.seq).toEqual(2);
  });
}

function framedRules({ create }: ReplicaSuite, test: Test, expect: Expect): void {
  const append: readonly PatchOp[] = [{ op: "append", path: [], value: 2 }];

  test("[CL-R4] a patch applies to the base that it names", () => {
    const replica = create();
    replica.apply({ seq: 1, rows: [{ name: "doc:a", seq: 1, cover: "authored", value: [1] }] });
    const patch = { from: 1, ops: append };
    expect(
      replica.apply({ seq: 4, rows: [{ name: "doc:a", seq: 4, cover: "derived", patch }] }),
    ).toEqual(true);
    expect(replica.get(key("doc:a"))?.value).toEqual([1, 2]);
  });

  test("[CL-R5] a patch against a base that is not held applies nothing of its batch", () => {
    const replica = create();
    replica.apply({ seq: 1, rows: [{ name: "doc:a", seq: 1, cover: "authored", value: [1] }] });
    for (const from of [0, 2]) {
      const ok = replica.apply({
        seq: 4,
        rows: [
          { name: "doc:b", seq: 4, cover: "authored", value: true },
          { name: "doc:a", seq: 4, cover: "derived", patch: { from, ops: append } },
        ],
      });
      expect(ok).toEqual(false);
    }
    expect(replica.get(key("doc:b"))).toEqual(undefined);
    expect(replica.get(key("doc:a"))?.value).toEqual([1]);
    expect(replica.seq()).toEqual(1);
  });

  test("[CL-R6] a resync drops what it does not bring, and instances that are let go are pending again", () => {
    const replica = create();
    const rows: ReplicaRow[] = ["doc:a", "doc:b", "doc:c"].map((name) => ({
      name,
      seq: 9,
      cover: "authored",
      value: name,
    }));
    replica.apply({ seq: 9, rows });
    replica.apply({ seq: 10, rows: [], gone: ["doc:c"] });
    expect(replica.get(key("doc:c"))).toEqual(undefined);
    const again: ReplicaRow = { name: "doc:a", seq: 2, cover: "authored", value: "old" };
    replica.apply({ seq: 3, reset: true, rows: [again] });
    expect(replica.get(key("doc:a"))?.value).toEqual("old");
    expect(replica.get(key("doc:b"))).toEqual(undefined);
    // A restored store stands at a lower seq than the one before: the position goes back with it.
    expect(replica.seq()).toEqual(3);
  });

  test("[CL-R7] a row older than the one held takes nothing back", () => {
    const replica = create();
    replica.apply({ seq: 9, rows: [{ name: "doc:a", seq: 9, cover: "authored", value: "new" }] });
    replica.apply({ seq: 9, rows: [{ name: "doc:a", seq: 4, cover: "authored", value: "old" }] });
    expect(replica.get(key("doc:a"))?.value).toEqual("new");
  });
}

/** The seq brand, for adapters. */
export function asSeq(n: number): Seq {
  return n as Seq;
}
