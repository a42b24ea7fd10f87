import { beforeEach, describe, expect, test } from "vitest";
import {
  getAt,
  instanceKey,
  nodeIdFor,
  SPACE_SCOPE_KEY,
  StorageError,
  type DocId,
} from "@tidemark/protocol";
import { HeldLoads } from "../support/loads.js";
import { counting, counter3, meddler, MOVED, versionOf } from "../support/moved-patterns.js";
import { chain, counter, counter2, lab, patient } from "../support/patterns.js";
import {
  ask,
  commitsAfter,
  create,
  document,
  engineOf,
  setsrc,
  swapped,
  THE_PIECE,
} from "../support/verbs.js";
import { createWorld, type World } from "../support/world.js";

beforeEach(() => {
  lab.runs.clear();
  lab.doors.clear();
});

const did = (w: World) => w.owner.identity.did;

describe("a source update that is overtaken", () => {
  test("[EX-V7] before its commit conflicts as a client's would: nothing is written, and the old graph stays", async () => {
    const { w, piece } = await counting();
    const other = await w.create(chain);
    await w.open(await w.t.connected("cy"), other, ["x"]);
    await w.settle();
    // Held behind another verb's commit, it reads its piece before the loop takes in what a client wrote.
    w.t.gates.hold("verb:after-commit");
    ask(w, setsrc(did(w), other, counter2));
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.t.run();
    const theirs = await w.owner.commit(w.space, {
      ops: [{ op: "patch", id: piece, value: [{ op: "replace", path: ["note"], value: 1 }] }],
    } as never);
    const head = w.head();
    w.t.gates.hold("feed:before-apply");
    w.t.gates.release("verb:after-commit");
    await w.t.run();
    expect(asked.error).toMatchObject({
      code: "conflict",
      details: { conflicts: [{ id: piece, conflictingSeq: theirs.ok && theirs.result.seq }] },
    });
    expect([versionOf(w, piece), head]).toEqual(["1", theirs.ok && theirs.result.seq]);
    w.t.gates.open();
    await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect(w.value(piece, "double")).toBe(10);
    // Asked again, over what the loop has taken in by now, it moves the pointer.
    const again = ask(w, setsrc(did(w), piece, counter2));
    await w.settle();
    expect([again.result?.changed, w.value(piece, "double")]).toEqual([true, 15]);
    await w.stop();
  });

  test("[EX-V8] before its wave: what the new pattern derived does not land over the client's pointer", async () => {
    const { w, piece } = await counting();
    w.t.gates.hold("wave:before-commit");
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.t.run();
    expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
    const before = w.head();
    await w.owner.commit(w.space, swapped(piece, counter3));
    w.t.gates.release("wave:before-commit");
    await w.settle();
    const doubles = commitsAfter(w, before)
      .flatMap(({ changes }) => changes)
      .filter(({ id }) => id === nodeIdFor(piece, "double"))
      .map(({ op }) => (op.op === "set" ? op.value : undefined));
    expect(doubles).toEqual([20]);
    // The verb's own commit stands: it was there before the client's.
    expect([asked.result, versionOf(w, piece)]).toEqual([
      { seq: before, piece, changed: true },
      "3",
    ]);
    await w.stop();
  });

  test("[EX-V8] a handler of its cycle that writes its document blindly goes back, and runs over it", async () => {
    const { w, piece } = await counting();
    const hand = await w.create(meddler);
    await w.settle();
    w.t.gates.hold("feed:before-apply");
    const e1 = await w.fire(w.owner, hand, "stamp", { id: piece });
    const asked = ask(w, setsrc(did(w), piece, counter2));
    w.t.gates.release("feed:before-apply");
    await w.settle();
    expect(document(w, piece)).toMatchObject({ pattern: { version: "2" }, note: "mine" });
    expect([asked.result?.changed, lab.runs.get("stamp"), w.naming(e1)]).toEqual([true, 2, 1]);
    await w.stop();
  });

  test("[EX-V9] by a creation of the same cycle waits for its wave", async () => {
    const w = await createWorld({ patterns: MOVED });
    const before = w.head();
    const made = ask(w, create(did(w), counter));
    const moved = ask(w, setsrc(did(w), THE_PIECE, counter2));
    await w.settle();
    const versions = engineOf(w)
      .history(THE_PIECE, SPACE_SCOPE_KEY)
      .map(({ seq, op }) => [seq, op.op === "set" && getAt(op.value, ["pattern", "version"])]);
    expect(versions).toEqual([
      [before + 1, "1"],
      [moved.result?.seq, "2"],
    ]);
    expect([made.result?.seq, w.value(THE_PIECE, "double")]).toEqual([before + 1, 0]);
    await w.stop();
  });

  test("[EX-V9] waits for a sealed write over its document, and rests on what becomes of it", async () => {
    const { w, piece } = await counting();
    const hand = await w.create(meddler);
    await w.settle();
    const open = lab.door("later");
    // A wave is being committed when the slow handler comes to its end: it seals into the next one.
    w.t.gates.hold("feed:before-apply");
    w.t.gates.hold("wave:before-commit", { times: 2 });
    await w.fire(w.owner, hand, "say", "first");
    await w.fire(w.owner, hand, "later", { id: piece });
    w.t.gates.release("feed:before-apply");
    await w.settle(200);
    expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
    open();
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.t.run();
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    expect([w.t.gates.waiting("wave:before-commit"), versionOf(w, piece)]).toEqual([1, "1"]);
    w.t.gates.open();
    await w.settle();
    const kinds = engineOf(w)
      .history(piece, SPACE_SCOPE_KEY)
      .map(({ op }) => op.op);
    expect(kinds).toEqual(["set", "patch", "set"]);
    expect([asked.result?.changed, w.value(piece, "double")]).toEqual([true, 12]);
    await w.stop();
  });
});

