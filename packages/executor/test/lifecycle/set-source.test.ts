import { beforeEach, describe, expect, test } from "vitest";
import {
  ACL_DOC,
  getAt,
  instanceKey,
  nodeIdFor,
  pieceIdFor,
  SPACE_SCOPE_KEY,
  StorageError,
  type DocId,
  type JsonValue,
  type Seq,
} from "@tidemark/protocol";
import { cell, cellAt, computed, handler, pattern } from "@tidemark/runtime";
import { z } from "zod";
import { HeldLoads } from "../support/loads.js";
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
import { createWorld, type World, type WorldOptions } from "../support/world.js";

beforeEach(() => {
  lab.runs.clear();
  lab.doors.clear();
});

const counter3 = pattern({
  id: "counter",
  version: "3",
  build: () => {
    const count = cell("count", z.number(), { default: 0 });
    return { count, double: computed("double", () => count.get() * 5) };
  },
});

/** Takes an argument that the counter has not. */
const needy = pattern({
  id: "needy",
  version: "1",
  argument: z.object({ must: z.string() }),
  build: () => ({ n: cell("n", z.number(), { default: 0 }) }),
});

/** Writes the documents of other pieces. */
const meddler = pattern({
  id: "meddler",
  version: "1",
  build: () => {
    const log = cell("log", z.array(z.string()), { default: [] });
    const later = handler("later", z.object({ id: z.string() }), async ({ id }, ctx) => {
      const theirs = cellAt<Record<string, string>>({ id: id as DocId });
      await lab.doors.get("later");
      ctx.cell(theirs).key("note").set("mine");
    });
    const say = handler("say", z.string(), (word) => {
      log.append(word);
    });
    return { log, later, say };
  },
});

const PATTERNS = [counter, counter2, counter3, needy, meddler, patient, chain];
const did = (w: World) => w.owner.identity.did;
const patternOf = (w: World, piece: DocId) =>
  (document(w, piece) as { readonly pattern: { readonly version: string } }).pattern.version;

/** A counter at 4 that somebody watches. */
async function counting(
  options: Partial<WorldOptions> = {},
): Promise<{ readonly w: World; readonly piece: DocId }> {
  const w = await createWorld({ patterns: PATTERNS, ...options });
  const piece = await w.create(counter);
  await w.open(w.owner, piece, ["count", "double"]);
  await w.write(w.owner, piece, "count", 4);
  await w.settle();
  expect(w.value(piece, "double")).toBe(8);
  return { w, piece };
}

