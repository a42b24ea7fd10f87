import type { ConnectionState, ConnectionStatus } from "@tidemark/client";

/** How something is shown: good, under way, or in need of attention. */
export type Tone = "good" | "busy" | "bad";

/** What a badge says. */
export interface Badge {
  readonly tone: Tone;
  readonly text: string;
}

const TONES: Readonly<Record<ConnectionState, Tone>> = {
  online: "good",
  connecting: "busy",
  waiting: "bad",
  offline: "bad",
  stopped: "bad",
};

/**
 * The state of the connection in words.
 *
 * @param inMs milliseconds until the next attempt, where one is planned
 * @param queued changes that wait in this tab
 */
export function connectionBadge(status: ConnectionStatus, inMs: number, queued: number): Badge {
  const held = queued === 0 ? "" : ` · ${queued} kept here`;
  const tone = TONES[status.state];
  switch (status.state) {
    case "online":
      return { tone, text: "Online" };
    case "connecting":
      return { tone, text: `Connecting…${held}` };
    case "waiting":
      return { tone, text: `Offline · trying again ${soon(inMs)}${held}` };
    case "offline":
      return { tone, text: `Offline${held}` };
    case "stopped":
      return { tone, text: `Signed out${held}` };
  }
}

function soon(inMs: number): string {
  const seconds = Math.ceil(inMs / 1000);
  return seconds <= 0 ? "now" : `in ${seconds} s`;
}
