import { beforeEach, describe, expect, test } from "vitest";
import {
  ACL_DOC,
  nodeIdFor,
  pieceIdFor,
  SPACE_SCOPE_KEY,
  toLinkValue,
  type DocId,
  type JsonValue,
  type Seq,
} from "@tidemark/protocol";
import {
  counting,
  counter3,
  MOVED,
  needy,
  onlooker,
  versionOf,
} from "../support/moved-patterns.js";
import { counter, counter2, lab } from "../support/patterns.js";
import { ask, commitsAfter, document, engineOf, setsrc, swapped } from "../support/verbs.js";
import { createWorld, type World } from "../support/world.js";

beforeEach(() => {
  lab.runs.clear();
  lab.doors.clear();
});

const did = (w: World) => w.owner.identity.did;

describe("a source update", () => {
  test("[EX-V6] commits on its own, and the first derivation under the new pattern lands in the same cycle", async () => {
    const { w, piece } = await counting();
    const before = w.head();
    const told: Seq[] = [];
    const feed = w.t.server.space(w.space).feed(before, ({ seq }) => void told.push(seq));
    w.t.gates.hold("verb:after-commit");
    const asked = ask(w, setsrc(did(w), piece, counter2));
    await w.t.run();
    // Durable, told to nobody, and the old graph is still the one that runs.
    expect([versionOf(w, piece), told, w.value(piece, "double"), asked.result]).toEqual([
      "2",
      [],
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
    feed.close();
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

  test("[EX-V6] is seen in that cycle by whatever reads the piece's document", async () => {
    const { w, piece } = await counting();
    const eye = await w.create(onlooker, "eye", { at: toLinkValue({ id: piece }) });
    await w.open(await w.t.connected("cy"), eye, ["version"]);
    await w.settle();
    expect(w.value(eye, "version")).toBe("1");
    w.t.gates.hold("wave:after-commit");
    ask(w, setsrc(did(w), piece, counter2));
    await w.t.run();
    expect(w.value(eye, "version")).toBe("2");
    w.t.gates.open();
    await w.settle();
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
    const w = await createWorld({ patterns: MOVED });
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
    ["has no document's id", "not an id" as DocId, counter2, "protocol"],
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
    expect([versionOf(w, piece), w.value(piece, "double")]).toEqual(["1", 10]);
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
    expect([versionOf(w, piece), w.value(piece, "double")]).toEqual(["3", 20]);
    const other = ask(w, setsrc(did(w), piece, counter, { cause: "rollout 7" }));
    await w.settle();
    expect(other.error).toMatchObject({ code: "protocol", details: { path: ["cause"] } });
    await w.stop();
  });
});
