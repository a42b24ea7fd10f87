import { beforeEach, describe, expect, test } from "vitest";
import {
  instanceKey,
  parseInstanceKey,
  SPACE_SCOPE_KEY,
  StorageError,
  toLinkValue,
  type AcceptedCommit,
  type DocId,
  type Held,
  type InstanceKey,
  type JsonValue,
  type Seq,
} from "@tidemark/protocol";
import { linkedNodes } from "@tidemark/memory-engine";
import { SpaceStats } from "../../src/stats/counters.js";
import { Pieces } from "../../src/tenure/pieces.js";
import { StructureLoads } from "../../src/tenure/structure-loads.js";

const seq = (n: number) => n as Seq;
const piece = (name: string) => `piece:${name}` as DocId;
const node = (name: string) => `node:${name}` as DocId;
const key = (id: DocId): InstanceKey => instanceKey(id, SPACE_SCOPE_KEY);
const ABSENT: Held = { value: undefined, seq: seq(0) };

/** A store that is ahead of the replica over it, and pieces whose graphs are names. */
class Bench {
  readonly stats = new SpaceStats();
  readonly running = new Set<DocId>();
  /** By which pattern each was built last. */
  readonly built = new Map<DocId, string>();
  readonly failures: string[] = [];
  readonly stuck: string[] = [];
  readonly hidden = new Set<InstanceKey>();
  readonly pending = new Set<InstanceKey>();
  readonly failing = new Map<InstanceKey, unknown>();
  readonly loads: StructureLoads;
  #store = new Map<InstanceKey, Held>();
  #replica = new Map<InstanceKey, Held>();
  #head = 0;
  #at = 0;
  #broken = 0;
  readonly #untold: AcceptedCommit[] = [];

  constructor(stuckAfter = 3) {
    const engine = {
      pieceOf: (id: DocId) => this.#owner(id),
      read: (id: DocId) => {
        if (this.#broken > 0) {
          this.#broken -= 1;
          throw new StorageError("closed", { kind: "io" });
        }
        return this.#store.get(key(id)) ?? ABSENT;
      },
    };
    const held = (one: InstanceKey): Held | undefined =>
      this.pending.has(one) || this.failing.has(one)
        ? undefined
        : (this.#replica.get(one) ?? ABSENT);
    const pieces = new Pieces({
      engine,
      view: { get: held },
      failureOf: (one) => this.failing.get(one),
      runtime: () => ({
        startPiece: (id: DocId, value: JsonValue) => this.#start(id, value),
        swap: (id: DocId, value: JsonValue) => this.#start(id, value),
        stopPiece: (id: DocId) => void this.running.delete(id),
        streamOwner: () => undefined,
      }),
    });
    this.loads = new StructureLoads({
      pieces,
      engine,
      replica: this,
      view: { has: (one) => this.hidden.has(one) },
      stats: this.stats,
      stuckAfter,
      reportFailure: (id) => void this.failures.push(id),
      reportStuck: (root, deferrals) => void this.stuck.push(`${root} ${deferrals}`),
    });
  }

  get seq(): Seq {
    return seq(this.#at);
  }

  forget(keys: Iterable<InstanceKey>): void {
    for (const one of keys) this.#refresh(one);
  }

  get counts() {
    const { counts } = this.stats;
    return {
      deferred: counts.structureLoadDeferred,
      failures: counts.structureLoadFailures,
      stuck: counts.structureLoadStuck,
      terminal: counts.structureLoadTerminal,
      skipped: counts.structureLoadConfirmationsSkipped,
      rearmed: counts.structureLoadRearmed,
    };
  }

  /** Commits to the store; the replica learns of it at the next barrier. */
  commit(id: DocId, value: JsonValue | undefined): void {
    this.#head += 1;
    this.#store.set(key(id), { value, seq: seq(this.#head) });
    const op = value === undefined ? ({ op: "delete" } as const) : ({ op: "set", value } as const);
    this.#untold.push({
      seq: seq(this.#head),
      class: "authored",
      at: 0,
      changes: [{ id, scopeKey: SPACE_SCOPE_KEY, op }],
      appends: [],
      marks: [],
      frontiers: [],
    });
  }

  barrier(): void {
    const commits = this.#untold.splice(0);
    for (const { changes } of commits) for (const { id } of changes) this.#refresh(key(id));
    this.#at = this.#head;
    this.loads.follow(commits);
  }

  /** The replica shows less of a document than it should. */
  lag(id: DocId): void {
    this.#replica.delete(key(id));
  }

  /** The next reads of the store itself throw. */
  breakStore(times: number): void {
    this.#broken = times;
  }

  #refresh(one: InstanceKey): void {
    const held = this.#store.get(one);
    if (held !== undefined) this.#replica.set(one, held);
  }

