import { STORE } from "../run/steps.js";
import type { Trick } from "../intruder/tricks.js";
import type { Step } from "../scenario/steps.js";
import type { DiskPlace } from "../world/disks.js";
import type { World } from "../world/world.js";
import type { WorldFault } from "./plan-file.js";

const HOUR_MS = 3_600_000;

type Met = readonly WorldFault[];

const NOTHING = (): Met => [];

/** What a disk does to whom it fails or keeps waiting. */
export const DISK_FAULTS: Readonly<Record<DiskPlace | "slow", WorldFault>> = {
  open: "a store does not open",
  begin: "a transaction does not begin",
  row: "a row is not written",
  lease: "a lease step fails",
  wave: "a wave is not written to disk",
  input: "an input is not written to disk",
  "after-wave": "a wave is on disk and told to have failed",
  "after-input": "an input is on disk and told to have failed",
  slow: "a disk is slow",
};

/**
 * Looks at a step before it is done, and says after it which faults it was: one that strikes nobody is none.
 */
export function faultMet(world: World, step: Step): () => Met {
  switch (step.verb) {
    case "steal":
      return always(theft(world, step.value[0]));
    case "suspend":
      return asleep(world, step.value);
    case "answer":
      return answer(world, step.beside.fails === true);
    case "intrude":
      return refusal(world, step.value[1]);
    case "clock":
      return always(clockStep(world, step.value));
    default:
      return NOTHING;
  }
}

function always(met: Met): () => Met {
  return () => met;
}

function theft(world: World, space: string): Met {
  const process = world.leases.processOf(space);
  if (!process?.alive) return [];
  return process.frozen
    ? ["a lease is stolen while its holder stands still"]
    : ["a live lease is stolen"];
}

/** Whoever held a lease as it fell asleep wakes without it. */
function asleep(world: World, name: string): () => Met {
  const holds = (space: string): boolean => world.leases.holderOf(space) === name;
  const held = world.places.spaceNames.filter(holds);
  return () => (held.every(holds) ? [] : ["a holder stands still past its lease"]);
}

function answer(world: World, fails: boolean): () => Met {
  const before = world.outside.answered;
  const met = fails ? "a request is failed" : "a request is answered late";
  return () => (world.outside.answered > before ? [met] : []);
}

/** Whoever tried something was refused it: what nobody answered was tried on nobody. */
function refusal(world: World, trick: Trick): () => Met {
  const before = world.intruders.refused;
  return () => (world.intruders.refused > before ? [`somebody intrudes: ${trick}`] : []);
}

function clockStep(world: World, [name, ms]: readonly [string, number]): Met {
  if (name !== STORE) {
    const holds = world.places.spaceNames.some((space) => world.leases.holderOf(space) === name);
    return holds && Math.abs(ms) >= HOUR_MS ? ["a holder's clock steps by an hour"] : [];
  }
  const by = ms - world.leases.clockStep;
  const live = world.places.spaceNames.some((space) => world.leases.leftOf(space) > 0);
  if (!live || by === 0) return [];
  return by > 0
    ? ["the store's clock steps on past a live lease"]
    : ["the store's clock steps back under a live lease"];
}
