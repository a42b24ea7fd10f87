import { nodeIdFor } from "@tidemark/protocol";
import { generateText, pattern } from "@tidemark/runtime";
import { describe, expect, test } from "vitest";
import { EffectError } from "../../src/index.js";
import { fetching, io } from "../support/effects.js";
import { lab } from "../support/patterns.js";
import { createWorld, nodeKey } from "../support/world.js";

describe("a request and its answer", () => {
  test("[EX-O1] a request leaves after its wave, and its answer is a commit of its own ahead of its readers", async () => {
    const w = await fetching();
    expect(w.outstanding()).toEqual(["1"]);
    expect(w.performer.calls[0]).toMatchObject({
      builtIn: "fetchData",
      space: w.space,
      reader: undefined,
      target: nodeKey(w.piece, "data"),
      request: { url: "https://x.test/1", method: "GET" },
    });
    expect(w.value(w.piece, "data")).toMatchObject({ pending: true });
    const before = w.head();
    const counted = w.host.spaceStats(w.space).derivedCommits;

    w.performer.answer("one");
    await w.settle();

    expect(w.value(w.piece, "body")).toBe("one");
    const after = w.t.engines.get(w.space)?.commitsSince(before) ?? [];
    expect(after.map(({ class: kind }) => kind)).toEqual(["derived", "derived", "derived"]);
    expect(after.map(({ changes }) => changes.map(({ id }) => id))).toEqual([
      [nodeIdFor(w.piece, "data")],
      [nodeIdFor(w.piece, "body")],
      ["sys:watermark"],
    ]);
    expect(w.watermark()).toBe(after[1]?.seq);
    expect(w.host.spaceStats(w.space).derivedCommits - counted).toBe(3);
    await w.stop();
  });

  test("[EX-O2] a failure is remembered as an answer is, and no timer asks again", async () => {
    const w = await fetching();
    w.performer.fail(new EffectError("no route", { kind: "network" }));
    await w.settle();
    expect(w.value(w.piece, "data")).toMatchObject({
      pending: false,
      error: { kind: "network", message: "no route" },
    });
    expect(w.value(w.piece, "failed")).toBe("network");
    await w.settle(3_600_000);
    expect(w.performer.calls).toHaveLength(1);

    await w.ask("2");
    expect(w.outstanding()).toEqual(["2"]);
    await w.stop();
  });

  test("[EX-O4] there and back again takes the first answer, and a late one lands nowhere", async () => {
    const w = await fetching();
    await w.ask("2");
    await w.ask("1");
    expect(w.outstanding()).toEqual(["1", "2"]);
    const before = w.derived();

    w.performer.answer("two", w.performer.calls[1]);
    await w.settle();
    expect(w.derived()).toBe(before);
    expect(w.value(w.piece, "data")).toMatchObject({ pending: true });
    w.performer.answer("one");
    await w.settle();
    expect(w.value(w.piece, "body")).toBe("one");
    expect(w.host.spaceStats(w.space).memo.inflight).toBe(0);

    // A key whose late answer was turned away can be asked for again.
    await w.ask("2");
    expect(w.outstanding()).toEqual(["2"]);
    await w.stop();
  });

  test("[EX-O11] an answer waits for the sealed writes over its document, and no marker comes after it", async () => {
    const w = await fetching();
    w.t.gates.hold("wave:before-commit");
    await w.ask("2");
    w.performer.answer("one");
    await w.settle();
    expect(w.host.spaceStats(w.space).outbox.landing).toBe(1);
    w.t.gates.release("wave:before-commit");
    await w.settle();

    // The wave selected another request: the answer to the first is nobody's.
    expect(w.value(w.piece, "body")).toBeNull();
    expect(w.outstanding()).toEqual(["2"]);
    w.performer.answer("two");
    await w.settle();
    expect(w.value(w.piece, "body")).toBe("two");
    await w.stop();
  });

  test("[EX-O11] an answer that races a wave which is then lost is not torn from its key", async () => {
    const w = await fetching();
    w.t.gates.hold("wave:before-commit");
    await w.ask("2");
    w.performer.answer("one");
    await w.settle();
    w.t.gates.fail("wave:before-commit", io);
    await w.ask("3");
    w.t.gates.release("wave:before-commit");
    await w.settle(10_000);

    for (const url of ["1", "2", "1"]) {
      await w.ask(url);
      while (w.outstanding().length > 0) w.performer.answer(`answer ${w.outstanding()[0] ?? ""}`);
      await w.settle();
    }
    expect(w.value(w.piece, "body")).toBe("answer 1");
    expect(w.value(w.piece, "data")).toMatchObject({ pending: false, result: "answer 1" });
    expect(w.host.spaceStats(w.space).memo.inflight).toBe(0);
    await w.stop();
  });

  test("[EX-O11] an answer that waited for a wave is looked at again once that is decided", async () => {
    const w = await fetching();
    w.performer.answer("one");
    await w.settle();
    const close = lab.door("peek");
    close();
    await w.fire(w.owner, w.piece, "peek");
    await w.settle();
    await w.ask("2");
    w.performer.answer("two", nodeKey(w.piece, "data"));
    await w.settle();
    expect(w.outstanding()).toEqual(["1"]);

    // The node that nobody demands selects its next request under a body, between two cycles.
    const open = lab.door("peek");
    await w.fire(w.owner, w.piece, "peek");
    await w.settle();
    w.performer.answer("late");
    await w.settle();
    open();
    await w.settle();
    expect(w.outstanding()).toEqual(["2"]);
    expect(w.value(w.piece, "lazy")).toMatchObject({ pending: true });
    const { outbox, memo } = w.host.spaceStats(w.space);
    expect([outbox.landing, memo.inflight]).toEqual([0, 1]);
    await w.stop();
  });

  test("[EX-O16] the loop waits for no call", async () => {
    const w = await fetching();
    const id = await w.fire(w.owner, w.piece, "inc");
    await w.settle(0);
    expect(w.entry(w.piece, "inc", id)?.consequenced).toBe(true);
    expect(w.outstanding()).toEqual(["1"]);
    await w.stop();
  });

  test("[EX-O16] nothing of an answer moves under a body that waits", async () => {
    const w = await fetching();
    const open = lab.door("read");
    await w.fire(w.owner, w.piece, "read");
    await w.settle();
    w.performer.answer("one");
    await w.settle();
    expect(w.value(w.piece, "data")).toMatchObject({ pending: true });
    open();
    await w.settle();
    expect(w.value(w.piece, "seen")).toEqual([true, true]);
    expect(w.value(w.piece, "body")).toBe("one");
    await w.stop();
  });

  test("[EX-O17] whatever is written over an answer, the answer comes back", async () => {
    const w = await fetching();
    w.performer.answer("one");
    await w.settle();
    await w.write(w.owner, w.piece, "data", { pending: true, requestHash: "mine" });
    await w.settle();
    expect(w.outstanding()).toEqual(["1"]);
    w.performer.answer("one again");
    await w.settle();
    expect(w.value(w.piece, "body")).toBe("one again");
    await w.stop();
  });
});

