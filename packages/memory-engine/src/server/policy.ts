import { WALK_LIMITS, type WalkLimits } from "@tidemark/protocol";

/** Limits and periods of a memory server. Milliseconds and bytes. */
export interface ServerPolicy {
  /** Greatest client message, in UTF-16 units of its text (architecture contract: 4 MiB). */
  readonly maxMessageBytes: number;
  /** How long a challenge may be answered (protocol.md §7). */
  readonly challengeTtlMs: number;
  /** A connection that has no session by then is closed: twice the life of a challenge. */
  readonly authDeadlineMs: number;
  /** A session without a connection for so long has ended (R36). */
  readonly sessionAbsenceMs: number;
  /** How often a space with subscribers looks for commits of other processes (R19). */
  readonly pollMs: number;
  /** Greatest number of bytes that wait in one connection, the next frame included. */
  readonly maxBufferedBytes: number;
  /** Greatest single frame; a session that needs a greater one is cut off. */
  readonly maxFrameBytes: number;
  /** How often a connection that lags is looked at. */
  readonly slowCheckMs: number;
  /** A connection that lags for so long is cut off. */
  readonly slowCutoffMs: number;
  /** Most commits that a resume replays; an older cursor is told to resync. */
  readonly maxResumeCommits: number;
  /** Bounds of the walk of one watch root. */
  readonly walk: WalkLimits;
  /** Most spaces that one session may have open. */
  readonly maxOpenSpaces: number;
  /** Messages of one connection that may wait behind one that is held, before it is cut off. */
  readonly maxQueuedMessages: number;
  /** Appends of one connection that may stand refused for now, before it is cut off. */
  readonly maxStandingAppends: number;
  /** Malformed messages in a row after which a connection is closed. */
  readonly maxMalformedInRow: number;
}

const DAY_MS = 86_400_000;
const MIB = 1_048_576;

export const DEFAULT_SERVER_POLICY: ServerPolicy = {
  maxMessageBytes: 4 * MIB,
  challengeTtlMs: 60_000,
  authDeadlineMs: 120_000,
  sessionAbsenceMs: 30 * DAY_MS,
  pollMs: 250,
  maxBufferedBytes: 8 * MIB,
  maxFrameBytes: 64 * MIB,
  slowCheckMs: 100,
  slowCutoffMs: 30_000,
  maxResumeCommits: 10_000,
  walk: { ...WALK_LIMITS, maxInstances: 100_000 },
  maxOpenSpaces: 256,
  maxQueuedMessages: 10_000,
  maxStandingAppends: 16_384,
  maxMalformedInRow: 64,
};
