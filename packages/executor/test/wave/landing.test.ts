import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  instanceKey,
  nodeIdFor,
  sessionScopeKey,
  SPACE_SCOPE_KEY,
  userScopeKey,
  type ActionId,
  type DocId,
  type InstanceKey,
  type JsonValue,
  type Precondition,
  type ScopeKey,
  type ValueOperation,
} from "@tidemark/protocol";
import type { Draft } from "../../src/wave/accumulator.js";
import { supersede } from "../../src/wave/supersede.js";
import { chain, counter, form, lab } from "../support/patterns.js";
import { stand } from "../support/stand.js";
import { createHost, createWorld, nodeKey, type World } from "../support/world.js";

beforeEach(() => lab.runs.clear());

const replace = (path: string, value: JsonValue) =>
  ({ op: "replace", path: [path], value }) as const;

/**
 * A cycle whose barrier has passed and whose runs have not begun: an event of another piece waits ahead
 * of them. What is written now is in the store, and not in the replica.
 */
async function behindTheBarrier(
  w: World,
  other: DocId,
  input: () => Promise<unknown>,
  gap: () => Promise<unknown>,
): Promise<void> {
  w.t.gates.hold("feed:before-apply");
  w.t.gates.hold("drain:before-queue");
  await input();
  await w.fire(w.owner, other, "inc");
  w.t.gates.release("feed:before-apply");
  await w.t.run();
  expect(w.t.gates.waiting("drain:before-queue")).toBe(1);
  await gap();
  w.t.gates.open();
  await w.settle();
}

/** A run of a node of the counter. */
const draft = (piece: DocId, name: string, over: Partial<Draft>): Draft => ({
  kind: "derivation",
  action: `counter/${name}@${piece}` as ActionId,
  instance: SPACE_SCOPE_KEY,
  reads: [],
  elided: [],
  writes: [],
  sends: [],
  ...over,
});

describe("the one basis", () => {
  test("[EX-W28] a derived write over what the replica had not taken in is dropped, though its wave began later", async () => {
    const w = await createWorld({ patterns: [chain, counter] });
    const [piece, other] = [await w.create(chain), await w.create(counter)];
    const ben = await w.t.connected("ben");
    await ben.call("space.open", { space: w.space, watches: [] });
    await w.open(w.owner, piece, ["x", "z"]);
    await w.settle();
    await behindTheBarrier(
      w,
      other,
      () => w.write(w.owner, piece, "n", 1),
      () => w.write(ben, piece, "x", 99),
    );
    expect([w.value(piece, "x"), w.value(piece, "z")]).toEqual([99, 100]);
    expect(w.host.spaceStats(w.space).supersededWrites).toBe(1);
    await w.stop();
  });

  test("[EX-W28] a consequence that rests on what the replica had not taken in goes back, once, and finds it", async () => {
    const w = await createWorld({ patterns: [form, counter] });
    const [piece, other] = [await w.create(form), await w.create(counter)];
    const ben = await w.t.connected("ben");
    await ben.call("space.open", { space: w.space, watches: [] });
    await w.write(ben, piece, "fields", { a: 1 });
    await w.open(w.owner, piece, ["fields"]);
    await w.settle();
    await behindTheBarrier(
      w,
      other,
      () => w.fire(w.owner, piece, "bumpA"),
      () => w.patch(ben, piece, "fields", [replace("a", 9)]),
    );
    expect(w.value(piece, "fields")).toEqual({ a: 10 });
    expect(lab.runs.get("bumpA")).toBe(2);
    await w.stop();
  });

  test("[EX-W28] the tenure's own commits are no intrusion, however far the replica lags behind them", async () => {
    const { w, piece, parts } = await stand(counter, ["double"]);
    for (const value of [1, 2]) {
      const op = { op: "set", value } as const;
      // Sealed ahead of the barrier that brings the commit before it.
      parts.accumulator.seal(
        draft(piece, "double", { writes: [{ key: nodeKey(piece, "double"), op }] }),
      );
      await parts.loop.cycle();
      expect(w.value(piece, "double")).toBe(value);
    }
    expect(parts.replica.seq).toBeLessThan(w.head());
    await w.stop();
  });
});

test("[EX-W29] a run whose writes were all dropped leaves its basis rows: a restart does not run it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-"));
  const w = await createWorld({ patterns: [chain], dir });
  const piece = await w.create(chain);
  const ben = await w.t.connected("ben");
  await ben.call("space.open", { space: w.space, watches: [] });
  await w.open(w.owner, piece, ["x"]);
  await w.settle();
  w.t.gates.hold("wave:before-commit");
  await w.write(w.owner, piece, "n", 1);
  await w.write(ben, piece, "x", 99);
  w.t.gates.release("wave:before-commit");
  await w.settle();
  expect(w.value(piece, "x")).toBe(99);
  const stopping = w.host.stop();
  await w.t.clock.advance(10_000);
  await stopping;
  lab.runs.clear();
  const again = createHost(w.t, { patterns: [chain] }, [], 9);
  again.start();
  await w.settle();
  expect(lab.runs.get("x")).toBeUndefined();
  expect(w.value(piece, "x")).toBe(99);
  // The next change of what it read runs it.
  await w.write(w.owner, piece, "n", 2);
  await w.settle();
  expect(w.value(piece, "x")).toBe(12);
  const ending = again.stop();
  await w.t.clock.advance(10_000);
  await ending;
  await w.stop();
  rmSync(dir, { recursive: true });
});

