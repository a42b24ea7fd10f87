import { beforeEach, expect, test } from "vitest";
import type { DocId } from "@tidemark/protocol";
import { cascade, chain, counter, lab } from "./support/patterns.js";
import { createWorld, type World } from "./support/world.js";

beforeEach(() => lab.runs.clear());

/** Derived commits for each input of people, advances and all. */
async function amplification(w: World, work: () => Promise<void>): Promise<number> {
  const before = w.host.spaceStats(w.space);
  await work();
  await w.settle();
  const after = w.host.spaceStats(w.space);
  const authored =
    after.authoredSeen - before.authoredSeen - (after.effectAcks - before.effectAcks);
  expect(authored).toBe(20);
  expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
  return (after.derivedCommits - before.derivedCommits) / authored;
}

async function world(): Promise<{ w: World; pieces: readonly DocId[] }> {
  const patterns = [counter, chain, cascade];
  const w = await createWorld({ patterns });
  const pieces: DocId[] = [];
  const watches: string[][] = [["double"], ["x", "y", "z"], ["q", "log"]];
  for (const [at, pattern] of patterns.entries()) {
    const piece = await w.create(pattern);
    pieces.push(piece);
    await w.open(await w.t.connected(`watcher${at}`), piece, watches[at] ?? []);
  }
  await w.settle();
  return { w, pieces };
}

test("[EX-L7] twenty inputs that each come to rest cost two derived commits apiece at most", async () => {
  const { w, pieces } = await world();
  const [count, line, relay] = pieces as [DocId, DocId, DocId];
  const ratio = await amplification(w, async () => {
    for (let at = 0; at < 20; at += 1) {
      if (at % 4 === 0) await w.write(w.owner, line, "n", at);
      else if (at % 4 === 1) await w.fire(w.owner, count, "inc");
      // Two handlers, one commit: the second is the first one's own.
      else if (at % 4 === 2) await w.fire(w.owner, relay, "first", at);
      // What changes nothing costs the watermark.
      else await w.write(w.owner, line, "n", at - 3);
      await w.settle();
    }
  });
  expect(ratio).toBeLessThanOrEqual(2);
  expect(ratio).toBeGreaterThan(1);
  await w.stop();
});

test("[EX-L7] twenty inputs in a row are one wave and one advance", async () => {
  const { w, pieces } = await world();
  const [count] = pieces as [DocId, ...DocId[]];
  const ratio = await amplification(w, async () => {
    w.t.gates.hold("feed:before-apply");
    for (let at = 0; at < 20; at += 1) await w.fire(w.owner, count, "inc");
    w.t.gates.open();
  });
  expect(ratio).toBe(2 / 20);
  await w.stop();
});

test("[EX-S6] what wakes a parked space is input too, and is seen once, whatever becomes of its tenure", async () => {
  const w = await createWorld({ patterns: [counter] });
  const piece = await w.create(counter);
  await w.fire(w.owner, piece, "inc");
  await w.settle();
  const before = w.host.spaceStats(w.space);
  // The space itself, its piece and the first click.
  expect([before.authoredSeen, before.events.appended]).toEqual([3, 1]);
  for (let at = 0; at < 3; at += 1) {
    await w.t.clock.advance(60_000);
    expect(w.host.isActive(w.space)).toBe(false);
    // The second one's tenure fails, and its successor takes over.
    if (at === 1) w.t.gates.fail("wave:before-commit", new Error("the disk is gone"));
    await w.fire(w.owner, piece, "inc");
    await w.settle(5_000);
  }
  expect(w.value(piece, "count")).toBe(4);
  const after = w.host.spaceStats(w.space);
  expect([
    after.authoredSeen - before.authoredSeen,
    after.events.appended - before.events.appended,
    after.events.processed - before.events.processed,
  ]).toEqual([3, 3, 3]);
  expect((after.derivedCommits - before.derivedCommits) / 3).toBeLessThanOrEqual(2);
  await w.stop();
});
