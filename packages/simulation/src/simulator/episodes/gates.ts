import type { Episode } from "./episode.js";

/** A gate holds while others act: races in the middle of a wave. */
export const held: Episode = (planner) => {
  const { chance } = planner;
  const gate = planner.gate();
  const space = planner.space();
  planner.arm(gate, { hold: gate, space, ...(chance.of(0.2) ? { times: 2 } : {}) });
  planner.burst(1 + chance.below(3));
  planner.reached(gate, space);
  planner.burst(1 + chance.below(4));
  if (chance.of(0.3)) planner.add({ advance: chance.pick([5, 120, 1_000]) });
  planner.add({ release: gate, space });
  if (chance.of(0.5)) planner.burst(1 + chance.below(2));
};

/** A process dies at a gate and is started again, or another is. */
export const crashing: Episode = (planner) => {
  const { chance } = planner;
  const gate = planner.gate();
  planner.arm(gate, { crashAt: gate, ...planner.maybeSpace() });
  planner.burst(2 + chance.below(4));
  planner.provoke(gate);
  planner.add({ advance: chance.pick([0, 50, 400]) });
  planner.add({ start: chance.pick(["server", "server", "rival"]) });
  if (chance.of(0.5)) planner.burst(1 + chance.below(3));
};

export const failing: Episode = (planner) => {
  const { chance } = planner;
  const gate = planner.gate();
  const failure = chance.pick(["io", "timeout", "connection", "conflict", "protocol"]);
  planner.arm(gate, {
    fail: gate,
    ...planner.maybeSpace(),
    with: failure,
    ...(chance.of(0.3) ? { times: 2 + chance.below(2) } : {}),
  });
  planner.burst(2 + chance.below(4));
  planner.provoke(gate);
};
