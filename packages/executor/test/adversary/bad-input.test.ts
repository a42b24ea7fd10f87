import { describe, expect, test } from "vitest";
import {
  nodeIdFor,
  streamIdFor,
  type EventId,
  pieceIdFor,
  toLinkValue,
  type DocId,
  type JsonValue,
} from "@tidemark/protocol";
import { describePiece } from "@tidemark/runtime";
import { counter, lab } from "../support/patterns.js";
import { createWorld, type World } from "../support/world.js";
import { follower, NO_JSON, rogue, THROWN, unbuildable } from "./patterns.js";

const LONG_MS = 30_000;
/** Macrotasks enough for a few waves. */
const TURNS = 30;

async function setDoc(w: World, id: DocId, value: JsonValue): Promise<void> {
  const answer = await w.owner.commit(w.space, { ops: [{ op: "set", id, value }] });
  if (!answer.ok) throw new Error(answer.error.message);
}

/** The space still takes an event of another piece, and W covers everything. */
async function stillServes(w: World, witness: DocId): Promise<void> {
  const before = (w.value(witness, "count") as number | undefined) ?? 0;
  const id = await w.fire(w.owner, witness, "inc");
  await w.settle(LONG_MS);
  expect(w.value(witness, "count")).toBe(before + 1);
  expect(w.naming(id)).toBe(1);
  expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
}

const stand = async (...patterns: Parameters<typeof createWorld>[0]["patterns"]) => {
  const w = await createWorld({ patterns: [counter, ...patterns] });
  const witness = await w.create(counter, "witness");
  return { w, witness };
};

describe("a piece document that is none", () => {
  const good = (id: DocId) => describePiece(rogue, {}, id) as unknown as Record<string, JsonValue>;
  const garbage: readonly ((id: DocId) => JsonValue)[] = [
    () => ({ pattern: 7 }),
    () => 7,
    () => null,
    () => [],
    () => "piece",
    () => ({}),
    () => ({ pattern: { id: "rogue" } }),
    () => ({ pattern: { id: "__proto__", version: "constructor" } }),
    () => ({ pattern: { id: "toString", version: "1" }, argument: {}, result: {}, internal: {} }),
    (id) => ({ ...good(id), argument: 7 }),
    (id) => ({ ...good(id), result: 7 }),
    (id) => ({ ...good(id), result: { n: toLinkValue({ id }) } }),
    (id) => ({ ...good(id), internal: null }),
    (id) => toLinkValue({ id }),
  ];

  test("[EX-P3] garbage in a piece's document stops that piece alone, and put right it goes on", async () => {
    const { w, witness } = await stand(rogue);
    const piece = await w.create(rogue);
    await w.open(w.owner, piece, ["double", "n"]);
    await w.settle();
    let counted = 0;
    for (const make of garbage) {
      await setDoc(w, piece, make(piece));
      await stillServes(w, witness);
      const id = await w.fire(w.owner, piece, "inc");
      await w.settle(LONG_MS);
      await stillServes(w, witness);
      await setDoc(w, piece, good(piece));
      await w.settle(LONG_MS);
      const entry = w.entry(piece, "inc", id);
      expect(entry?.consequenced, JSON.stringify(make(piece))).toBe(true);
      if (entry?.status === undefined) counted += 1;
      await w.fire(w.owner, piece, "inc");
      counted += 1;
      await w.settle(LONG_MS);
      expect(w.value(piece, "n"), JSON.stringify(make(piece))).toBe(counted);
      expect(w.value(piece, "double")).toBe(counted * 2);
    }
    await w.stop();
  });

  test("[EX-P3] deleted under pending events, its events drop with a notice and nobody else's", async () => {
    const { w, witness } = await stand(rogue);
    const piece = await w.create(rogue);
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    w.t.gates.hold("drain:before-queue");
    const lost = await w.fire(w.owner, piece, "inc");
    const other = await w.fire(w.owner, witness, "inc");
    expect((await w.owner.commit(w.space, { ops: [{ op: "delete", id: piece }] })).ok).toBe(true);
    w.t.gates.release("drain:before-queue");
    await w.settle(LONG_MS);
    expect(w.entry(piece, "inc", lost)?.consequenced).toBe(true);
    expect(w.entry(witness, "inc", other)).toMatchObject({ consequenced: true });
    await stillServes(w, witness);
    await w.stop();
  });

  test("[EX-P3] a pointer to a version that is unknown or cannot be built leaves the space serving", async () => {
    const { w, witness } = await stand(rogue, unbuildable);
    const piece = await w.create(rogue);
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    for (const version of ["2", "none"]) {
      const value = { ...good(piece), pattern: { id: "rogue", version } };
      await setDoc(w, piece, value);
      await stillServes(w, witness);
      const id = await w.fire(w.owner, piece, "inc");
      await w.settle(LONG_MS);
      expect(w.entry(piece, "inc", id)?.consequenced).toBe(true);
      await stillServes(w, witness);
    }
    await setDoc(w, piece, good(piece));
    const id = await w.fire(w.owner, piece, "inc");
    await w.settle(LONG_MS);
    expect(w.entry(piece, "inc", id)).toMatchObject({ consequenced: true });
    expect(w.entry(piece, "inc", id)?.status).toBeUndefined();
    await w.stop();
  });
});

