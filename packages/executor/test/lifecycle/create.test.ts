import { beforeEach, describe, expect, test } from "vitest";
import { ACL_DOC, nodeIdFor, pieceIdFor, SPACE_SCOPE_KEY, streamIdFor } from "@tidemark/protocol";
import type { AdmissionNotice } from "@tidemark/memory-engine";
import { cell, computed, describePiece, pattern } from "@tidemark/runtime";
import { z } from "zod";
import { counter, lab } from "../support/patterns.js";
import {
  ask,
  create,
  document,
  engineOf,
  swapped,
  THE_PIECE,
  writtenAfter,
} from "../support/verbs.js";
import { createWorld, nodeKey } from "../support/world.js";

beforeEach(() => lab.runs.clear());

/** Has an argument, and shows what it makes of it. */
const greeting = pattern({
  id: "greeting",
  version: "1",
  argument: z.object({ name: z.string(), mark: z.string().default("!") }),
  build: ({ argument }) => {
    const heard = cell("heard", z.number(), { default: 0 });
    const said = computed("said", () => `hello ${argument.get().name}${argument.get().mark}`);
    return { heard, said };
  },
});

const NAME = { id: "counter", version: "1" };
const did = (w: Awaited<ReturnType<typeof createWorld>>) => w.owner.identity.did;

describe("a verb", () => {
  test("[EX-V1] activates a parked space, seals into the wave of its cycle, and is answered with that wave's commit", async () => {
    const w = await createWorld({ patterns: [counter] });
    expect(w.host.isActive(w.space)).toBe(false);
    w.t.gates.hold("wave:before-commit");
    const asked = ask(w, create(did(w), counter));
    await w.t.run();
    // Sealed, and not durable: there is no answer yet.
    expect([w.host.isActive(w.space), document(w, THE_PIECE), asked.result]).toEqual([
      true,
      undefined,
      undefined,
    ]);
    w.t.gates.hold("wave:after-commit");
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    expect([document(w, THE_PIECE) === undefined, asked.result]).toEqual([false, undefined]);
    w.t.gates.release("wave:after-commit");
    await w.t.run();
    expect(asked.result).toEqual({ seq: 2, piece: THE_PIECE, changed: true });
    await w.stop();
  });

  test("[EX-V1] runs ahead of the drain, and the events that wait for a tenure are of the same wave", async () => {
    const w = await createWorld({ patterns: [counter] });
    const piece = await w.create(counter);
    await w.settle();
    w.t.gates.hold("activate:after-lease");
    const e1 = await w.fire(w.owner, piece, "inc");
    const asked = ask(w, create(did(w), counter));
    w.t.gates.hold("drain:before-queue");
    w.t.gates.release("activate:after-lease");
    await w.t.run();
    expect([w.t.gates.waiting("drain:before-queue"), w.host.held(w.space)]).toEqual([1, 1]);
    w.t.gates.open();
    await w.settle();
    const wave = engineOf(w)
      .commitsSince(asked.result?.seq === undefined ? w.head() : ((asked.result.seq - 1) as never))
      .at(0);
    expect(wave).toMatchObject({ seq: asked.result?.seq, consequenceOf: [e1] });
    expect(wave?.changes.map(({ id }) => id)).toContain(THE_PIECE);
    await w.stop();
  });

  test("[EX-V2] whose wave has committed is told of as a warm notice of what it staged, and the next cycle derives that", async () => {
    const w = await createWorld({ patterns: [greeting] });
    const notices: AdmissionNotice[] = [];
    const listening = w.t.server.onAdmission((notice) => void notices.push(notice));
    const asked = ask(w, create(did(w), greeting, { argument: { name: "ana" } }));
    await w.settle();
    const warm = notices.filter(({ reason }) => reason === "warm");
    expect(warm).toHaveLength(1);
    expect(warm[0]?.commit?.seq).toBe(asked.result?.seq);
    expect(new Set(warm[0]?.instances)).toEqual(
      new Set([
        `${SPACE_SCOPE_KEY} ${THE_PIECE}`,
        nodeKey(THE_PIECE, "heard"),
        nodeKey(THE_PIECE, "said"),
      ]),
    );
    expect(w.value(THE_PIECE, "said")).toBe("hello ana!");
    // In a wave of its own, behind the verb's.
    expect(writtenAfter(w, asked.result?.seq as never)[0]).toContain(nodeIdFor(THE_PIECE, "said"));
    listening.close();
    await w.stop();
  });

  test("[EX-V2] leaves nothing behind: the space parks once what was staged is derived", async () => {
    const w = await createWorld({ patterns: [counter], policy2: { parkedRuntimeRetentionMs: 0 } });
    ask(w, create(did(w), counter));
    await w.settle();
    expect(w.value(THE_PIECE, "double")).toBe(0);
    await w.settle(120_000);
    expect([w.host.isActive(w.space), w.host.held(w.space)]).toEqual([false, 0]);
    expect(engineOf(w).lease.current()).toBeUndefined();
    expect(w.t.clock.pendingTimers()).toBe(0);
    await w.stop();
  });

  test("[EX-V14] that settled is counted", async () => {
    const w = await createWorld({ patterns: [counter] });
    ask(w, create(did(w), counter));
    ask(w, create(did(w), counter, { cause: "another" }));
    await w.settle();
    await w.owner.commit(w.space, { ops: [{ op: "delete", id: THE_PIECE } as never] });
    ask(w, create(did(w), counter));
    await w.settle();
    expect(w.host.spaceStats(w.space)).toMatchObject({ lifecycleVerbs: 2, directCommits: 0 });
    await w.stop();
  });
});

