import { readFileSync } from "node:fs";
import type { Attributes, Tracer } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { LeaseError, type AcceptedCommit, type Clock, type SpaceId } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { WaveTrace } from "../../src/loop/wave-trace.js";
import { TenureEnd } from "../../src/tenure/end.js";
import type { Contribution } from "../../src/wave/contribution.js";
import type { Fate } from "../../src/wave/plan.js";

const SPACE = "did:key:z6MkSpace" as SpaceId;
const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
beforeEach(() => exporter.reset());

function traced(clock: Pick<Clock, "now" | "monotonic">, tracer?: () => Tracer | undefined) {
  return new WaveTrace({ space: SPACE, clock, tracer: tracer ?? (() => provider.getTracer("t")) });
}

const contribution = (id: number, delivered = false): Contribution =>
  ({ id, ...(delivered ? { delivery: { stream: "stream:s" } } : {}) }) as unknown as Contribution;

function told(fates: readonly Fate["kind"][], commit?: Partial<AcceptedCommit>) {
  const all = fates.map((kind, id): [number, Fate] => [id, { kind } as Fate]);
  return {
    plan: { fates: new Map(all), supersededWrites: 2 },
    commit: commit as AcceptedCommit | undefined,
  };
}

/** Wall ms of a span's start and end. */
const timesOf = ({ startTime, endTime }: ReadableSpan) =>
  [startTime, endTime].map(([seconds, nanos]) => seconds * 1_000 + nanos / 1e6);

const named = (name: string) => exporter.getFinishedSpans().find((span) => span.name === name);

function cycle(clock: VirtualClock, trace: WaveTrace): void {
  trace.begin();
  clock.spend(1);
  trace.enter("demand");
  clock.spend(2);
  trace.enter("drain");
  clock.spend(3);
  trace.enter("settle");
  clock.spend(4);
  trace.settled("idle");
  clock.spend(5);
}

