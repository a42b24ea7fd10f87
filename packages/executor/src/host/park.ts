/**
 * Why a tenure ended (seed 001 §1).
 *
 * - `idle`: nobody needs the space; `stopped`: the host closes.
 * - `rival`: another process's live lease refused an acquire.
 * - `lapse`: the lease was lost while it was held; `failed`: the loop or the initialization threw.
 */
export type ParkReason = "idle" | "stopped" | "rival" | "lapse" | "failed";

/** The activation criteria (seed 001 §1): any one of them makes a space ACTIVE. */
export interface ActivationCriteria {
  readonly liveSessions: number;
  /** `unknown`: the store could not be read; the activation opens it itself and then fails or not. */
  readonly undelivered: boolean | "unknown";
  readonly warmRequests: number;
  /** Lifecycle verbs that no tenure has received. */
  readonly verbs: number;
}

/** What the host does once a park has completed. */
export interface AfterPark {
  /** Consecutive failure parks, this one included; 0 clears the backoff. */
  readonly failures: number;
  /** Whether the criteria are looked at again without another trigger. */
  readonly reevaluate: boolean;
}

/** Whether a space is one that somebody needs. */
export function meetsCriteria(criteria: ActivationCriteria): boolean {
  const { liveSessions, undelivered, warmRequests, verbs } = criteria;
  return liveSessions > 0 || undelivered !== false || warmRequests > 0 || verbs > 0;
}

const PARKS: Record<ParkReason, (failures: number) => AfterPark> = {
  idle: () => ({ failures: 0, reevaluate: true }),
  stopped: (failures) => ({ failures, reevaluate: false }),
  // The rival serves the space: an activation here would be refused again.
  rival: (failures) => ({ failures, reevaluate: false }),
  lapse: (failures) => ({ failures: failures + 1, reevaluate: true }),
  failed: (failures) => ({ failures: failures + 1, reevaluate: true }),
};

/** The consequence of a park for the space's next activation. */
export function afterPark(reason: ParkReason, failures: number): AfterPark {
  return PARKS[reason](failures);
}