describe("a creation", () => {
  test("[EX-V3] writes the document that a client's creation writes, attributed to its principal", async () => {
    const w = await createWorld({ patterns: [greeting] });
    const argument = { name: "ben", mark: "?" };
    const asked = ask(w, create(did(w), greeting, { argument }));
    await w.settle();
    expect(document(w, THE_PIECE)).toEqual(describePiece(greeting, argument, THE_PIECE));
    const [made] = engineOf(w).history(THE_PIECE, SPACE_SCOPE_KEY);
    expect(made).toMatchObject({
      seq: asked.result?.seq,
      class: "derived",
      holder: w.host.holder,
      attribution: { user: did(w) },
    });
    await w.stop();
  });

  test("[EX-V3] of a cause that stands is answered with its seq, and changes nothing", async () => {
    const w = await createWorld({ patterns: [counter, greeting] });
    const first = ask(w, create(did(w), counter));
    const beside = ask(w, create(did(w), counter));
    await w.settle();
    const later = ask(w, create(did(w), greeting, { argument: { name: "x" } }));
    await w.settle();
    const seq = first.result?.seq;
    expect([first.result?.changed, beside.result, later.result]).toEqual([
      true,
      { seq, piece: THE_PIECE, changed: false },
      { seq, piece: THE_PIECE, changed: false },
    ]);
    expect(engineOf(w).history(THE_PIECE, SPACE_SCOPE_KEY)).toHaveLength(1);
    await w.stop();
  });

  test("[EX-V3] without a cause is a piece of its own, and one of a removed piece's cause is refused", async () => {
    const w = await createWorld({ patterns: [counter] });
    const { cause: _cause, ...anew } = create(did(w), counter);
    const asked = [ask(w, anew), ask(w, anew)];
    ask(w, create(did(w), counter));
    await w.settle();
    expect(new Set(asked.map(({ result }) => result?.piece)).size).toBe(2);
    await w.owner.commit(w.space, { ops: [{ op: "delete", id: THE_PIECE } as never] });
    await w.settle();
    const again = ask(w, create(did(w), counter));
    await w.settle();
    expect(again.error).toMatchObject({ code: "unknown-piece", details: { piece: THE_PIECE } });
    await w.stop();
  });

  test("[EX-V10] that a client overtook is decided again in the next cycle, and finds the client's", async () => {
    const w = await createWorld({ patterns: [counter, greeting] });
    const beside = await w.create(counter);
    await w.settle();
    w.t.gates.hold("activate:after-lease");
    w.t.gates.hold("wave:before-commit");
    // An event of another piece is of the same wave, and lands with it.
    const e1 = await w.fire(w.owner, beside, "inc");
    const asked = ask(w, create(did(w), counter));
    w.t.gates.release("activate:after-lease");
    await w.t.run();
    const theirs = await w.owner.commit(w.space, swapped(THE_PIECE, greeting, { name: "ana" }));
    w.t.gates.release("wave:before-commit");
    await w.settle();
    const seq = theirs.ok ? theirs.result.seq : undefined;
    expect(asked.result).toEqual({ seq, piece: THE_PIECE, changed: false });
    expect(document(w, THE_PIECE)).toMatchObject({ pattern: { id: "greeting" } });
    expect([w.naming(e1), w.value(beside, "count")]).toEqual([1, 1]);
    await w.stop();
  });

  test("[EX-V10] that a client overtook and removed is refused as removed", async () => {
    const w = await createWorld({ patterns: [counter] });
    w.t.gates.hold("wave:before-commit");
    const asked = ask(w, create(did(w), counter));
    await w.t.run();
    await w.owner.commit(w.space, swapped(THE_PIECE, counter));
    await w.owner.commit(w.space, { ops: [{ op: "delete", id: THE_PIECE } as never] });
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(asked.error).toMatchObject({ code: "unknown-piece" });
    expect(document(w, THE_PIECE)).toBeUndefined();
    await w.stop();
  });

  test("[EX-V1] answers the events that were sent to it before it stood", async () => {
    const w = await createWorld({ patterns: [counter] });
    const e1 = await w.fire(w.owner, THE_PIECE, "inc");
    const asked = ask(w, create(did(w), counter));
    await w.settle();
    expect(asked.result?.changed).toBe(true);
    expect([w.value(THE_PIECE, "count"), w.naming(e1)]).toEqual([1, 1]);
    expect(streamIdFor(THE_PIECE, "inc")).toBe(streamIdFor(pieceIdFor("the piece"), "inc"));
    await w.stop();
  });
});

