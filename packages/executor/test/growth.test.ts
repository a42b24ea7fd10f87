import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { nodeIdFor, toLinkValue, type DocId, type JsonValue } from "@tidemark/protocol";
import { cell, pattern } from "@tidemark/runtime";
import { counter, lab } from "./support/patterns.js";
import { createWorld, nodeKey, type World } from "./support/world.js";

beforeEach(() => lab.runs.clear());

/** A list of links, which a watch follows. */
const shelf = pattern({
  id: "shelf",
  version: "1",
  build: () => ({ items: cell("items", z.array(z.unknown()), { default: [] }) }),
});

async function world(): Promise<{ w: World; list: DocId; item: DocId }> {
  const w = await createWorld({ patterns: [shelf, counter] });
  const list = await w.create(shelf);
  const item = await w.create(counter);
  await w.write(w.owner, list, "items", []);
  const root = { id: nodeIdFor(list, "items") };
  const watches = [{ id: "items", root, selector: { kind: "any" as const } }];
  await w.owner.call("space.open", { space: w.space, watches });
  await w.settle();
  return { w, list, item };
}

const linkTo = (piece: DocId, node: string): JsonValue =>
  toLinkValue({ id: nodeIdFor(piece, node) });

test("[EX-N4] what a value makes reachable is demand one push later, and lands in a later derived commit", async () => {
  const { w, list, item } = await world();
  const before = w.head();
  // What stood when the tenure began is no wake: its first pass takes it in.
  const { demand } = w.host.spaceStats(w.space);
  expect([demand.watchWakes, demand.pushGrowthWakes]).toEqual([0, 0]);
  await w.write(w.owner, list, "items", [linkTo(item, "double")]);
  await w.settle();
  expect(w.value(item, "double")).toBe(0);
  const commits = w.t.engines.get(w.space)?.commitsSince(before) ?? [];
  const derived = commits.find(({ changes }) =>
    changes.some(({ id }) => id === nodeIdFor(item, "double")),
  );
  const covering = commits.find((one) => (one.watermark ?? 0) > before);
  expect(derived?.seq).toBeGreaterThan(covering?.seq ?? 0);
  const after = w.host.spaceStats(w.space).demand;
  expect([after.watchWakes, after.pushGrowthWakes]).toEqual([0, 1]);
  // A value alone changes nothing of what is demanded.
  await w.write(w.owner, item, "count", 3);
  await w.settle();
  expect(w.value(item, "double")).toBe(6);
  expect(w.host.spaceStats(w.space).demand).toMatchObject({
    pushGrowthWakes: 1,
    demandKeysReconciled: after.demandKeysReconciled,
  });
  await w.stop();
});

test("[EX-S4] the input covered last before demand grew is structural growth once its landing has come; others are value-only", async () => {
  const { w, list, item } = await world();
  await w.write(w.owner, list, "items", [1]);
  await w.settle();
  const grown = await w.write(w.owner, list, "items", [linkTo(item, "double")]);
  await w.settle();
  const value = await w.write(w.owner, item, "count", 3);
  await w.settle();
  // What grew derives nothing: a plain cell has no writer, and so there is no landing.
  const bare = await w.write(w.owner, list, "items", [linkTo(item, "count")]);
  await w.settle();
  const { series } = w.host.spaceStats(w.space).settle;
  const classOf = (seq: number) => series.find((one) => one.seq === seq)?.class;
  expect(classOf(grown)).toBe("structural-growth");
  expect(series.find((one) => one.seq === grown)?.landedMs).toBeGreaterThanOrEqual(0);
  expect([classOf(value), classOf(bare)]).toEqual(["value-only", "value-only"]);
  expect(series.filter((one) => one.class === "structural-growth")).toHaveLength(1);
  await w.stop();
});