describe("code that misbehaves", () => {
  test("[EX-E8] whatever a handler throws is its event's error, written in bounded, sound text", async () => {
    const { w, witness } = await stand(rogue);
    const piece = await w.create(rogue);
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    for (const name of Object.keys(THROWN)) {
      const id = await w.fire(w.owner, piece, "toss", name);
      await w.settle(LONG_MS);
      const entry = w.entry(piece, "toss", id);
      expect(entry, name).toMatchObject({ consequenced: true, status: "errored" });
      expect(entry?.error?.length ?? 0, name).toBeLessThan(20_000);
      expect(w.value(piece, "n"), name).toBeUndefined();
    }
    await stillServes(w, witness);
    await w.stop();
  });

  test("[EX-E8] what is no JSON is an error where it is written, answered or sent, and nothing of the run lands", async () => {
    const { w, witness } = await stand(rogue);
    const piece = await w.create(rogue);
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    for (const name of Object.keys(NO_JSON)) {
      for (const how of ["put", "answer", "sendOdd"]) {
        const id = await w.fire(w.owner, piece, how, name);
        await w.settle(LONG_MS);
        const entry = w.entry(piece, how, id);
        expect(entry, `${how} ${name}`).toMatchObject({ consequenced: true, status: "errored" });
        expect(w.value(piece, "n"), `${how} ${name}`).toBeUndefined();
      }
    }
    await stillServes(w, witness);
    await w.stop();
  });

  test("[EX-E8] a computed that throws or makes no JSON keeps its last value, and the space goes on", async () => {
    const { w, witness } = await stand(rogue);
    const piece = await w.create(rogue);
    await w.open(w.owner, piece, ["odd", "double"]);
    await w.settle();
    for (const name of [...Object.keys(THROWN), ...Object.keys(NO_JSON)]) {
      await w.write(w.owner, piece, "which", name);
      await stillServes(w, witness);
      expect(w.value(piece, "odd"), name).toBe(0);
      await w.write(w.owner, piece, "which", "");
      await w.settle();
    }
    await w.write(w.owner, piece, "n", 4);
    await w.settle();
    expect([w.value(piece, "odd"), w.value(piece, "double")]).toEqual([4, 8]);
    await w.stop();
  });

  test("[EX-E9] an event that sends itself again for ever shares the space: somebody else's click is served between its turns", async () => {
    const { w, witness } = await stand(rogue);
    lab.spend = (ms) => w.t.clock.spend(ms);
    const piece = await w.create(rogue);
    await w.open(w.owner, piece, ["double"]);
    await w.settle();
    const append = { localSeq: w.owner.localSeq(), stream: streamIdFor(piece, "again") };
    const entry = { eventId: "forever" as EventId, payload: 0 };
    w.owner.post("append", { space: w.space, append: { ...append, entry } });
    for (let turn = 0; turn < TURNS; turn += 1) await w.t.clock.runImmediates();
    const id = "click" as EventId;
    w.owner.post("append", {
      space: w.space,
      append: {
        localSeq: w.owner.localSeq(),
        stream: streamIdFor(witness, "inc"),
        entry: { eventId: id, payload: null },
      },
    });
    for (let turn = 0; turn < TURNS; turn += 1) await w.t.clock.runImmediates();
    expect(w.value(witness, "count")).toBe(1);
    expect(w.naming(id)).toBe(1);
    w.t.gates.hold("wave:before-commit");
    for (let turn = 0; turn < TURNS; turn += 1) await w.t.clock.runImmediates();
  });
});

describe("links in a circle", () => {
  test("[EX-P4] arguments that lead to each other are a cycle of computeds: reported, and nobody else is held", async () => {
    const { w, witness } = await stand(follower);
    const [p, q] = [pieceIdFor({ name: "p" }), pieceIdFor({ name: "q" })];
    const from = (id: DocId) => ({ from: toLinkValue({ id: nodeIdFor(id, "out") }) });
    await w.create(follower, "p", from(q));
    await w.create(follower, "q", from(p));
    await w.create(follower, "self", from(pieceIdFor({ name: "self" })));
    await w.open(w.owner, p, ["out"]);
    await w.settle();
    const id = await w.fire(w.owner, p, "inc");
    await w.settle(2_000);
    expect(w.entry(p, "inc", id)).toMatchObject({ consequenced: true });
    const before = w.value(witness, "count") ?? 0;
    await w.fire(w.owner, witness, "inc");
    await w.settle(2_000);
    expect(w.value(witness, "count")).toBe((before as number) + 1);
    await w.stop();
  });

  test("[EX-P4] a cell that links itself is an error for who follows it, and no hang", async () => {
    const { w, witness } = await stand(rogue);
    const piece = await w.create(rogue);
    await w.open(w.owner, piece, ["any", "double"]);
    const self = toLinkValue({ id: nodeIdFor(piece, "any") });
    for (const value of [self, [self], { a: { b: self } }]) {
      await w.write(w.owner, piece, "any", value as JsonValue);
      const id = await w.fire(w.owner, piece, "link");
      await w.settle(LONG_MS);
      expect(w.entry(piece, "link", id)).toMatchObject({ consequenced: true });
      await stillServes(w, witness);
    }
    await w.stop();
  });
});

test("[EX-H15] a stop is over in bounded time though a handler never settles, and the next host goes on", async () => {
  const { w } = await stand(rogue);
  const piece = await w.create(rogue);
  await w.open(w.owner, piece, ["double"]);
  await w.settle();
  await w.fire(w.owner, piece, "never");
  const later = await w.fire(w.owner, piece, "inc");
  await w.t.clock.advance(1_000);
  let stopped = false;
  const stopping = w.host.stop().then(() => (stopped = true));
  void w.host.stop();
  await w.t.clock.advance(10_000);
  await stopping;
  expect(stopped).toBe(true);
  expect(w.t.engines.get(w.space)?.lease.current()?.live ?? false).toBe(false);
  expect(w.naming(later)).toBe(0);
  await w.stop();
});
