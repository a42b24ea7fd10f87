import { expect, test } from "vitest";
import { SpaceStats } from "../../src/stats/counters.js";
import { Series } from "../../src/stats/series.js";
import { sumStats } from "../../src/stats/sum.js";
import { zeroSpaceStats } from "../../src/testing/index.js";

test("[EX-S1] every counter of seed 001 §7 stands in the snapshot by its name", () => {
  const snapshot = zeroSpaceStats();
  const top =
    "waves wavesBudgetExhausted exhaustedAdvances supersededWrites authoredSeen effectAcks derivedCommits " +
    "structureLoadFailures structureLoadDeferred structureLoadStuck structureLoadTerminal " +
    "structureLoadConfirmationsSkipped structureLoadRearmed watermarkClamped storeReads storeRefreshes " +
    "unstampedSealRefusals foreignWriteRefusals foreignEngineFailures warmRequests watermarkLag " +
    "demandArrivals undemandedNarrowingRuns earlyEmitRefusals demand settle settleAdvances events memo " +
    "outbox lease parkedRuntimes";
  for (const name of top.split(" ")) expect(snapshot).toHaveProperty(name);
  const events =
    "appended processed coalescedPerWaveMax skippedIdempotent drainInFlightSkips visibilityBarriers " +
    "visibilityRecoveries visibilityDeferrals deferredRescansArmed deferredRescansFired lt1LeftoversPurged " +
    "lt1LateSealsRefused orphanDeliveriesRefused handlerNotRunDeferrals arrivalHeldDeferrals " +
    "loadParkDeferrals loadParkFailures deliveryDeferralsActive deliveryFailuresActive " +
    "maxAccumulatedDeliveryFailureMs deliveryFailureWakesArmed deliveryFailureWakesFired needsAttention " +
    "needsAttentionSealFailures deliveryCheckpointWriteFailures explicitRetries dropped";
  for (const name of events.split(" ")) expect(snapshot.events).toHaveProperty(name);
  const demand =
    "demandedRows demandedInstances demandedInstancesMax demandedPairs demandedWriters demandedWritersMax " +
    "demandRootEnters demandRootLeaves notCurrentRearms demandPasses demandPassMs demandKeysReconciled " +
    "structureRootsPreloaded pushGrowthWakes watchWakes warmWakes";
  for (const name of demand.split(" ")) expect(snapshot.demand).toHaveProperty(name);
  const rest =
    "memo.hits memo.misses memo.inflight outbox.queued outbox.completed outbox.failed outbox.budgetDeferrals " +
    "lease.held lease.lost parkedRuntimes.retained parkedRuntimes.reused parkedRuntimes.discarded " +
    "parkedRuntimes.held settle.series settle.dropped settleAdvances.count settleAdvances.lastDelta " +
    "settleAdvances.series settleAdvances.dropped events.needsAttention.total events.needsAttention.byPhase";
  for (const name of rest.split(" ")) expect(snapshot).toHaveProperty(name);
});

test("[EX-S2] spaces add up: counters are summed, peaks keep the greatest, series are joined", () => {
  const a = new SpaceStats();
  const b = new SpaceStats();
  a.counts.waves = 2;
  b.counts.waves = 3;
  a.events.coalescedPerWaveMax = 7;
  b.events.coalescedPerWaveMax = 4;
  a.advances.push({ space: "s" as never, from: 1 as never, to: 2 as never, at: 3 });
  const total = sumStats([a.snapshot(), b.snapshot()]);
  expect(total).toMatchObject({ waves: 5, events: { coalescedPerWaveMax: 7 } });
  expect(total?.settleAdvances.series).toHaveLength(1);
  expect(sumStats([])).toBeUndefined();
});

test("[EX-S2] the last advance of all spaces is the newest, whichever space was counted last", () => {
  const [quiet, first, second] = [new SpaceStats(), new SpaceStats(), new SpaceStats()];
  const advance = (stats: SpaceStats, delta: number, at: number) => {
    stats.settleAdvances.count += 1;
    stats.settleAdvances.lastDelta = delta;
    stats.advances.push({ space: "s" as never, from: 1 as never, to: (1 + delta) as never, at });
  };
  advance(first, 7, 10);
  advance(second, 2, 20);
  advance(first, 5, 30);
  const total = sumStats([quiet, first, second, quiet].map((stats) => stats.snapshot()));
  expect(total?.settleAdvances).toMatchObject({ count: 3, lastDelta: 5 });
});

test("[EX-S3] a series keeps its newest entries and counts what it dropped", () => {
  const series = new Series<number>(3);
  for (let at = 1; at <= 5; at += 1) series.push(at);
  expect([series.entries, series.dropped]).toEqual([[3, 4, 5], 2]);
});
