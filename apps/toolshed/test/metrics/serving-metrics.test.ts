import type { ServingStats, SettleSample } from "@tidemark/executor";
import { zeroSpaceStats } from "@tidemark/executor/testing";
import type { Seq, SpaceId } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { renderMetrics } from "../../src/metrics/exposition.js";
import { metricName, servingMetrics } from "../../src/metrics/serving-metrics.js";
import { readMetricsPage } from "../support/metrics-page.js";

type Changes = Partial<Omit<ServingStats, "push">>;

const stats = (changes: Changes = {}): ServingStats => ({
  ...zeroSpaceStats(),
  activeSpaces: 0,
  push: { prioritizedSessions: 0, followerSessions: 0, mixedFlushes: 0 },
  ...changes,
});
const page = (changes?: Changes) => readMetricsPage(renderMetrics(servingMetrics(stats(changes))));

const settled = (ms: number, kind: SettleSample["class"] = "value-only"): SettleSample => ({
  space: "did:key:z6Mk" as SpaceId,
  seq: 1 as Seq,
  ms,
  cycles: 1,
  waves: 1,
  class: kind,
});

test.each([
  ["waves", "counter", "tidemark_waves_total"],
  ["events.lt1LeftoversPurged", "counter", "tidemark_events_lt1_leftovers_purged_total"],
  ["demand.demandPassMs", "counter", "tidemark_demand_demand_pass_seconds_total"],
  ["events.needsAttention.total", "counter", "tidemark_events_needs_attention_total"],
  ["settleAdvances.count", "counter", "tidemark_settle_advances_total"],
  ["watermarkLag", "gauge", "tidemark_watermark_lag"],
  ["parkedRuntimes.held", "gauge", "tidemark_parked_runtimes_held"],
  [
    "events.maxAccumulatedDeliveryFailureMs",
    "gauge",
    "tidemark_events_max_accumulated_delivery_failure_seconds",
  ],
] as const)("[TS-M1] the figure %s, a %s, is named %s", (path, type, name) => {
  expect(metricName(path, type)).toBe(name);
});

test("[TS-M1] [TS-M2] each figure has its help and its type: what only grows is a counter, what may fall a gauge", () => {
  const { types, help } = page();
  for (const [name, type] of types) {
    expect([name, type]).toEqual([name, name.endsWith("_total") ? "counter" : "gauge"]);
    expect(help.get(name)).toMatch(/^[A-Z].*\.$/u);
  }
  expect([...types].filter(([, type]) => type === "gauge").map(([name]) => name)).toEqual(
    expect.arrayContaining([
      "tidemark_active_spaces",
      "tidemark_watermark_lag",
      "tidemark_lease_held",
      "tidemark_memo_inflight",
      "tidemark_demand_demanded_rows",
      "tidemark_events_coalesced_per_wave_max",
    ]),
  );
});

test("[TS-M2] milliseconds are shown as seconds", () => {
  const demand = { ...zeroSpaceStats().demand, demandPassMs: 1_250 };
  expect(page({ demand }).samples.get("tidemark_demand_demand_pass_seconds_total")).toBe(1.25);
});

test("[TS-M3] settle times are quantiles over the newest inputs, by class, and the number of all inputs", () => {
  const times = Array.from({ length: 100 }, (_, at) => settled(100 - at));
  const series = [...times, settled(9_000, "structural-growth")];
  const { samples } = page({ settle: { series, dropped: 40 } });
  const at = (kind: string, quantile: string) =>
    samples.get(`tidemark_settle_recent_seconds{class="${kind}",quantile="${quantile}"}`);
  expect([at("value-only", "0.5"), at("value-only", "0.95"), at("value-only", "0.99")]).toEqual([
    0.05, 0.095, 0.099,
  ]);
  expect(at("structural-growth", "0.5")).toBe(9);
  expect(samples.get("tidemark_settle_inputs_total")).toBe(141);
  expect(samples.get("tidemark_settle_dropped_total")).toBe(40);
});

test("[TS-M3] without inputs there are no quantiles, and the number of inputs is zero", () => {
  const { samples, types } = page();
  expect(types.has("tidemark_settle_recent_seconds")).toBe(false);
  expect(samples.get("tidemark_settle_inputs_total")).toBe(0);
});

test("[TS-M1] notices are shown by the phase that failed", () => {
  const { events } = zeroSpaceStats();
  const needsAttention = { total: 3, byPhase: { "dispatch-load": 2, "commit-preparation": 1 } };
  const { samples } = page({ events: { ...events, needsAttention } });
  const name = "tidemark_events_needs_attention_by_phase_total";
  expect(samples.get(`${name}{phase="dispatch-load"}`)).toBe(2);
  expect(samples.get(`${name}{phase="commit-preparation"}`)).toBe(1);
  expect(samples.get("tidemark_events_needs_attention_total")).toBe(3);
});

test("[TS-M5] a thousand spaces make no more samples than one, and none is named", () => {
  const sampleOf = (at: number) => ({ ...settled(at), space: `did:key:z${at}` as SpaceId });
  const series = Array.from({ length: 1_000 }, (_, at) => sampleOf(at));
  const many = renderMetrics(servingMetrics(stats({ settle: { series, dropped: 0 } })));
  const one = renderMetrics(
    servingMetrics(stats({ settle: { series: [settled(1)], dropped: 0 } })),
  );
  expect(many.split("\n")).toHaveLength(one.split("\n").length);
  expect(many).not.toContain("did:key");
});
