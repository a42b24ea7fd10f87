import type { Planner } from "../planner.js";
import { accessAtAGate, accessChanged, accessRaced } from "./access.js";
import { brokenDisk, slowDisk } from "./disks.js";
import { asking, askingAtAGate } from "./effects.js";
import type { Episode } from "./episode.js";
import { crashing, failing, held } from "./gates.js";
import { stolen, stolenAsleep, storeClock } from "./leases.js";
import { again, away, crowd, demoted, intrusion, reloaded, visitors } from "./people.js";
import { compacted, created, parked, swapped, waiting } from "./pieces.js";
import { killed, rivalry, skewed, stopped, suspended } from "./processes.js";

/** What may come next in a plan, each with how often it does beside the others. */
export function episodesOf({ compacts }: Planner): readonly (readonly [number, Episode])[] {
  return [
    [3, crowd],
    [8, held],
    [5, crashing],
    [4, failing],
    [2, killed],
    [2, stopped],
    [3, rivalry],
    [2, suspended],
    [1, skewed],
    [2, stolen],
    [1, stolenAsleep],
    [2, storeClock],
    [4, brokenDisk],
    [1, slowDisk],
    [2, asking],
    [3, askingAtAGate],
    [3, away],
    [2, reloaded],
    [2, visitors],
    [3, again],
    [2, swapped],
    [2, created],
    [2, demoted],
    [2, accessChanged],
    [2, accessAtAGate],
    [1, accessRaced],
    [3, intrusion],
    [2, waiting],
    [2, parked],
    [compacts ? 4 : 0, compacted],
  ];
}
