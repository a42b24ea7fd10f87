import type { Badge } from "../connection/connection-words.js";

/** What is under way in a space, as seen from this tab. */
export interface Activity {
  readonly online: boolean;
  /** Changes not yet acknowledged by the server. */
  readonly queued: number;
  /** Own events whose handling has not ended. */
  readonly outstanding: number;
  /** Something that has arrived is still being worked in. */
  readonly busy: boolean;
}

/** The settledness of a space in words: settled, working, or how many wait. */
export function settledBadge({ online, queued, outstanding, busy }: Activity): Badge {
  const waiting = Math.max(queued, outstanding);
  if (!online && waiting > 0) return { tone: "bad", text: `${waiting} waiting for the server` };
  if (waiting > 1) return { tone: "busy", text: `${waiting} waiting` };
  if (waiting === 1 || busy) return { tone: "busy", text: "Working…" };
  return { tone: "good", text: "Settled" };
}

/** Whether two states look the same. */
export function sameActivity(a: Activity, b: Activity): boolean {
  return (
    a.online === b.online &&
    a.queued === b.queued &&
    a.outstanding === b.outstanding &&
    a.busy === b.busy
  );
}