describe("a source update", () => {
  test("[EX-V6] commits on its own, and the first derivation under the new pattern lands in the same cycle", async () => {
    const { w, piece } = await counting();
    const before = w.head();
    w.t.gates.hold("verb:after-commit");
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.t.run();
    // Durable, and the old graph is still the one that runs.
    expect([patternOf(w, piece), w.value(piece, "double"), asked.result]).toEqual([
      "2",
      8,
      undefined,
    ]);
    // No barrier may bring what follows: the next cycle would have to pass this gate.
    w.t.gates.hold("feed:before-apply");
    w.t.gates.hold("wave:after-commit");
    w.t.gates.release("verb:after-commit");
    await w.t.run();
    expect([w.t.gates.waiting("wave:after-commit"), asked.result]).toEqual([1, undefined]);
    const [direct, wave] = commitsAfter(w, before);
    expect(direct).toMatchObject({ class: "derived", holder: w.host.holder, seq: before + 1 });
    expect(direct?.changes.map(({ id }) => id)).toEqual([piece]);
    expect(wave?.changes.map(({ id }) => id)).toContain(nodeIdFor(piece, "double"));
    expect(w.value(piece, "double")).toBe(12);
    w.t.gates.release("wave:after-commit");
    await w.t.run();
    expect(asked.result).toEqual({ seq: direct?.seq, piece, changed: true });
    w.t.gates.open();
    const e1 = await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect([w.value(piece, "double"), w.naming(e1)]).toEqual([42, 1]);
    expect(w.host.spaceStats(w.space)).toMatchObject({ lifecycleVerbs: 1, directCommits: 1 });
    await w.stop();
  });

  test("[EX-V6] writes the document that a client's swap writes, attributed to its principal, and keeps the argument", async () => {
    const { w, piece } = await counting();
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.settle();
    const { ops } = swapped(piece, counter2) as unknown as { ops: readonly { value: JsonValue }[] };
    expect(document(w, piece)).toEqual(ops[0]?.value);
    const moves = engineOf(w).history(piece, SPACE_SCOPE_KEY);
    expect(moves.at(-1)).toMatchObject({
      seq: asked.result?.seq,
      class: "derived",
      attribution: { user: did(w) },
    });
    await w.stop();
  });

  test("[EX-V6] is covered by the watermark, and a clean restart runs nothing again", async () => {
    const { w, piece } = await counting({ policy2: { parkedRuntimeRetentionMs: 0 } });
    ask(w, setsrc(did(w), piece, counter2));
    await w.settle();
    expect(w.watermark()).toBe(w.head() - 1);
    await w.owner.call("space.close", { space: w.space });
    await w.settle(120_000);
    expect(w.host.isActive(w.space)).toBe(false);
    const head = w.head();
    await w.open(w.owner, piece, ["count", "double"]);
    await w.settle();
    expect([w.value(piece, "double"), w.head()]).toEqual([12, head]);
    await w.stop();
  });

  test("[EX-V2] of a piece that nobody watches is announced, and derived by the next cycle", async () => {
    const w = await createWorld({ patterns: PATTERNS });
    const piece = await w.create(counter);
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.settle();
    expect([asked.result?.changed, w.value(piece, "double")]).toEqual([true, 0]);
    await w.settle(120_000);
    expect(w.host.isActive(w.space)).toBe(false);
    await w.stop();
  });

  test("[EX-V6] to the pattern that it has changes nothing and is answered with where it stands", async () => {
    const { w, piece } = await counting();
    const head = w.head();
    const asked = ask(w, setsrc(did(w), piece, counter));
    await w.settle();
    expect(asked.result).toMatchObject({ piece, changed: false });
    expect(w.head()).toBe(head);
    await w.stop();
  });

  test.each([
    ["is not there", pieceIdFor("nobody made it"), counter2, "unknown-piece"],
    ["is no piece", ACL_DOC, counter2, "unknown-piece"],
    ["has an argument that does not fit", pieceIdFor({ name: "counter" }), needy, "protocol"],
  ])("[EX-V7] of what %s is refused, and nothing is written", async (_what, piece, to, code) => {
    const { w } = await counting();
    const head = w.head();
    const asked = ask(w, setsrc(did(w), piece, to));
    await w.settle();
    expect(asked.error).toMatchObject({ code });
    expect(w.head()).toBe(head);
    await w.stop();
  });

  test("[EX-V4] by one whom the list denies writing is refused, and the old graph answers", async () => {
    const { w, piece } = await counting();
    const cy = w.t.identity("cy").did;
    await w.owner.commit(w.space, {
      ops: [{ op: "set", id: ACL_DOC, value: { [did(w)]: "OWNER", [cy]: "READ" } }] as never,
    });
    const asked = ask(w, setsrc(cy, piece, counter2));
    await w.settle();
    expect(asked.error).toMatchObject({ code: "unauthorized" });
    await w.fire(w.owner, piece, "inc");
    await w.settle();
    expect([patternOf(w, piece), w.value(piece, "double")]).toEqual(["1", 10]);
    await w.stop();
  });
});

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
    expect([patternOf(w, piece), head]).toEqual(["1", theirs.ok && theirs.result.seq]);
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
    expect([asked.result, patternOf(w, piece)]).toEqual([
      { seq: before, piece, changed: true },
      "3",
    ]);
    await w.stop();
  });

  test("[EX-V9] by a creation of the same cycle waits for its wave", async () => {
    const w = await createWorld({ patterns: PATTERNS });
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
    expect([w.t.gates.waiting("wave:before-commit"), patternOf(w, piece)]).toEqual([1, "1"]);
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

describe("what a source update waits for", () => {
  test("[EX-V9] a handler's body that runs: nothing moves under it", async () => {
    const { w, piece } = await counting();
    const slow = await w.create(patient);
    await w.settle();
    const open = lab.door("look");
    await w.fire(w.owner, slow, "look");
    await w.t.run();
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.t.run();
    expect([lab.runs.get("look"), patternOf(w, piece), asked.result]).toEqual([1, "1", undefined]);
    open();
    await w.settle();
    expect([asked.result?.changed, w.value(piece, "double")]).toEqual([true, 12]);
    await w.stop();
  });

  test("[EX-V9] a load of its document, which holds the space's park off and what is asked of the same piece", async () => {
    const loads = new HeldLoads();
    const w = await createWorld({ patterns: PATTERNS, loads });
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
    expect([patternOf(w, piece), w.value(piece, "double")]).toEqual(["3", 0]);
    await w.stop();
  });

  test("[EX-V9] a load that fails refuses it with that error", async () => {
    const loads = new HeldLoads();
    const w = await createWorld({ patterns: PATTERNS, loads });
    const piece = await w.create(counter);
    loads.fail(
      instanceKey(piece, SPACE_SCOPE_KEY),
      new StorageError("unreadable", { kind: "corrupt" }),
    );
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.settle();
    expect(asked.error).toMatchObject({ code: "storage" });
    expect(patternOf(w, piece)).toBe("1");
    await w.stop();
  });
});

describe("a source update under a cause", () => {
  test("[EX-V13] moves a pointer once, whatever somebody did with it since", async () => {
    const { w, piece } = await counting();
    const verb = setsrc(did(w), piece, counter2, { cause: "rollout 7" });
    const first = ask(w, verb);
    await w.settle();
    await w.owner.commit(w.space, swapped(piece, counter3));
    await w.settle();
    const again = ask(w, verb);
    await w.settle();
    expect([first.result?.changed, again.result]).toEqual([
      true,
      { seq: first.result?.seq as Seq, piece, changed: false },
    ]);
    expect([patternOf(w, piece), w.value(piece, "double")]).toEqual(["3", 20]);
    const other = ask(w, setsrc(did(w), piece, counter, { cause: "rollout 7" }));
    await w.settle();
    expect(other.error).toMatchObject({ code: "protocol", details: { path: ["cause"] } });
    await w.stop();
  });
});
