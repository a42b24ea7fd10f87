/** `@tidemark/executor/testing`: what tests of neighbours need of the serving loop. */
import { SpaceStats, type SpaceStatsSnapshot } from "../stats/counters.js";

/** Counters of a space that nothing has happened in: every name of seed 001 §7, at zero. */
export function zeroSpaceStats(): SpaceStatsSnapshot {
  return new SpaceStats().snapshot();
}
export { ManualPerformer } from "./manual-performer.js";
