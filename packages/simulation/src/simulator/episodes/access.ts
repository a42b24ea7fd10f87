import { STRANGER } from "../access-changes.js";
import { FULL_ACL, type Planner } from "../planner.js";
import type { Episode } from "./episode.js";

/** Longer than the first questions of somebody who was denied (decision 31). */
const ASKED_AGAIN_MS = 8_000;

/** The stranger comes, writes what he may or may not, and goes. */
function strangerComes(planner: Planner): void {
  const name = planner.newName("v");
  planner.add({ connect: { [name]: { user: STRANGER, session: name } } });
  planner.fire(name);
  planner.add({ close: name });
}

/** Whoever is left in the list is put back by an owner of it, or nobody is until the world comes to rest. */
function maybePutBack(planner: Planner, space: string): void {
  if (planner.chance.of(0.5)) planner.add({ acl: ["a1", space, FULL_ACL] });
}

/** Events grant access and take it away, while others go on. */
export const accessChanged: Episode = (planner) => {
  const { chance } = planner;
  const space = planner.space();
  for (let i = chance.below(2); i >= 0; i--) {
    planner.changeAccess(space);
    planner.burst(1 + chance.below(2));
  }
  if (chance.of(0.3)) strangerComes(planner);
  if (chance.of(0.3)) planner.add({ advance: chance.pick([150, ASKED_AGAIN_MS, 31_000]) });
  planner.burst(1 + chance.below(2));
  maybePutBack(planner, space);
  planner.burst(1);
};

/** A change of access is held, fails, or ends its process between its own commit and its wave. */
export const accessAtAGate: Episode = (planner) => {
  const { chance } = planner;
  const space = planner.space();
  const gate = "access:after-commit";
  const fault = chance.pick(["hold", "crashAt", "fail"]);
  planner.add({ [fault]: gate, space, ...(fault === "fail" ? { with: "io" } : {}) });
  if (chance.of(0.3)) planner.add({ start: "rival" });
  planner.changeAccess(space, "a1");
  planner.changeAccess(space, chance.pick(["a1", planner.client()]));
  planner.burst(1 + chance.below(2));
  if (chance.of(0.4)) planner.add({ advance: chance.pick([100, 2_000, 16_000]) });
  // Another owner decides otherwise meanwhile: what landed is not made over that (decision 21).
  if (chance.of(0.4)) planner.add({ acl: ["a1", space, FULL_ACL] });
  if (fault === "hold") planner.add({ release: gate, space });
  else planner.add({ start: chance.pick(["server", "server", "rival"]) });
  planner.burst(1 + chance.below(2));
  maybePutBack(planner, space);
};

/** The list becomes another one between the seal of a run that asks and its wave. */
export const accessRaced: Episode = (planner) => {
  const { chance } = planner;
  const space = planner.space();
  const gate = chance.pick(["seal:before", "wave:before-commit"] as const);
  planner.add({ hold: gate, space });
  planner.changeAccess(space);
  planner.reached(gate, space);
  planner.changeAccess(space);
  const levels = {
    ...FULL_ACL,
    ...chance.pick([{ alice: "OWNER", bob: "OWNER" }, { bob: "READ" }]),
  };
  planner.add({ acl: ["a1", space, levels] });
  if (chance.of(0.4)) planner.burst(1);
  planner.add({ release: gate, space });
  planner.burst(1 + chance.below(2));
  maybePutBack(planner, space);
};
