import { DISK_FAILURES, DISK_PLACES } from "../../world/disks.js";
import type { Episode } from "./episode.js";

/** A disk fails where something is to be written, once or for a while. */
export const brokenDisk: Episode = (planner) => {
  const { chance } = planner;
  const space = planner.space();
  const where = chance.pick(DISK_PLACES);
  const times = chance.pick([1, 1, 2, 5]);
  planner.add({ disk: [space, chance.pick(DISK_FAILURES), where], times });
  // A store is opened by whoever comes first.
  if (where === "open") planner.add({ crash: "server" }, { start: "server" });
  planner.burst(2 + chance.below(3));
  if (where === "lease") planner.add({ advance: 6_000 });
  if (chance.of(0.3)) planner.add({ advance: chance.pick([100, 2_000]) });
  if (chance.of(0.2))
    planner.add({ [chance.pick(["crash", "stop"])]: "server" }, { start: "server" });
  if (chance.of(0.5)) planner.add({ disk: [space, "sound"] });
  planner.burst(1 + chance.below(2));
};

/** Every write takes its time, up to longer than a lease lives. */
export const slowDisk: Episode = (planner) => {
  const { chance } = planner;
  const space = planner.space();
  if (chance.of(0.3)) planner.add({ start: "rival" });
  planner.add({ disk: [space, "slow", chance.pick([5, 80, 900, 6_000, 16_000])] });
  planner.burst(2 + chance.below(3));
  planner.add({ disk: [space, "sound"] });
  planner.burst(1);
};
