import type { ServingStats, SettleSample } from "@tidemark/executor";
import type { Metric, Sample } from "./exposition.js";
import { SERVING_FIGURES, type Figure } from "./figures.js";

const PREFIX = "tidemark";
const MS_PER_SECOND = 1_000;
const QUANTILES = [0.5, 0.95, 0.99] as const;
const SETTLE_CLASSES: readonly SettleSample["class"][] = ["value-only", "structural-growth"];

/**
 * The figures of `servingLoop` as metrics. Each is named by its path, in snake case after `tidemark_`; a counter ends in
 * `_total`, and milliseconds become seconds. The number of samples does not depend on spaces, people or documents.
 */
export function servingMetrics(stats: ServingStats): readonly Metric[] {
  const figures = Object.entries(SERVING_FIGURES).map(([path, figure]) =>
    metricOf(path, figure, numberAt(stats, path)),
  );
  return [...figures, attentionByPhase(stats), settleInputs(stats), settleQuantiles(stats)];
}

/** The name under which the figure at a path is shown. */
export function metricName(path: string, type: Metric["type"]): string {
  const words = path
    .replaceAll(".", "_")
    .replace(/([a-z0-9])([A-Z])/gu, "$1_$2")
    .toLowerCase();
  const name = `${PREFIX}_${words.replace(/_ms$/u, "_seconds").replace(/_(?:total|count)$/u, "")}`;
  return type === "counter" ? `${name}_total` : name;
}

function metricOf(path: string, { type, help }: Figure, value: number): Metric {
  const scaled = path.endsWith("Ms") ? value / MS_PER_SECOND : value;
  return { name: metricName(path, type), type, help, samples: [{ value: scaled }] };
}

/** A figure that a host does not have stands at zero, as one does that has not moved. */
function numberAt(stats: ServingStats, path: string): number {
  let at: unknown = stats;
  for (const step of path.split(".")) {
    at = typeof at === "object" && at !== null ? Reflect.get(at, step) : undefined;
  }
  return typeof at === "number" ? at : 0;
}

/** The phases are the few that a delivery has: the label is bounded. */
function attentionByPhase(stats: ServingStats): Metric {
  const byPhase = Object.entries(stats.events?.needsAttention.byPhase ?? {});
  return {
    name: `${PREFIX}_events_needs_attention_by_phase_total`,
    type: "counter",
    help: "Events that ended in a notice for a person, by the phase that failed.",
    samples: byPhase.map(([phase, value]) => ({ labels: { phase }, value })),
  };
}

function settleInputs({ settle }: ServingStats): Metric {
  return {
    name: `${PREFIX}_settle_inputs_total`,
    type: "counter",
    help: "Authored inputs that the watermark came to cover.",
    samples: [{ value: (settle?.series.length ?? 0) + (settle?.dropped ?? 0) }],
  };
}

/**
 * Quantiles over what the series still holds, as gauges: a summary would owe the sum of all times, and the series has
 * the newest alone.
 */
function settleQuantiles({ settle }: ServingStats): Metric {
  const series = settle?.series ?? [];
  return {
    name: `${PREFIX}_settle_recent_seconds`,
    type: "gauge",
    help: "From an input's admission to the wave that covers it: quantiles over the newest inputs of each space.",
    samples: SETTLE_CLASSES.flatMap((kind) => quantilesOf(series, kind)),
  };
}

function quantilesOf(series: readonly SettleSample[], kind: SettleSample["class"]): Sample[] {
  const times = series
    .filter((sample) => sample.class === kind)
    .map(({ ms }) => ms / MS_PER_SECOND)
    .sort((a, b) => a - b);
  return QUANTILES.flatMap((quantile) => {
    // One of the values that were measured, never one in between.
    const value = times[Math.max(0, Math.ceil(quantile * times.length) - 1)];
    return value === undefined
      ? []
      : [{ labels: { class: kind, quantile: String(quantile) }, value }];
  });
}
