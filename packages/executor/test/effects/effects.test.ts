import type { DocId, JsonValue } from "@tidemark/protocol";
import { cell, computed, fetchData, handler, pattern } from "@tidemark/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { EffectError } from "../../src/index.js";
import { ManualPerformer } from "../../src/testing/index.js";
import { createWorld, nodeKey, type World, type WorldOptions } from "../support/world.js";

const page = pattern({
  id: "page",
  version: "1",
  build: () => {
    const url = cell("url", z.string(), { default: "https://x.test/1" });
    const other = cell("other", z.number(), { default: 0 });
    const data = fetchData("data", () => ({ url: url.get() }));
    const body = computed("body", () => data.get()?.result ?? null);
    const failed = computed("failed", () => data.get()?.error?.kind ?? null);
    const go = handler("go", z.string(), (to) => url.set(to));
    return { url, other, data, body, failed, go };
  },
});

interface Fetching extends World {
  readonly performer: ManualPerformer;
  readonly piece: DocId;
  outstanding(): readonly string[];
}

async function fetching(options: Partial<WorldOptions> = {}): Promise<Fetching> {
  const performer = new ManualPerformer();
  const w = await createWorld({ patterns: [page], effects: { fetchData: performer }, ...options });
  const piece = await w.create(page);
  await w.open(w.owner, piece, ["body", "failed"]);
  await w.settle();
  const outstanding = () => performer.outstanding().map(urlOf);
  return { ...w, performer, piece, outstanding };
}

function urlOf(call: { readonly request: JsonValue }): string {
  return (call.request as { readonly url: string }).url;
}

test("[EX-O1] a request leaves after its wave, and its answer is a commit of its own ahead of its readers", async () => {
  const w = await fetching();
  expect(w.outstanding()).toEqual(["https://x.test/1"]);
  expect(w.value(w.piece, "data")).toMatchObject({ pending: true });
  const before = w.head();

  w.performer.answer("one");
  await w.settle();

  expect(w.value(w.piece, "body")).toBe("one");
  const after = w.t.engines.get(w.space)?.commitsSince(before) ?? [];
  expect(after.map(({ class: kind }) => kind)).toEqual(["derived", "derived", "derived"]);
  expect(after[0]?.changes.map(({ id }) => id)).toEqual([nodeKey(w.piece, "data").slice(6)]);
  expect(after[0]?.watermark).toBeUndefined();
  expect(w.watermark()).toBe(after[1]?.seq);
  expect(w.host.spaceStats(w.space)).toMatchObject({
    memo: { hits: 1, misses: 1, inflight: 0 },
    outbox: { queued: 1, completed: 1, failed: 0, budgetDeferrals: 0, landing: 0 },
  });
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

  await w.write(w.owner, w.piece, "url", "https://x.test/2");
  await w.settle();
  expect(w.outstanding()).toEqual(["https://x.test/2"]);
  await w.stop();
});
