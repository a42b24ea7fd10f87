import { trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { StorageError } from "@tidemark/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { counter, lab } from "../support/patterns.js";
import { createWorld, type World } from "../support/world.js";

const exporter = new InMemorySpanExporter();

beforeEach(() => {
  lab.runs.clear();
  exporter.reset();
});
afterEach(() => trace.disable());

function register(): void {
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  expect(trace.setGlobalTracerProvider(provider)).toBe(true);
}

/** The spans of whole waves, as what they say. */
const waves = () =>
  exporter
    .getFinishedSpans()
    .filter(({ name }) => name === "tidemark.wave")
    .map(({ attributes }) => attributes);

async function served(): Promise<{ w: World; piece: Awaited<ReturnType<World["create"]>> }> {
  const w = await createWorld({ patterns: [counter] });
  const piece = await w.create(counter);
  await w.open(w.owner, piece, ["count", "double"]);
  await w.settle();
  return { w, piece };
}

test("[EX-U1] with an SDK registered each derived commit is a wave's span with its phases, and no value shows", async () => {
  const { w, piece } = await served();
  register();
  const before = w.head();
  await w.fire(w.owner, piece, "inc", undefined, "a-secret-event-id");
  await w.write(w.owner, piece, "count", 424_242);
  await w.settle();
  const derived = w.t.engines
    .get(w.space)
    ?.commitsSince(before as never, 100)
    .filter((commit) => commit.class === "derived");
  expect(waves().length).toBeGreaterThanOrEqual(1);
  expect(waves().map((attributes) => attributes["tidemark.commit.seq"])).toEqual(
    derived?.map(({ seq }) => seq),
  );
  expect(waves().reduce((sum, one) => sum + Number(one["tidemark.wave.events"]), 0)).toBe(1);
  expect(waves().at(-1)?.["tidemark.watermark"]).toBe(w.watermark());
  const phases = exporter.getFinishedSpans().length - waves().length;
  expect(phases).toBe(5 * waves().length);
  const said = exporter.getFinishedSpans().map(({ name, attributes }) => [name, attributes]);
  expect(JSON.stringify(said)).not.toMatch(/secret|424242|node:|piece:|stream:/u);
  await w.stop();
});

test("[EX-U2] a quiet space makes no span, and neither does anybody before an SDK is registered", async () => {
  const { w, piece } = await served();
  await w.fire(w.owner, piece, "inc");
  await w.settle();
  expect(exporter.getFinishedSpans()).toEqual([]);
  register();
  await w.t.clock.advance(60_000);
  expect(exporter.getFinishedSpans()).toEqual([]);
  await w.stop();
});

test("[EX-U3] a wave whose commit fails is a failed span, and the one that does the work a good one", async () => {
  const { w, piece } = await served();
  register();
  w.t.gates.fail("wave:before-commit", new StorageError("disk on fire", { kind: "io" }));
  await w.fire(w.owner, piece, "inc");
  await w.settle(5_000);
  const [failed, ...good] = exporter
    .getFinishedSpans()
    .filter(({ name }) => name === "tidemark.wave");
  expect(failed?.status).toEqual({ code: 2, message: "storage" });
  expect(good.length).toBeGreaterThanOrEqual(1);
  for (const span of good) expect(span.status.code).toBe(0);
  expect(w.value(piece, "count")).toBe(1);
  await w.stop();
});