describe("whose a verb is", () => {
  test("[EX-V4] one whom the list denies writing is refused, and nothing is written", async () => {
    const w = await createWorld({ patterns: [counter] });
    const cy = w.t.identity("cy").did;
    await w.owner.commit(w.space, {
      ops: [{ op: "set", id: ACL_DOC, value: { [did(w)]: "OWNER", [cy]: "READ" } }] as never,
    });
    const asked = ask(w, create(cy, counter));
    await w.settle();
    expect(asked.error).toMatchObject({
      code: "unauthorized",
      details: { permanentEvidence: true, aclRevision: 2 },
    });
    expect(document(w, THE_PIECE)).toBeUndefined();
    await w.stop();
  });

  test("[EX-V4] who lost the right between the seal and the wave's commit is refused all the same", async () => {
    const w = await createWorld({ patterns: [counter] });
    const cy = w.t.identity("cy").did;
    w.t.gates.hold("wave:before-commit");
    const asked = ask(w, create(cy, counter));
    await w.t.run();
    await w.owner.commit(w.space, {
      ops: [{ op: "set", id: ACL_DOC, value: { [did(w)]: "OWNER", [cy]: "READ" } }] as never,
    });
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(asked.error).toMatchObject({ code: "unauthorized" });
    expect(document(w, THE_PIECE)).toBeUndefined();
    await w.stop();
  });
});

test("[EX-V3] in a wave that is split is answered with the commit that holds it", async () => {
  const w = await createWorld({ patterns: [counter], policy2: { waveMaxBytes: 1 } });
  const beside = await w.create(counter);
  w.t.gates.hold("activate:after-lease");
  const e1 = await w.fire(w.owner, beside, "inc");
  const before = w.head();
  const asked = ask(w, create(did(w), counter));
  w.t.gates.release("activate:after-lease");
  await w.settle();
  const commits = engineOf(w).commitsSince(before);
  const holding = commits.filter(({ changes }) => changes.some(({ id }) => id === THE_PIECE));
  expect(holding.map(({ seq }) => seq)).toEqual([asked.result?.seq]);
  expect(commits.filter(({ consequenceOf }) => consequenceOf?.includes(e1))).toHaveLength(2);
  await w.stop();
});

test("[EX-V4] who lost the right by another process's commit, which nobody here was told of, is refused at once", async () => {
  const w = await createWorld({ patterns: [counter] });
  const cy = w.t.identity("cy").did;
  w.t.gates.hold("wave:before-commit");
  const asked = ask(w, create(cy, counter));
  await w.t.run();
  engineOf(w).transact((tx) => {
    const value = { [did(w)]: "OWNER", [cy]: "READ" } as never;
    tx.write({ id: ACL_DOC, scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value } });
    tx.commit({ class: "authored", principal: did(w) });
  });
  w.t.gates.release("wave:before-commit");
  await w.t.run();
  expect(asked.error).toMatchObject({ code: "unauthorized" });
  await w.stop();
});

describe("what cannot be asked for", () => {
  test.each([
    ["a pattern nobody has", { pattern: { ...NAME, version: "9" } }, "unknown-pattern"],
    ["an argument that does not fit", { argument: { name: 1 } }, "protocol"],
    ["everybody, as a principal", { argument: { name: "a" }, principal: "*" as never }, "protocol"],
    [
      "a verb that there is none of",
      { verb: "delete" as never, pattern: undefined as never },
      "protocol",
    ],
    ["a cause that is no JSON", { argument: { name: "a" }, cause: (() => 1) as never }, "value"],
  ])("[EX-V5] %s is refused, and the space is not activated for it", async (_what, rest, code) => {
    const w = await createWorld({ patterns: [greeting] });
    const asked = ask(w, create(did(w), greeting, rest));
    await w.t.run();
    expect(asked.error).toMatchObject({ code });
    expect(w.t.gates.arrivals("activate:after-lease")).toBe(0);
    await w.stop();
  });

  test("[EX-V5] no store is made for a space that is not there", async () => {
    const w = await createWorld({ patterns: [counter] });
    const nowhere = w.t.identity("nowhere").did as never;
    await expect(w.host.lifecycle(nowhere, create(did(w), counter))).rejects.toMatchObject({
      code: "not-served",
      details: { reason: "unknown-space" },
    });
    expect(w.t.server.exists(nowhere)).toBe(false);
    await w.stop();
  });
});