describe("spans of a wave", () => {
  test("[EX-U1] a wave is one span, with a span under it for each phase, on the time of the clock", () => {
    const clock = new VirtualClock();
    const began = clock.now();
    const trace = traced(clock);
    cycle(clock, trace);
    trace.landed([contribution(0)], told(["lands"]));
    const root = named("tidemark.wave");
    expect(root?.parentSpanContext).toBeUndefined();
    const spans = exporter.getFinishedSpans().filter((span) => span !== root);
    expect(spans.map(({ name }) => name)).toEqual(
      ["barrier", "demand", "drain", "settle", "commit"].map((phase) => `tidemark.wave.${phase}`),
    );
    for (const span of spans) {
      expect(span.parentSpanContext?.spanId).toBe(root?.spanContext().spanId);
    }
    const since = (span: ReadableSpan) => timesOf(span).map((at) => Math.round(at - began));
    expect(spans.map(since)).toEqual([
      [0, 1],
      [1, 3],
      [3, 6],
      [6, 10],
      [10, 15],
    ]);
    expect(root && since(root)).toEqual([0, 15]);
  });

  test("[EX-U1] it says the space, the commit, W, and how many of what, and whether the settle was cut", () => {
    const clock = new VirtualClock();
    const trace = traced(clock);
    trace.begin();
    trace.settled("deadline");
    const commit = { seq: 7, watermark: 5, changes: [{}, {}], appends: [{}] } as never;
    const contributions = [contribution(0, true), contribution(1), contribution(2, true)];
    trace.landed(contributions, told(["lands", "withdrawn", "requeued"], commit));
    expect(named("tidemark.wave")?.attributes).toEqual({
      "tidemark.space": SPACE,
      "tidemark.wave.contributions": 3,
      "tidemark.wave.cut": true,
      "tidemark.wave.events": 1,
      "tidemark.wave.requeued": 1,
      "tidemark.wave.withdrawn": 1,
      "tidemark.wave.superseded_writes": 2,
      "tidemark.commit.seq": 7,
      "tidemark.commit.changes": 2,
      "tidemark.commit.appends": 1,
      "tidemark.watermark": 5,
    } satisfies Attributes);
  });

  test("[EX-U1] the guide names every span and everything that a wave says", () => {
    const guide = readFileSync(
      new URL("../../../../docs/guides/running-a-server.md", import.meta.url),
      "utf8",
    );
    const traces = guide.split("\n## Traces\n")[1]?.split("\n## ")[0] ?? "";
    const inGuide = [...traces.matchAll(/`((?:tidemark|error)\.[\w.]+)`/gu)].map(
      ([, name]) => name,
    );
    const clock = new VirtualClock();
    const trace = traced(clock);
    trace.begin();
    const commit = { seq: 7, watermark: 5, changes: [], appends: [] } as never;
    trace.landed([], told([], commit));
    trace.begin();
    trace.aborted([], new Error("so"));
    const spans = exporter.getFinishedSpans();
    const names = spans.flatMap(({ name, attributes }) => [name, ...Object.keys(attributes)]);
    expect(new Set(inGuide)).toEqual(new Set(names));
  });

  test("[EX-U1] a step of the wall clock within a cycle tears nothing", () => {
    let monotonic = 100;
    let wall = 1_000_000;
    const clock = { now: () => wall, monotonic: () => monotonic };
    const trace = traced(clock);
    trace.begin();
    wall -= 3_600_000;
    monotonic += 20;
    trace.settled("idle");
    trace.landed([], told([]));
    const [commit] = exporter.getFinishedSpans().filter(({ name }) => name.endsWith("commit"));
    expect(commit && timesOf(commit)).toEqual([1_000_020, 1_000_020]);
  });

  test("[EX-U2] a cycle that closes no wave leaves no span, and the next one begins anew", () => {
    const clock = new VirtualClock();
    const trace = traced(clock);
    cycle(clock, trace);
    expect(exporter.getFinishedSpans()).toEqual([]);
    const began = clock.now();
    cycle(clock, trace);
    trace.landed([], told([]));
    const root = named("tidemark.wave");
    expect(root && timesOf(root)[0]).toBeCloseTo(began, 3);
  });

  test.each([
    [new TenureEnd("lapse"), "tenure-lapse"],
    [new TenureEnd("failed", new LeaseError("no lease of node:secret", {})), "lease"],
    [new LeaseError("no lease of node:secret", {}), "lease"],
    [new Error("words of node:secret"), "unknown"],
  ])(
    "[EX-U3] a wave that aborts is a failed span with the code of its error: %s",
    (error, code) => {
      const clock = new VirtualClock();
      const trace = traced(clock);
      cycle(clock, trace);
      trace.aborted([contribution(0)], error);
      const root = named("tidemark.wave");
      expect(root?.status).toEqual({ code: 2, message: code });
      expect(root?.attributes).toMatchObject({ "error.type": code });
      expect(JSON.stringify([root?.attributes, root?.status, root?.events])).not.toContain(
        "secret",
      );
    },
  );

  test("[EX-U3] what fails once the wave is durable does not make it a failed one", () => {
    const clock = new VirtualClock();
    const trace = traced(clock);
    cycle(clock, trace);
    trace.landed([], told([]));
    trace.aborted([], new Error("later"));
    const roots = exporter.getFinishedSpans().filter(({ name }) => name === "tidemark.wave");
    expect(roots.map(({ status }) => status.code)).toEqual([0]);
  });

  test("[EX-U3] a tracer that throws disturbs nothing", () => {
    const clock = new VirtualClock();
    const broken = { startSpan: () => assertNever() } as unknown as Tracer;
    const trace = traced(clock, () => broken);
    cycle(clock, trace);
    expect(() => trace.landed([], told([]))).not.toThrow();
  });
});

function assertNever(): never {
  throw new Error("the exporter is on fire");
}

test("[EX-U2] where nobody listens a cycle reads no clock and looks at nothing of the wave", () => {
  const unread = new Proxy({} as never, {
    get: (_target, name) => {
      throw new Error(`${String(name)} was looked at`);
    },
  });
  const trace = traced(unread, () => undefined);
  trace.begin();
  trace.enter("demand");
  trace.settled("idle");
  trace.landed(unread, unread);
  trace.aborted(unread, unread);
  expect(exporter.getFinishedSpans()).toEqual([]);
});
