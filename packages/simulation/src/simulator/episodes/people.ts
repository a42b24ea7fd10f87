import { TRICKS } from "../../intruder/tricks.js";
import { FULL_ACL } from "../planner.js";
import type { Episode } from "./episode.js";

/** Several people act at once. */
export const crowd: Episode = (planner) => planner.burst(3 + planner.chance.below(5));

export const away: Episode = (planner) => {
  const { chance } = planner;
  const client = planner.client();
  planner.add({ offline: client });
  for (let i = chance.below(3); i >= 0; i--) planner.fire(client);
  if (chance.of(0.5)) planner.edit(client);
  planner.burst(1 + chance.below(2));
  if (chance.of(0.4)) planner.add({ advance: chance.pick([200, 5_000]) });
  planner.add({ online: client });
};

export const reloaded: Episode = (planner) => {
  const client = planner.client();
  planner.fire(client);
  if (planner.chance.of(0.5)) planner.fire(client);
  planner.add({ reload: client });
  planner.fire(client);
};

/** Somebody comes and goes. */
export const visitors: Episode = (planner) => {
  const { chance } = planner;
  const name = planner.newName("v");
  const user = chance.pick(["alice", "bob", "dave"]);
  const watch = chance.of(0.3) ? { watch: [] } : {};
  planner.add({ connect: { [name]: { user, session: name, ...watch } } });
  planner.fire(name);
  planner.burst(1);
  if (chance.of(0.7)) planner.add({ close: name });
};

/** The same event again: at once, or after it was consumed. */
export const again: Episode = (planner) => {
  const { chance, fired } = planner;
  const client = planner.client();
  const name = planner.fire(client);
  if (chance.of(0.5)) planner.add({ advance: chance.pick([0, 150]) });
  planner.add({ refire: [client, name] });
  if (fired.length > 3) planner.add({ refire: [planner.client(), chance.pick(fired)] });
};

/** Somebody who means no good tries this and that, while others go on. */
export const intrusion: Episode = (planner) => {
  const { chance } = planner;
  const space = planner.space();
  planner.burst(1 + chance.below(2));
  for (let i = chance.below(3); i >= 0; i--) {
    planner.add({ intrude: [space, chance.pick(TRICKS), planner.key()] });
    if (chance.of(0.5)) planner.burst(1);
  }
};

export const demoted: Episode = (planner) => {
  const { chance } = planner;
  const space = planner.space();
  const levels = { ...FULL_ACL, bob: "READ" };
  if (chance.of(0.5)) planner.burst(1);
  planner.add({ acl: ["a1", space, levels] });
  planner.burst(1 + chance.below(2));
  planner.fire("b1");
  planner.burst(1);
  planner.add({ acl: ["a1", space, FULL_ACL] });
};