test("[EX-S5] an input settles from the notice of its admission, the wait for a barrier included, and once", async () => {
  const { w, item } = await world();
  const { gates, clock } = w.t;
  gates.hold("feed:before-apply");
  const first = await w.write(w.owner, item, "count", 1);
  await clock.advance(40);
  const second = await w.write(w.owner, item, "count", 2);
  await clock.advance(30);
  gates.release("feed:before-apply");
  await w.settle();
  const { series } = w.host.spaceStats(w.space).settle;
  const samplesOf = (seq: number) =>
    series.filter((one) => one.seq === seq).map(({ ms, cycles, waves }) => [ms, cycles, waves]);
  expect(samplesOf(first)).toEqual([[70, 1, 1]]);
  // The cycle that takes it in had begun.
  expect(samplesOf(second)).toEqual([[30, 0, 1]]);
  await w.stop();
});

test("[EX-N5] a wake counts as a watch, as growth or as a warm request, and as nothing where somebody only leaves", async () => {
  const { w, item } = await world();
  await w.owner.call("watch.set", { space: w.space, watches: [] });
  await w.owner.call("space.close", { space: w.space });
  await w.settle();
  w.host.warm(w.space, [nodeKey(item, "double")]);
  await w.settle();
  const { demand } = w.host.spaceStats(w.space);
  expect([demand.watchWakes, demand.pushGrowthWakes, demand.warmWakes]).toEqual([1, 0, 1]);
  expect(w.host.spaceStats(w.space).warmRequests).toBe(1);
  // Warm demand has no session, and no pair.
  expect([demand.demandedInstances, demand.demandedPairs, demand.demandedRows]).toEqual([1, 0, 0]);
  await w.stop();
});

test("[EX-N5] a warm request that its tenure did not answer is handed on, and was issued once", async () => {
  const { w, item } = await world();
  const counts = () => w.host.spaceStats(w.space);
  w.t.gates.fail("wave:before-commit", new Error("the disk is gone"));
  w.host.warm(w.space, [nodeKey(item, "double")]);
  await w.settle(5_000);
  expect(w.value(item, "double")).toBe(0);
  expect([counts().warmRequests, counts().demand.warmWakes]).toEqual([1, 2]);
  await w.stop();
});

test("[EX-N10] the writers that a session's demand has to run are counted by instance", async () => {
  const { w, item } = await world();
  const rearms = () => w.host.spaceStats(w.space).demand.notCurrentRearms;
  const before = rearms();
  const [ben, cy] = [await w.t.connected("ben"), await w.t.connected("cy")];
  await w.open(ben, item, ["double", "count"]);
  await w.settle();
  expect([rearms() - before, lab.runs.get("double")]).toEqual([1, 1]);
  await w.open(cy, item, ["double"]);
  await w.settle();
  expect([rearms() - before, lab.runs.get("double")]).toEqual([1, 1]);
  // Left by everybody, it misses what came meanwhile.
  for (const client of [ben, cy]) await client.call("space.close", { space: w.space });
  await w.write(w.owner, item, "count", 3);
  await w.settle();
  await w.open(cy, item, ["double"]);
  await w.settle();
  expect([rearms() - before, lab.runs.get("double")]).toEqual([2, 2]);
  await w.stop();
});

test("[EX-N11] notices of one turn are one pass, at once; input needs no notice", async () => {
  const { w, item } = await world();
  const passes = () => w.host.spaceStats(w.space).demand.demandPasses;
  const before = passes();
  const woken = w.host.spaceStats(w.space).demand.watchWakes;
  for (const name of ["count", "double", "inc", "bump", "double"]) {
    const watches = [{ id: name, root: { id: nodeIdFor(item, name) } }];
    w.owner.post("watch.set", { space: w.space, watches });
  }
  const at = w.t.clock.monotonic();
  await w.t.run();
  expect(w.host.spaceStats(w.space).demand.watchWakes - woken).toBeGreaterThan(1);
  expect(passes() - before).toBe(1);
  expect([w.value(item, "double"), w.t.clock.monotonic()]).toEqual([0, at]);
  await w.write(w.owner, item, "count", 3);
  expect(w.value(item, "double")).toBe(6);
  expect(passes() - before).toBe(1);
  await w.stop();
});