describe("performers", () => {
  test("[EX-O13] an error that nobody named is remembered without its words, and reported", async () => {
    const w = await fetching();
    const secret = new Error("token sk-123 refused");
    w.performer.fail(secret);
    await w.settle();
    expect(w.value(w.piece, "data")).toMatchObject({ error: { kind: "unknown" } });
    expect(JSON.stringify(w.value(w.piece, "data"))).not.toContain("sk-123");
    expect(w.reports.filter(({ kind }) => kind !== "tenure-began")).toMatchObject([
      { kind: "effect-failed", builtIn: "fetchData", error: secret },
    ]);
    await w.stop();
  });

  test("[EX-O13] a performer that throws at once is one that fails", async () => {
    const w = await fetching({
      effects: {
        fetchData: {
          perform: () => {
            throw new EffectError("not today", { kind: "limit" });
          },
        },
      },
    });
    expect(w.value(w.piece, "failed")).toBe("limit");
    await w.stop();
  });

  test("[EX-O14] a built-in without a performer is an error, at once", async () => {
    const story = pattern({
      id: "story",
      version: "1",
      build: () => ({
        text: generateText("text", () => ({
          model: "m",
          messages: [{ role: "user", content: "once" }],
        })),
      }),
    });
    const w = await createWorld({ patterns: [story] });
    const piece = await w.create(story);
    await w.open(w.owner, piece, ["text"]);
    await w.settle();
    expect(w.value(piece, "text")).toMatchObject({
      pending: false,
      error: { kind: "refused", reason: "no-performer", message: /generateText/u },
    });
    await w.stop();
  });
});

describe("counters", () => {
  test("[EX-O19] hits and misses count runs, queued counts requests, and an end counts once", async () => {
    const w = await fetching();
    w.performer.answer("one");
    await w.settle();
    await w.ask("2");
    await w.write(w.owner, w.piece, "data", 7);
    await w.settle();
    w.performer.fail(new EffectError("no", { kind: "timeout" }));
    await w.settle();
    expect(w.host.spaceStats(w.space)).toMatchObject({
      // Each answer is looked up once by its node; the scribble is a third miss, attached to the call.
      memo: { hits: 2, misses: 3, inflight: 0 },
      outbox: { queued: 2, completed: 1, failed: 1, budgetDeferrals: 0, landing: 0 },
    });
    await w.stop();
  });

  test("[EX-O20] twenty inputs with an effect each stay within three derived commits an input", async () => {
    const w = await fetching();
    w.performer.answer(0);
    await w.settle();
    const before = w.host.spaceStats(w.space);
    for (let at = 2; at < 22; at += 1) {
      await w.ask(String(at));
      w.performer.answer(at);
      await w.settle();
    }
    const after = w.host.spaceStats(w.space);
    const derived = after.derivedCommits - before.derivedCommits;
    const advances = after.settleAdvances.count - before.settleAdvances.count;
    const authored = after.authoredSeen - before.authoredSeen - after.effectAcks;
    expect(authored).toBe(20);
    expect((derived - advances) / authored).toBeLessThanOrEqual(3);
    expect(w.value(w.piece, "body")).toBe(21);
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await w.stop();
  });
});
