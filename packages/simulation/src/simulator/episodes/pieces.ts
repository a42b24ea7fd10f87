import { PARKED_MS } from "../planner.js";
import type { Episode } from "./episode.js";

export const swapped: Episode = (planner) => {
  const { chance } = planner;
  const piece = planner.piece();
  const back = chance.of(0.6);
  planner.burst(1 + chance.below(2));
  planner.add({ swap: ["a1", piece, "board2"] });
  planner.burst(1 + chance.below(3));
  if (chance.of(0.4)) planner.fire(planner.client(), piece, "gone");
  if (!back) return;
  planner.add({ swap: ["a1", piece, "board"] });
  planner.burst(1);
};

export const created: Episode = (planner) => {
  const { chance } = planner;
  const name = planner.newName("n");
  const space = planner.space();
  planner.add({ create: ["a1", space, name, { pattern: chance.pick(["board", "board2"]) }] });
  planner.pieces.push(`${space}/${name}`);
  planner.fire("a1", `${space}/${name}`);
  planner.burst(1 + chance.below(2));
};

/** A handler waits; what comes behind it waits with it. */
export const waiting: Episode = (planner) => {
  const { chance } = planner;
  planner.fire(planner.client(), planner.piece(), "slow");
  planner.burst(1 + chance.below(3));
  if (chance.of(0.4)) planner.add({ advance: chance.pick([50, 500]) });
  if (chance.of(0.3)) planner.add({ crash: "server" }, { start: "server" });
  planner.add({ let: "slow" });
};

/** Everybody leaves, the space parks, and somebody comes back. */
export const parked: Episode = (planner) => {
  const { chance, clients } = planner;
  for (const client of clients) planner.add({ offline: client });
  const held = chance.of(0.3);
  if (held) {
    const gate = chance.pick(["park:before", "dispose:before"]);
    planner.add({ [chance.pick(["hold", "crashAt"])]: gate });
    planner.sendVisitorsAway();
  }
  planner.add({ advance: chance.pick([2_500, 31_000, 650_000]) });
  if (held) planner.add({ advance: PARKED_MS });
  for (const client of clients) planner.add({ online: client });
  planner.burst(2);
};

export const compacted: Episode = (planner) => {
  const { chance, fired } = planner;
  planner.burst(6);
  planner.add({ advance: 1_500 });
  planner.add({ compact: planner.space() });
  if (fired.length > 0) planner.add({ refire: [planner.client(), chance.pick(fired)] });
};
