import type { Planner } from "../planner.js";
import type { Episode } from "./episode.js";

const HOUR_MS = 3_600_000;

/** In the middle of a wave or not: what follows finds the process there. */
function maybeMidWave(planner: Planner, space: string): string | undefined {
  const { chance } = planner;
  if (!chance.of(0.6)) return undefined;
  const gate = chance.pick(["handler:after-run", "seal:before", "wave:before-commit"] as const);
  planner.add({ hold: gate, space });
  planner.burst(1 + chance.below(2));
  planner.reached(gate, space);
  return gate;
}

/** Somebody who is no process of the world writes the lease row by hand, under whoever serves. */
export const stolen: Episode = (planner) => {
  const { chance } = planner;
  const space = planner.space();
  if (chance.of(0.3)) planner.add({ start: "rival" });
  planner.burst(1 + chance.below(2));
  const gate = maybeMidWave(planner, space);
  planner.add({ steal: [space, chance.pick([0, 40, 3_000, 15_000])] });
  if (gate !== undefined) planner.add({ release: gate, space });
  // Whoever goes before it has noticed gives nothing back that is not its own.
  if (chance.of(0.3)) planner.add({ stop: "server" }, { start: "server" });
  planner.burst(1 + chance.below(3));
  planner.add({ advance: chance.pick([0, 200, 6_000, 20_000]) });
  if (chance.of(0.5)) planner.burst(1);
};

/** A holder stands still while its row becomes another's, and goes on not knowing it. */
export const stolenAsleep: Episode = (planner) => {
  const { chance } = planner;
  const space = planner.space();
  planner.burst(1 + chance.below(2));
  const gate = maybeMidWave(planner, space);
  planner.add({ freeze: "server" });
  if (chance.of(0.5)) planner.add({ advance: chance.pick([1_000, 16_000]) });
  planner.add({ steal: [space, chance.pick([40, 5_000, 15_000])] });
  planner.add({ thaw: "server" });
  if (gate !== undefined) planner.add({ release: gate, space });
  planner.burst(1 + chance.below(3));
  planner.add({ advance: chance.pick([0, 200, 16_000]) });
};

/** The clock that judges leases steps by an hour, to and fro. */
export const storeClock: Episode = (planner) => {
  const { chance } = planner;
  const space = planner.space();
  if (chance.of(0.4)) planner.add({ start: "rival" });
  planner.burst(1 + chance.below(2));
  const gate = maybeMidWave(planner, space);
  planner.add({ clock: ["store", chance.pick([-HOUR_MS, HOUR_MS])] });
  if (gate !== undefined) planner.add({ release: gate, space });
  planner.burst(1 + chance.below(3));
  planner.add({ advance: chance.pick([0, 200, 6_000]) });
  if (chance.of(0.3)) planner.add({ crash: "server" }, { start: "server" });
  if (chance.of(0.5)) planner.add({ clock: ["store", 0] });
  planner.burst(1 + chance.below(2));
};
