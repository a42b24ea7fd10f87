import type { CycleBackoff } from "../settle/cycle-backoff.js";
import type { Gate } from "../settle/gate.js";

/** Why a dirty node does not run now although something demands it. */
export type Hold = "gate" | "backoff" | "retry";

/**
 * What holds a node back or may come to, and who waits for it. Most nodes never have one, so that one look tells that
 * there is nothing to look after.
 */
export class Restraint {
  hold: Hold | undefined = undefined;
  gate: Gate | undefined = undefined;
  backoff: CycleBackoff | undefined = undefined;
  /** Failures in a row that are tried again. */
  tries = 0;
  /** How often in a row it was dirtied by another node after it ran in the same pass. */
  streak = 0;
  streakEpoch = 0;
  /** Somebody waits for this node to come off hold before deciding. */
  blocks = false;
}