describe("what was withdrawn", () => {
  test("[EX-W30] of a node that is not there is not armed", async () => {
    const { w, piece, parts } = await stand(counter, ["double"]);
    const at = (name: string) => nodeKey(piece, name);
    const pin: Precondition = { kind: "create-only", id: nodeIdFor(piece, "double") };
    const writes = [{ key: at("a"), op: { op: "set", value: 1 } as const }];
    const reads = [{ key: at("a"), path: [], kind: "value" as const, seq: 0 as never }];
    parts.accumulator.seal(draft(piece, "gone1", { writes, preconditions: [pin] }));
    parts.accumulator.seal(draft(piece, "gone2", { reads }));
    await parts.loop.cycle();
    expect(parts.scheduler.stats.queued).toBe(0);
    expect(w.value(piece, "a")).toBeUndefined();
    await w.stop();
  });

  test("[EX-W30] of a piece that goes before it comes to run does not run", async () => {
    const w = await createWorld({ patterns: [chain] });
    const piece = await w.create(chain);
    const ben = await w.t.connected("ben");
    await ben.call("space.open", { space: w.space, watches: [] });
    await w.open(w.owner, piece, ["x", "z"]);
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    await w.write(w.owner, piece, "n", 1);
    await w.write(ben, piece, "x", 99);
    const ran = lab.runs.get("z");
    await ben.commit(w.space, { ops: [{ op: "delete", id: piece }] });
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(lab.runs.get("z")).toBe(ran);
    expect(w.value(piece, "z")).toBe(11);
    await w.stop();
  });
});

test("[EX-W31] what lands of a wave shows in the order of sealing, as the store has it, on every instance", async () => {
  const { w, piece, parts } = await stand(counter, ["double"]);
  const scopes: readonly ScopeKey[] = [
    SPACE_SCOPE_KEY,
    userScopeKey(w.owner.identity.did),
    sessionScopeKey(w.owner.identity.did, w.owner.sessionId),
  ];
  const keys = scopes.map((scope) => instanceKey(nodeIdFor(piece, "list"), scope));
  const append = (value: string): ValueOperation => ({
    op: "patch",
    value: [
      { op: "append", path: [], value, ifAbsent: [] },
      { op: "splice", path: [], index: 0, remove: 0, insert: [value] },
    ],
  });
  const note = (key: InstanceKey, value: string, preconditions?: readonly Precondition[]): void => {
    parts.accumulator.seal({
      kind: "bookkeeping",
      action: `counter/${value}@${piece}` as ActionId,
      instance: SPACE_SCOPE_KEY,
      reads: [],
      elided: [],
      writes: [{ key, op: append(value) }],
      sends: [],
      ...(preconditions === undefined ? {} : { preconditions }),
    });
  };
  for (const key of keys) {
    note(key, "a");
    note(key, "b", [{ kind: "create-only", id: nodeIdFor(piece, "double") }]);
    note(key, "c");
    note(key, "d");
  }
  for (const key of keys) parts.replica.get(key);
  await parts.loop.cycle();
  const loads = parts.replica.loads;
  for (const [at, key] of keys.entries()) {
    expect(parts.replica.get(key)?.value).toEqual(["d", "c", "a", "a", "c", "d"]);
    expect(w.value(piece, "list", scopes[at])).toEqual(["d", "c", "a", "a", "c", "d"]);
  }
  expect(parts.replica.loads).toBe(loads);
  await w.stop();
});

describe("a write above what its session overwrote (R9)", () => {
  const later: ValueOperation = { op: "patch", value: [replace("b", 5)] };

  test("[EX-W32] is not superseded: neither a set of the whole nor a patch above", () => {
    const key = "space node:x" as InstanceKey;
    const whole = { key, op: { op: "set", value: { a: 1, b: 1 } } } as const;
    const deeper: ValueOperation = {
      op: "patch",
      value: [{ op: "replace", path: ["o", "p"], value: 5 }],
    };
    const above = { key, op: { op: "patch", value: [replace("o", { p: 1 })] } } as const;
    expect(supersede([whole], [later])).toEqual({ kept: [whole], dropped: false });
    expect(supersede([above], [deeper])).toEqual({ kept: [above], dropped: false });
    const at = { key, op: later };
    expect(supersede([at], [later])).toEqual({ kept: [], dropped: true });
  });

  test("[EX-W32] keeps the order of commits: it lands over what came before its run, and goes back for what came after", async () => {
    const w = await createWorld({ patterns: [form] });
    const piece = await w.create(form);
    await w.write(w.owner, piece, "fields", { a: 0, b: 0 });
    await w.open(w.owner, piece, ["fields"]);
    await w.settle();
    w.t.gates.hold("feed:before-apply");
    const e1 = await w.fire(w.owner, piece, "reset");
    await w.patch(w.owner, piece, "fields", [replace("b", 5)]);
    w.t.gates.release("feed:before-apply");
    await w.settle();
    expect(w.value(piece, "fields")).toEqual({ a: 7, b: 7 });
    w.t.gates.hold("wave:before-commit");
    const e2 = await w.fire(w.owner, piece, "reset");
    await w.patch(w.owner, piece, "fields", [replace("b", 6)]);
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(w.value(piece, "fields")).toEqual({ a: 7, b: 7 });
    expect([w.naming(e1), w.naming(e2), lab.runs.get("reset")]).toEqual([1, 1, 3]);
    await w.stop();
  });
});
