import {
  instanceKey,
  SPACE_SCOPE_KEY,
  type DerivedBatch,
  type DocId,
  type EventId,
  type InstanceKey,
  type JsonValue,
  type ScopeKey,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import type { DerivedVerdict } from "../../src/index.js";
import { TEST_HOLDER, type TestServer } from "../../src/testing/index.js";

export const STREAM = "stream:s" as DocId;

export function doc(name: string): DocId {
  return `node:${name}` as DocId;
}

export function keyOf(name: string, scopeKey: ScopeKey = SPACE_SCOPE_KEY): InstanceKey {
  return instanceKey(doc(name), scopeKey);
}

export function event(id: string): EventId {
  return id as EventId;
}

export function seq(n: number): Seq {
  return n as Seq;
}

export function link(name: string, scope?: string): JsonValue {
  return { "/": { "link@1": { id: doc(name), ...(scope === undefined ? {} : { scope }) } } };
}

/** A batch of a wave with nothing in it but what is given. */
export function wave(parts: Partial<DerivedBatch>): DerivedBatch {
  return {
    derivedThrough: seq(1_000),
    consequenceOf: [],
    changes: [],
    appends: [],
    marks: [],
    frontiers: [],
    basis: [],
    ...parts,
  };
}

/** One derived commit under the test's lease. */
export function derive(
  t: TestServer,
  space: SpaceId,
  parts: Partial<DerivedBatch>,
): DerivedVerdict {
  const served = t.server.space(space);
  served.engine.lease.acquire(TEST_HOLDER, 15_000);
  return served.commitDerived(TEST_HOLDER, () => wave(parts));
}

/** A whole-value write of one space-scoped document. */
export function setOp(name: string, value: JsonValue, scope?: "user" | "session"): never {
  // The scope kind is optional in an operation; an explicit `undefined` would be an unknown value.
  return { op: "set", id: doc(name), value, ...(scope === undefined ? {} : { scope }) } as never;
}
