/**
 * Signals that come within this time of the first are the same request: a terminal signals the whole group, and whoever
 * started the process passes the signal on as well.
 */
export const SAME_REQUEST_MS = 1_000;

/** What a signal asks for. */
export type StopRequest = "stop" | "same" | "exit";

/** Tells the first request to stop, its echoes, and the request of somebody who does not want to wait. */
export function stopRequests(): (now: number) => StopRequest {
  let first: number | undefined;
  return (now) => {
    if (first === undefined) {
      first = now;
      return "stop";
    }
    return now - first < SAME_REQUEST_MS ? "same" : "exit";
  };
}