  #owner(id: DocId): DocId | undefined {
    for (const [one, { value }] of this.#store) {
      if (linkedNodes(value).has(id)) return parseInstanceKey(one).id;
    }
    return undefined;
  }

  #start(id: DocId, value: JsonValue): never {
    const { pattern } = value as { pattern: { id: string } };
    if (pattern.id === "unknown") throw new Error("nobody has it");
    this.running.add(id);
    this.built.set(id, pattern.id);
    return undefined as never;
  }
}

function document(pattern: string, ...nodes: DocId[]): JsonValue {
  const result = Object.fromEntries(nodes.map((id) => [id, toLinkValue({ id })]));
  return { pattern: { id: pattern, version: "1" }, argument: {}, result, internal: {} };
}

let b: Bench;
beforeEach(() => {
  b = new Bench();
});

describe("a demanded root", () => {
  test("[EX-Q1] starts the piece behind it; ids that are never a piece's count nothing", () => {
    b.commit(piece("p"), document("counter", node("x")));
    b.barrier();
    b.loads.demand(node("x"));
    expect([...b.running]).toEqual([piece("p")]);
    for (const id of ["stream:s", "receipt:r", "sys:acl", "doc:d"]) b.loads.demand(id as DocId);
    expect(b.counts).toEqual({
      deferred: 0,
      failures: 0,
      stuck: 0,
      terminal: 0,
      skipped: 0,
      rearmed: 0,
    });
    expect(b.loads.size).toBe(0);
  });

  test("[EX-Q2] that names no pattern in the store either is terminal at once, counted once, and not looked at again", () => {
    b.commit(piece("garbage"), { hello: 1 });
    b.barrier();
    for (const id of [piece("garbage"), piece("none"), node("free")]) b.loads.demand(id);
    b.loads.demand(piece("none"));
    expect(b.counts).toMatchObject({ terminal: 3, skipped: 3, deferred: 0 });
    b.commit(piece("other"), document("counter"));
    b.barrier();
    b.loads.read(piece("none"));
    expect(b.counts).toMatchObject({ terminal: 3, skipped: 3, rearmed: 0 });
  });

  test("[EX-Q3] whose pointer the store holds at the replica's own seq is traversed once more before it ends", () => {
    b.commit(piece("p"), document("counter"));
    b.barrier();
    b.lag(piece("p"));
    b.loads.demand(piece("p"));
    expect([...b.running]).toEqual([piece("p")]);
    expect(b.counts).toMatchObject({ terminal: 0, skipped: 0, deferred: 0 });
  });

  test("[EX-Q3] that the store cannot answer for ends by the second traversal, and no confirmation is skipped", () => {
    b.breakStore(1);
    b.loads.demand(piece("p"));
    expect(b.counts).toMatchObject({ terminal: 1, skipped: 0, deferred: 0 });
  });

  test("[EX-Q4] is not final while an admission races the verdict or a write of the wave hides it", () => {
    b.commit(piece("p"), { no: "pointer yet" });
    b.loads.demand(piece("p"));
    expect(b.counts).toMatchObject({ deferred: 1, terminal: 0 });
    b.barrier();
    expect(b.counts).toMatchObject({ deferred: 1, terminal: 1 });

    b.hidden.add(key(piece("q")));
    b.loads.demand(piece("q"));
    expect(b.counts).toMatchObject({ deferred: 2, terminal: 1 });
    b.hidden.clear();
    b.commit(piece("elsewhere"), 1);
    b.barrier();
    expect(b.counts).toMatchObject({ deferred: 2, terminal: 2 });
  });

  test("[EX-Q5] that is terminal is re-armed by a commit that touches what its load looked at, and by no other", () => {
    b.loads.demand(piece("p"));
    b.commit(piece("q"), document("counter"));
    b.barrier();
    expect(b.counts).toMatchObject({ terminal: 1, rearmed: 0 });
    b.commit(piece("p"), { still: "none" });
    b.barrier();
    expect(b.counts).toMatchObject({ terminal: 2, rearmed: 1 });
    b.commit(piece("p"), document("counter"));
    b.barrier();
    expect(b.counts).toMatchObject({ terminal: 2, rearmed: 2 });
    expect([...b.running]).toEqual([piece("p")]);
    expect(b.loads.size).toBe(0);
  });

  test("[EX-Q5] of a node nobody had is re-armed by the piece that names it", () => {
    b.loads.demand(node("x"));
    b.commit(piece("p"), document("counter", node("y")));
    b.barrier();
    expect(b.counts).toMatchObject({ rearmed: 0 });
    b.commit(piece("q"), document("counter", node("x")));
    b.barrier();
    expect(b.counts).toMatchObject({ rearmed: 1 });
    expect([...b.running]).toEqual([piece("q")]);
  });

  test("[EX-Q5] of a node that its serving piece names no more is nobody's, until one names it again", () => {
    b.commit(piece("p"), document("counter", node("x")));
    b.barrier();
    for (let visit = 0; visit < 2; visit += 1) {
      b.loads.demand(node("x"));
      b.loads.leave(node("x"));
    }
    expect(b.counts).toMatchObject({ terminal: 0 });
    b.commit(piece("p"), document("counter", node("y")));
    b.barrier();
    b.loads.demand(node("x"));
    expect(b.counts).toMatchObject({ terminal: 1, rearmed: 0 });
    b.commit(piece("q"), document("counter", node("x")));
    b.barrier();
    expect(b.counts).toMatchObject({ terminal: 1, rearmed: 1 });
    expect([...b.running]).toEqual([piece("p"), piece("q")]);
  });

  test("[EX-Q6] that stays on its way is stuck once per crossing, told at the crossing and at each doubling", () => {
    b.pending.add(key(piece("p")));
    b.loads.demand(piece("p"));
    for (let at = 0; at < 11; at += 1) {
      b.commit(piece("elsewhere"), at);
      b.barrier();
    }
    expect(b.counts).toMatchObject({ deferred: 12, stuck: 1, terminal: 0 });
    expect(b.stuck).toEqual(["piece:p 3", "piece:p 6", "piece:p 12"]);
    b.pending.clear();
    b.loads.settled([key(piece("p"))]);
    expect(b.counts).toMatchObject({ terminal: 1 });
    b.pending.add(key(piece("p")));
    b.commit(piece("p"), 1);
    for (let at = 0; at < 3; at += 1) {
      b.barrier();
      b.commit(piece("elsewhere"), at);
    }
    expect(b.counts).toMatchObject({ stuck: 2 });
  });

  test("[EX-Q6] that starts has no streak left", () => {
    b.commit(piece("p"), document("counter"));
    b.barrier();
    b.pending.add(key(piece("p")));
    b.loads.demand(piece("p"));
    b.commit(piece("elsewhere"), 1);
    b.barrier();
    expect(b.counts).toMatchObject({ deferred: 2 });
    b.pending.clear();
    b.loads.settled([key(piece("p"))]);
    expect([...b.running]).toEqual([piece("p")]);
    b.commit(piece("p"), undefined);
    b.barrier();
    expect([...b.running]).toEqual([]);
    b.pending.add(key(piece("p")));
    b.commit(piece("p"), document("counter"));
    b.barrier();
    expect(b.counts).toMatchObject({ deferred: 3, stuck: 0 });
  });

  test("[EX-Q7] whose load throws is counted and named, and tried again when its documents move", () => {
    b.commit(piece("p"), document("unknown", node("x")));
    b.barrier();
    b.loads.demand(node("x"));
    b.commit(piece("elsewhere"), 1);
    b.barrier();
    expect(b.counts).toMatchObject({ failures: 1, deferred: 0, terminal: 0 });
    expect(b.failures).toEqual([piece("p")]);
    b.commit(piece("p"), document("counter", node("x")));
    b.barrier();
    expect([...b.running]).toEqual([piece("p")]);
    expect(b.counts).toMatchObject({ failures: 1, rearmed: 0 });
  });

  test("[EX-Q7] whose document cannot be read is a failure too, and tried whenever the replica moves", () => {
    b.commit(piece("p"), document("counter"));
    b.barrier();
    b.failing.set(key(piece("p")), new StorageError("no", { kind: "io" }));
    b.loads.demand(piece("p"));
    b.commit(piece("elsewhere"), 1);
    b.barrier();
    expect(b.counts).toMatchObject({ failures: 2, deferred: 0, terminal: 0, stuck: 0 });
    b.failing.clear();
    b.commit(piece("elsewhere"), 2);
    b.barrier();
    expect([...b.running]).toEqual([piece("p")]);
  });

  test("[EX-Q8] is forgotten with its last demander; what a run read is not", () => {
    b.loads.demand(piece("p"));
    b.loads.demand(piece("p"));
    b.loads.read(piece("q"));
    b.loads.leave(piece("p"));
    expect(b.loads.size).toBe(2);
    b.loads.leave(piece("p"));
    expect(b.loads.size).toBe(1);
    b.commit(piece("p"), document("counter"));
    b.barrier();
    expect(b.counts).toMatchObject({ rearmed: 0 });
    expect([...b.running]).toEqual([]);
    b.loads.clear();
    b.loads.read(piece("q"));
    expect(b.counts).toMatchObject({ terminal: 3 });
  });

  test("[EX-Q11] re-armed under a write of the wave owes its retry: W stays below that input until it starts", () => {
    b.loads.demand(piece("p"));
    b.commit(piece("elsewhere"), 1);
    b.hidden.add(key(piece("p")));
    b.commit(piece("p"), document("counter"));
    b.barrier();
    expect([b.loads.floor, b.loads.due]).toEqual([2, false]);
    b.commit(piece("p"), document("counter", node("x")));
    b.barrier();
    expect(b.loads.floor).toBe(2);
    b.loads.retryOwed();
    expect([...b.running]).toEqual([]);
    b.hidden.clear();
    expect(b.loads.due).toBe(true);
    b.loads.retryOwed();
    expect([...b.running]).toEqual([piece("p")]);
    expect([b.loads.floor, b.loads.due]).toEqual([undefined, false]);
    expect(b.counts).toMatchObject({ rearmed: 1 });
  });
});

