import {
  diag,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type HrTime,
  type Tracer,
} from "@opentelemetry/api";
import { isTidemarkError, type AcceptedCommit, type Clock, type SpaceId } from "@tidemark/protocol";
import type { SettleResult } from "@tidemark/scheduler";
import { TenureEnd } from "../tenure/end.js";
import type { Contribution } from "../wave/contribution.js";
import type { WavePlan } from "../wave/plan.js";

/** The phases of a cycle, in their order: each ends where the next begins. */
const PHASES = ["barrier", "demand", "drain", "settle", "commit"] as const;

/** One phase of a cycle. */
export type WavePhase = (typeof PHASES)[number];

const LAST = PHASES.length;
const TRACER_NAME = "@tidemark/executor";
const MS_PER_SECOND = 1_000;
const NS_PER_MS = 1e6;

/** What the store said of a wave. */
export interface TracedVerdict {
  readonly plan: Pick<WavePlan, "fates" | "supersededWrites">;
  /** Absent where nothing of it landed and W stood still. */
  readonly commit: AcceptedCommit | undefined;
}

/** What a {@link WaveTrace} is made of. */
export interface WaveTraceOptions {
  readonly space: SpaceId;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Who takes the spans; `undefined` where nobody does. By default OpenTelemetry's registered provider. */
  readonly tracer?: () => Tracer | undefined;
}

interface ClosedWave {
  readonly contributions: number;
  readonly outcome: Attributes;
  readonly failure: string | undefined;
}

/**
 * Spans of the waves of one tenure (seed 001 §7), for who has registered an OpenTelemetry SDK. A cycle notes when its
 * phases begin, and spans are made once a wave has closed: a cycle without one leaves none. Where nobody has
 * registered, a cycle asks for the provider once, and nothing else happens. Spans carry the space, seqs and
 * numbers, never a value, a payload or the words of an error.
 */
export class WaveTrace {
  readonly #options: WaveTraceOptions;
  readonly #tracerOf: () => Tracer | undefined;
  /** Monotonic ms at which each phase began, and the last one ended. */
  readonly #began = new Float64Array(LAST + 1);
  #tracer: Tracer | undefined;
  #wallAtBegin = 0;
  #cut = false;

  constructor(options: WaveTraceOptions) {
    this.#options = options;
    this.#tracerOf = options.tracer ?? registeredTracer;
  }

  /** A cycle begins with its barrier. */
  begin(): void {
    this.#tracer = this.#tracerOf();
    if (this.#tracer === undefined) return;
    this.#wallAtBegin = this.#options.clock.now();
    this.#cut = false;
    this.enter("barrier");
  }

  /** The phase before it ends here. */
  enter(phase: WavePhase): void {
    if (this.#tracer === undefined) return;
    // A phase that is passed over has no time of its own.
    this.#began.fill(this.#options.clock.monotonic(), PHASES.indexOf(phase));
  }

  /** The scheduler is idle, or was cut; what is left of the cycle is the commit. */
  settled(state: SettleResult["state"]): void {
    if (this.#tracer === undefined) return;
    this.#cut = state !== "idle";
    this.enter("commit");
  }

  /** The store has spoken about the cycle's wave. */
  landed(contributions: readonly Contribution[], told: TracedVerdict): void {
    if (this.#tracer === undefined) return;
    this.#emit(this.#tracer, contributions, landing(contributions, told), undefined);
  }

  /** The wave aborted: it wrote nothing. */
  aborted(contributions: readonly Contribution[], error: unknown): void {
    if (this.#tracer === undefined) return;
    const code = codeOf(error);
    this.#emit(this.#tracer, contributions, { "error.type": code }, code);
  }

  #emit(
    tracer: Tracer,
    contributions: readonly Contribution[],
    outcome: Attributes,
    failure: string | undefined,
  ): void {
    this.#began[LAST] = this.#options.clock.monotonic();
    this.#tracer = undefined;
    try {
      this.#spans(tracer, { contributions: contributions.length, outcome, failure });
    } catch (error) {
      // Whoever takes the spans decides nothing here, also by failing.
      diag.error("tidemark: a tracer failed at a wave's spans", error);
    }
  }

  #spans(tracer: Tracer, { contributions, outcome, failure }: ClosedWave): void {
    const attributes = {
      "tidemark.space": this.#options.space,
      "tidemark.wave.contributions": contributions,
      "tidemark.wave.cut": this.#cut,
      ...outcome,
    };
    const root = { root: true, startTime: this.#timeOf(0), attributes };
    const span = tracer.startSpan("tidemark.wave", root, ROOT_CONTEXT);
    if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
    if (span.isRecording()) {
      const context = trace.setSpan(ROOT_CONTEXT, span);
      for (const [at, phase] of PHASES.entries()) {
        tracer
          .startSpan(`tidemark.wave.${phase}`, { startTime: this.#timeOf(at) }, context)
          .end(this.#timeOf(at + 1));
      }
    }
    span.end(this.#timeOf(LAST));
  }

  /** Wall time by the monotonic clock, so that no step of the wall clock tears a span. */
  #timeOf(at: number): HrTime {
    const since = (this.#began[at] ?? 0) - (this.#began[0] ?? 0);
    const ms = this.#wallAtBegin + since;
    const seconds = Math.floor(ms / MS_PER_SECOND);
    return [seconds, Math.floor((ms - seconds * MS_PER_SECOND) * NS_PER_MS)];
  }
}

/** Numbers of a wave that the store has taken, or had nothing to take of. */
function landing(
  contributions: readonly Contribution[],
  { plan, commit }: TracedVerdict,
): Attributes {
  let events = 0;
  let requeued = 0;
  let withdrawn = 0;
  for (const { id, delivery } of contributions) {
    const fate = plan.fates.get(id)?.kind;
    if (delivery !== undefined && fate === "lands") events += 1;
    if (fate === "requeued") requeued += 1;
    if (fate === "withdrawn") withdrawn += 1;
  }
  return {
    "tidemark.wave.events": events,
    "tidemark.wave.requeued": requeued,
    "tidemark.wave.withdrawn": withdrawn,
    "tidemark.wave.superseded_writes": plan.supersededWrites,
    ...(commit === undefined ? {} : commitAttributes(commit)),
  };
}

function commitAttributes({ seq, changes, appends, watermark }: AcceptedCommit): Attributes {
  return {
    "tidemark.commit.seq": seq,
    "tidemark.commit.changes": changes.length,
    "tidemark.commit.appends": appends.length,
    ...(watermark === undefined ? {} : { "tidemark.watermark": watermark }),
  };
}

/** The stable code of a failure: its words may name documents. */
function codeOf(error: unknown): string {
  if (isTidemarkError(error)) return error.code;
  if (!(error instanceof TenureEnd)) return "unknown";
  return isTidemarkError(error.cause) ? error.cause.code : `tenure-${error.reason}`;
}

/** A provider that stands before whichever is registered, as the API's own does. */
interface Delegating {
  getDelegateTracer(name: string): Tracer | undefined;
}

/** The tracer of the provider that is registered; `undefined`, and nothing made, where none is. */
function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  return delegates(provider)
    ? provider.getDelegateTracer(TRACER_NAME)
    : provider.getTracer(TRACER_NAME);
}

function delegates(provider: object): provider is Delegating {
  return "getDelegateTracer" in provider && typeof provider.getDelegateTracer === "function";
}
