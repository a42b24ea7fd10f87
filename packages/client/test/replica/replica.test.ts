import { SPACE_SCOPE_KEY } from "@tidemark/protocol";
import type { DocId, FrameMessage, Row, SpaceId } from "@tidemark/protocol";
import { asSeq, describeReplica } from "@tidemark/client/testing";
import type { ReplicaBatch } from "@tidemark/client/testing";
import { describe, expect, test } from "vitest";
import { Replica } from "../../src/replica/replica.js";

export function frameOf(batch: ReplicaBatch, watermark = 0): FrameMessage {
  const rows = batch.rows.map(
    ({ name, ...row }) =>
      ({ ...row, id: name as DocId, scopeKey: SPACE_SCOPE_KEY }) as unknown as Row,
  );
  return {
    type: "frame",
    space: "space" as SpaceId,
    seq: asSeq(batch.seq),
    watermark: asSeq(watermark),
    rows,
    gone: (batch.gone ?? []).map((name) => ({ id: name as DocId, scopeKey: SPACE_SCOPE_KEY })),
    entries: [],
    frontiers: [],
    ...(batch.reset === true ? { reset: true } : {}),
  };
}

// The suite's own titles carry the ids too; here they stand for the coverage check.
describe("the contract of replicas [CL-R1] [CL-R2] [CL-R3] [CL-R4] [CL-R5] [CL-R6] [CL-R7]", () => {
  describeReplica({
    test,
    expect,
    framed: true,
    create() {
      const replica = new Replica();
      return {
        get: (key) => replica.get(key),
        seq: () => replica.position.seq,
        apply: (batch) => replica.integrate(frameOf(batch)).ok,
      };
    },
  });
});

test("[CL-R2] seq and watermark do not fall but by a resync", () => {
  const replica = new Replica();
  replica.integrate(frameOf({ seq: 9, rows: [] }, 8));
  replica.integrate(frameOf({ seq: 7, rows: [] }, 3));
  expect(replica.position).toEqual({ seq: 9, watermark: 8 });
  replica.integrate(frameOf({ seq: 2, rows: [], reset: true }, 1));
  expect(replica.position).toEqual({ seq: 2, watermark: 1 });
});

test("[CL-R2] a frame tells what moved, once each, and nothing of rows that came out the same", () => {
  const replica = new Replica();
  const value = (n: number): ReplicaBatch => ({
    seq: n,
    rows: [{ name: "doc:a", seq: n, cover: "authored", value: Math.floor(n / 2) }],
  });
  replica.integrate(frameOf(value(2)));
  const same = replica.integrate(frameOf(value(3)));
  const moved = replica.integrate(frameOf(value(4)));
  expect(same.ok && same.changes).toEqual([]);
  expect(moved.ok && moved.changes.map(({ before, after }) => [before, after])).toEqual([[1, 2]]);
});
