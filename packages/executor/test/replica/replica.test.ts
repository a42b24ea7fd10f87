import { expect, test } from "vitest";
import {
  instanceKey,
  SPACE_SCOPE_KEY,
  type AcceptedCommit,
  type DocId,
  type Held,
  type InstanceKey,
  type JsonValue,
  type ScopeKey,
  type Seq,
} from "@tidemark/protocol";
import { Replica } from "../../src/replica/replica.js";

const seq = (n: number) => n as Seq;
const id = (name: string) => `node:${name}` as DocId;
const key = (name: string): InstanceKey => instanceKey(id(name), SPACE_SCOPE_KEY);

/** A store that keeps every version: reads name the seq they stand at. */
function store() {
  const versions = new Map<DocId, Held[]>();
  const reads: (readonly [DocId, Seq])[] = [];
  return {
    reads,
    set(name: string, value: JsonValue, at: number): AcceptedCommit {
      versions.set(id(name), [...(versions.get(id(name)) ?? []), { value, seq: seq(at) }]);
      return commit(at, name, value);
    },
    read(doc: DocId, _scope: unknown, { at = seq(0) }: { at?: Seq } = {}): Held {
      reads.push([doc, at]);
      const found = (versions.get(doc) ?? []).filter((one) => one.seq <= at).at(-1);
      return found ?? { value: undefined, seq: seq(0) };
    },
  };
}

function commit(at: number, name: string, value: JsonValue, own = false): AcceptedCommit {
  return {
    seq: seq(at),
    class: own ? "derived" : "authored",
    at: 0,
    changes: [{ id: id(name), scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value } }],
    appends: [],
    marks: [],
    frontiers: [],
  };
}

function replicaOver(
  engine: ReturnType<typeof store>,
  at: number,
  read: ReadonlySet<string> = new Set(),
  maxDocuments = 100,
) {
  return new Replica({
    engine,
    seq: seq(at),
    maxDocuments,
    isRead: (one) => [...read].some((name) => key(name) === one),
    isOwn: (one) => one.class === "derived",
  });
}

test("[EX-B1] a miss loads as of the seq the replica stands at, though the store has moved on", () => {
  const engine = store();
  engine.set("x", 1, 1);
  engine.set("x", 2, 2);
  const replica = replicaOver(engine, 1);
  expect(replica.get(key("x"))?.value).toBe(1);
  expect(engine.reads).toEqual([[id("x"), 1]]);
  replica.get(key("x"));
  expect(replica.loads).toBe(1);
});

test("[EX-B2] it moves at a barrier alone, and only what is held is touched", () => {
  const engine = store();
  engine.set("x", 1, 1);
  const replica = replicaOver(engine, 1);
  replica.get(key("x"));
  const commits = [engine.set("x", 2, 2), engine.set("y", 9, 3)];
  expect(replica.get(key("x"))?.value).toBe(1);
  expect([...replica.touchedBy(commits)]).toEqual([key("x")]);
  replica.apply(commits);
  expect(replica.get(key("x"))).toMatchObject({ value: 2, seq: 2 });
  expect([replica.seq, replica.size]).toEqual([3, 1]);
});

test("[EX-B3] an own commit touches nobody; an intrusion under a promoted value is read from the store", () => {
  const engine = store();
  engine.set("x", 1, 1);
  const replica = replicaOver(engine, 1);
  replica.get(key("x"));
  const intrusion = engine.set("x", 50, 2);
  // Our wave, rebased on the intrusion, stands at 3: the store has the sum, the replica only our part.
  engine.set("x", 51, 3);
  replica.accept(key("x"), 2, seq(3));
  const own = commit(3, "x", 51, true);
  expect([...replica.touchedBy([own])]).toEqual([]);
  replica.apply([intrusion, own]);
  expect(replica.get(key("x"))).toMatchObject({ value: 51, seq: 3 });
});

test("[EX-B4] memory is bounded, but for what nodes read and what is ahead of the barrier", () => {
  const engine = store();
  const replica = replicaOver(engine, 1, new Set(["kept"]), 4);
  replica.get(key("kept"));
  for (let at = 0; at < 20; at += 1) replica.get(key(`d${at}`));
  replica.accept(key("ahead"), 1, seq(99));
  for (let at = 2; at < 6; at += 1) replica.apply([commit(at, "elsewhere", 1)]);
  expect(replica.size).toBeLessThanOrEqual(6);
  const loads = replica.loads;
  replica.get(key("kept"));
  expect(replica.get(key("ahead"))?.value).toBe(1);
  expect(replica.loads).toBe(loads);
});

test("[EX-B8] what a lapse withholds, and what a load keeps waiting, is no read of the store", () => {
  const engine = store();
  const counted: boolean[] = [];
  let lives = false;
  let waits = true;
  const replica = new Replica({
    engine,
    seq: seq(1),
    maxDocuments: 100,
    isRead: () => true,
    isOwn: () => false,
    through: { mayRead: () => lives, onRead: (again) => void counted.push(again) },
    load: (_key, read) => (waits ? { state: "pending" } : { state: "held", held: read() }),
  });
  const mine = instanceKey(id("x"), "user:ana" as ScopeKey);
  expect([replica.get(mine), replica.get(key("x"))]).toEqual([undefined, undefined]);
  expect([replica.missing(mine)?.state, counted, engine.reads]).toEqual(["failed", [], []]);
  lives = true;
  waits = false;
  replica.get(mine);
  replica.apply([commit(2, "x", 3)]);
  replica.get(key("x"));
  replica.apply([commit(3, "x", 4)]);
  expect(counted).toEqual([false, false, true]);
});
