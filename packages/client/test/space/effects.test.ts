import {
  answeredValue,
  cell,
  computed,
  fetchData,
  handler,
  memoKey,
  pattern,
  pendingValue,
} from "@tidemark/runtime";
import type { PieceHandle, ResultOf } from "@tidemark/client";
import { expect, test } from "vitest";
import { z } from "zod";
import { record, set, World } from "../support/world.js";

const page = pattern({
  id: "page",
  version: "1",
  build: () => {
    const url = cell("url", z.string(), { default: "https://x.test/1" });
    const other = cell("other", z.number(), { default: 0 });
    const data = fetchData("data", () => (other.get() < 0 ? undefined : { url: url.get() }));
    const alone = fetchData("alone", () => ({ url: url.get() }));
    const body = computed("body", () => data.get()?.result ?? null);
    const sum = computed("sum", () => `${other.get()} ${data.get()?.requestHash ?? ""}`);
    const go = handler("go", z.string(), (to) => url.set(to));
    const count = handler("count", z.null(), () => other.increment());
    return { url, other, data, alone, body, sum, go, count };
  },
});

type Page = PieceHandle<ResultOf<typeof page>>;

async function opened() {
  const w = new World();
  const client = w.client("ana", "tab-1", { patterns: [page] });
  await w.found(client);
  const space = client.open(w.space);
  const { piece, created } = space.create(page, {}, { cause: "page" });
  await w.run();
  await created;
  w.piece = piece.id;
  const keyOf = (url: string, node = "data") =>
    memoKey({
      builtIn: "fetchData",
      request: { url, method: "GET" },
      target: w.key(node),
      space: w.space,
    });
  return { w, client, piece: piece as unknown as Page, keyOf };
}

const ONE = "https://x.test/1";
const TWO = "https://x.test/2";

test("[CL-E19] an effect whose request is another than the stored one is pending, and asks nobody", async () => {
  const { w, piece, keyOf } = await opened();
  await w.serve({
    writes: {
      data: set(answeredValue(keyOf(ONE), "one")),
      alone: set(answeredValue(keyOf(ONE, "alone"), "one")),
      body: set("one"),
    },
  });
  const data = piece.get("data");
  const body = piece.get("body");
  const alone = piece.get("alone");
  expect(data.value).toMatchObject({ pending: false, result: "one" });

  const event = piece.fire("go", TWO);
  await w.run();
  expect([data.pending, alone.pending]).toEqual([true, true]);
  expect(body.value).toBeNull();

  // The server's own marker takes over without a moment of the old answer.
  const seen = record(body);
  await w.serve({
    events: [event],
    writes: { url: set(TWO), data: set(pendingValue(keyOf(TWO))), body: set(null) },
  });
  expect(data.pending).toBe(true);
  await w.serve({ writes: { data: set(answeredValue(keyOf(TWO), "two")), body: set("two") } });
  expect(data.value).toMatchObject({ pending: false, result: "two" });
  expect(seen).toEqual([null, "two"]);
});

test("[CL-E20] an echo that leaves the request as it is holds no answer back", async () => {
  const { w, client, piece, keyOf } = await opened();
  await w.serve({ writes: { data: set(pendingValue(keyOf(ONE))), body: set(null) } });
  const data = piece.get("data");
  piece.fire("go", ONE);
  await w.run();
  expect(client.speculative).toBeGreaterThan(0);
  expect(data.pending).toBe(true);

  await w.serve({ writes: { data: set(answeredValue(keyOf(ONE), "one")) } });
  expect(client.speculative).toBeGreaterThan(0);
  expect(data.value).toMatchObject({ pending: false, result: "one" });
});

test("[CL-E20] a marker stands while its echo does, however often its node runs", async () => {
  const { w, piece, keyOf } = await opened();
  await w.serve({ writes: { data: set(answeredValue(keyOf(ONE), "one")), body: set("one") } });
  const data = piece.get("data");
  piece.fire("go", TWO);
  await w.run();
  const seen = record(data);
  piece.fire("count", null);
  await w.run();

  expect(data.pending).toBe(true);
  expect(seen).toEqual([undefined]);
});

test("[CL-E20] where the store ends at the request that is answered, its answer shows again", async () => {
  const { w, client, piece, keyOf } = await opened();
  await w.serve({
    writes: {
      data: set(answeredValue(keyOf(ONE), "one")),
      alone: set(answeredValue(keyOf(ONE, "alone"), "one")),
      body: set("one"),
      sum: set(`0 ${keyOf(ONE)}`),
    },
  });
  const [data, body] = [piece.get("data"), piece.get("body")];
  const before = client.speculative;
  void piece.set("url", ONE);
  const event = piece.fire("go", TWO);
  await w.run();
  expect([data.pending, body.value]).toEqual([true, null]);

  // Somebody else's event came behind it in the same wave, so that the answer's row has not moved.
  await w.serve({ events: [event], writes: { url: set(ONE) } });
  expect([data.pending, body.value]).toEqual([false, "one"]);
  expect(client.speculative).toBe(before);
});

test("[CL-E20] an echo that comes back to the answered request shows its answer at once", async () => {
  const { w, piece, keyOf } = await opened();
  await w.serve({
    writes: { data: set(answeredValue(keyOf(ONE), "one")), body: set("one") },
  });
  const data = piece.get("data");
  const seen = record(piece.get("body"));
  piece.fire("go", TWO);
  await w.run();
  piece.fire("go", ONE);
  await w.run();
  expect(data.value).toMatchObject({ pending: false, result: "one" });
  expect(seen).toEqual(["one", null, "one"]);
});

test("[CL-P12] an effect shows as pending until its answer is here, and then with its failure too", async () => {
  const { w, piece, keyOf } = await opened();
  const data = piece.get("data");
  await w.serve({ writes: { data: set(pendingValue(keyOf(ONE))) } });
  expect([data.pending, data.value]).toEqual([true, undefined]);

  const error = { kind: "timeout", message: "too late" };
  const failed = { pending: false, error, requestHash: keyOf(ONE) };
  await w.serve({ writes: { data: set(failed) } });
  expect([data.pending, data.value]).toEqual([false, failed]);
});