describe("a piece whose document a write of the wave lies over", () => {
  const [p, over] = [piece("p"), key(piece("p"))];
  beforeEach(() => {
    b.commit(p, document("counter", node("x")));
    b.barrier();
  });

  test("[EX-P5] follows no input under it, and W stays below that input until the piece does", () => {
    b.loads.demand(p);
    b.hidden.add(over);
    b.commit(p, document("chain", node("x")));
    b.barrier();
    b.commit(p, document("deep", node("x")));
    b.barrier();
    expect([b.built.get(p), b.loads.floor, b.loads.due]).toEqual(["counter", 2, false]);
    expect(b.loads.retryOwed()).toBe(false);
    b.hidden.clear();
    expect(b.loads.due).toBe(true);
    expect(b.loads.retryOwed()).toBe(true);
    expect([b.built.get(p), b.loads.floor, b.loads.due]).toEqual(["deep", undefined, false]);
  });

  test.each([
    ["a demand", () => b.loads.demand(node("x"))],
    ["an event", () => void b.loads.stream(node("x"))],
  ])("[EX-P5] and that %s started follows what stands after it", (_what, start) => {
    b.hidden.add(over);
    start();
    expect(b.built.get(p)).toBe("counter");
    // The write is withdrawn: what the view shows is another document, and no commit tells of it.
    b.commit(p, document("chain", node("x")));
    b.forget([over]);
    b.hidden.clear();
    expect(b.loads.due).toBe(true);
    b.loads.retryOwed();
    expect([b.built.get(p), b.loads.floor]).toEqual(["chain", undefined]);
  });

  test("[EX-P5] is nothing to the next tenure", () => {
    b.loads.demand(p);
    b.hidden.add(over);
    b.commit(p, document("chain", node("x")));
    b.barrier();
    b.loads.clear();
    b.hidden.clear();
    expect([b.loads.floor, b.loads.due]).toEqual([undefined, false]);
  });
});