describe("a pointer that a handler sealed", () => {
  /** The handler's run is in the open wave, over a document that somebody else has written since; that wave is held. */
  async function sealed(w: World, piece: DocId, beforeItsCycle: (hand: DocId) => Promise<void>) {
    const hand = await w.create(meddler);
    await w.open(await w.t.connected("ben"), hand, ["log"]);
    await w.settle();
    const open = lab.door("later");
    w.t.gates.hold("feed:before-apply");
    w.t.gates.hold("wave:before-commit", { times: 2 });
    await w.fire(w.owner, hand, "say", "first");
    const e1 = await w.fire(w.owner, hand, "repoint", { id: piece });
    w.t.gates.release("feed:before-apply");
    await w.settle(200);
    open();
    await w.t.run();
    await beforeItsCycle(hand);
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
    w.t.gates.open();
    await w.settle();
    expect([versionOf(w, piece), lab.runs.get("repoint"), w.naming(e1)]).toEqual(["1", 2, 1]);
  }

  const writtenBy = async (w: World, piece: DocId) =>
    void (await (await w.t.connected("cy")).commit(w.space, swapped(piece, counter)));

  test("[EX-P5] moves no graph before it is durable: withdrawn, the old graph stays", async () => {
    const { w, piece } = await counting();
    // The next cycle's barrier brings the other session's write under the sealed pointer.
    await sealed(w, piece, () => writtenBy(w, piece));
    await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect([w.value(piece, "count"), w.value(piece, "double")]).toEqual([5, 10]);
    await w.stop();
  });

  test("[EX-P5] may start a graph, which follows what stands once the pointer is withdrawn", async () => {
    const w = await createWorld({ patterns: MOVED });
    const piece = await w.create(counter);
    // The other session wrote something else that the handler did: nothing of the piece moves but by the withdrawal.
    await sealed(w, piece, async (hand) => {
      await w.write(await w.t.connected("cy"), hand, "log", ["theirs"]);
      await w.open(w.owner, piece, ["count", "double"]);
    });
    await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect([w.value(piece, "count"), w.value(piece, "double")]).toEqual([1, 2]);
    await w.stop();
  });
});

describe("what a source update waits for", () => {
  test("[EX-V9] a handler's body that runs: nothing moves under it", async () => {
    const { w, piece } = await counting();
    const slow = await w.create(patient);
    await w.settle();
    const open = lab.door("look");
    await w.fire(w.owner, slow, "look");
    await w.t.run();
    const asked = ask(w, setsrc(did(w), piece, counter2));
    // Cycles go on, past the one that the body outlasted.
    await w.settle(1_000);
    expect([lab.runs.get("look"), versionOf(w, piece), asked.result]).toEqual([1, "1", undefined]);
    open();
    await w.settle();
    expect([asked.result?.changed, w.value(piece, "double")]).toEqual([true, 12]);
    await w.stop();
  });

  test("[EX-V9] a load of its document, which holds the space's park off and what is asked of the same piece", async () => {
    const loads = new HeldLoads();
    const w = await createWorld({ patterns: MOVED, loads });
    const piece = await w.create(counter);
    const other = await w.create(chain);
    const key = instanceKey(piece, SPACE_SCOPE_KEY);
    loads.hold(key);
    const first = ask(w, setsrc(did(w), piece, counter2));
    const second = ask(w, setsrc(did(w), piece, counter3));
    const beside = ask(w, setsrc(did(w), other, counter));
    await w.settle(120_000);
    expect([first.result, second.result, beside.result?.changed]).toEqual([
      undefined,
      undefined,
      true,
    ]);
    expect(w.host.isActive(w.space)).toBe(true);
    loads.settle(key);
    await w.settle();
    expect([first.result?.changed, second.result?.changed]).toEqual([true, true]);
    expect([versionOf(w, piece), w.value(piece, "double")]).toEqual(["3", 0]);
    await w.stop();
  });

  test("[EX-V9] keeps its place though its load comes while another verb runs", async () => {
    const loads = new HeldLoads();
    const w = await createWorld({ patterns: MOVED, loads });
    const piece = await w.create(counter);
    const other = await w.create(chain);
    const key = instanceKey(piece, SPACE_SCOPE_KEY);
    loads.hold(key);
    w.t.gates.hold("verb:after-commit");
    const first = ask(w, setsrc(did(w), piece, counter2));
    ask(w, setsrc(did(w), other, counter));
    ask(w, setsrc(did(w), piece, counter3));
    await w.t.run();
    expect(w.t.gates.waiting("verb:after-commit")).toBe(1);
    loads.settle(key);
    w.t.gates.release("verb:after-commit");
    await w.settle();
    expect([first.result?.changed, versionOf(w, piece)]).toEqual([true, "3"]);
    await w.stop();
  });

  test("[EX-V9] a load that fails refuses it with that error", async () => {
    const loads = new HeldLoads();
    const w = await createWorld({ patterns: MOVED, loads });
    const piece = await w.create(counter);
    loads.fail(
      instanceKey(piece, SPACE_SCOPE_KEY),
      new StorageError("unreadable", { kind: "corrupt" }),
    );
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.settle();
    expect(asked.error).toMatchObject({ code: "storage" });
    expect(versionOf(w, piece)).toBe("1");
    await w.stop();
  });
});
