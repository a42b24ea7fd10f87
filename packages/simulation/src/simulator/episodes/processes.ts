import type { Episode } from "./episode.js";

export const killed: Episode = (planner) => {
  const { chance } = planner;
  planner.burst(1 + chance.below(3));
  planner.add({ crash: chance.pick(["server", "server", "rival"]) });
  planner.burst(1 + chance.below(2));
  if (chance.of(0.5)) planner.add({ advance: chance.pick([100, 3_000, 16_000]) });
  planner.add({ start: chance.pick(["server", "rival"]) });
};

export const stopped: Episode = (planner) => {
  const { chance } = planner;
  planner.burst(1 + chance.below(3));
  planner.add({ stop: chance.pick(["server", "server", "rival"]) });
  planner.burst(1 + chance.below(2));
  planner.add({ start: chance.pick(["server", "rival"]) });
};

/** Two processes on the same stores; the one that serves stands still beyond its lease, mid-wave or not. */
export const rivalry: Episode = (planner) => {
  const { chance } = planner;
  planner.add({ start: "rival" });
  planner.burst(1 + chance.below(3));
  const gate = chance.of(0.6)
    ? chance.pick(["wave:before-commit", "seal:before"] as const)
    : undefined;
  if (gate) {
    planner.add({ hold: gate, space: "A" });
    planner.burst(1 + chance.below(2));
    planner.reached(gate, "A");
  }
  planner.add({ suspend: "server", ms: chance.pick([3_000, 16_000, 25_000]) });
  planner.burst(1 + chance.below(3));
  if (gate) planner.add({ release: gate, space: "A" });
  planner.add({ advance: chance.pick([0, 200, 6_000]) });
  if (chance.of(0.6)) {
    planner.add({ [chance.pick(["crash", "stop"])]: chance.pick(["server", "rival"]) });
  }
};

export const suspended: Episode = (planner) => {
  const { chance } = planner;
  planner.burst(1 + chance.below(2));
  planner.add({ suspend: "server", ms: chance.pick([100, 4_000, 16_000, 40_000]) });
  planner.burst(1 + chance.below(2));
};

/** A process's wall clock is off: nothing of it may tell. */
export const skewed: Episode = (planner) => {
  const { chance } = planner;
  const ms = chance.pick([-3_600_000, -180_000, -5_000, 5_000, 180_000, 3_600_000]);
  planner.add({ clock: ["server", ms] });
  planner.burst(2);
  planner.add({ advance: 6_000 });
};
