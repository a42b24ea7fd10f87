/** Bounds of WebSocket connections. Milliseconds and bytes. */
export interface SocketPolicy {
  /** Greatest message that is read at all; a larger one ends its connection with 1009. */
  readonly maxMessageBytes: number;
  /** What a connection may send before it has signed in; one that sends more is ended with 4008. */
  readonly maxStrangerBytes: number;
  /** Connections that may be open without having signed in; a further one is answered 503. */
  readonly maxStrangers: number;
  /** A connection that has not signed in by then is ended with 4008. */
  readonly signInMs: number;
  /** How long a stranger that is being ended may take to go. */
  readonly goodbyeMs: number;
}

/** The greatest message of the protocol (architecture contract). */
export const MAX_MESSAGE_BYTES = 4 * 1_048_576;

export const DEFAULT_SOCKET_POLICY: SocketPolicy = {
  // Above the protocol's own limit, whose refusal is a typed error that the connection survives.
  maxMessageBytes: 4 * MAX_MESSAGE_BYTES,
  // A hello and an answer to the challenge are less than 1 KiB; the rest is for attempts that fail.
  maxStrangerBytes: 65_536,
  maxStrangers: 1_000,
  // The program signs and no person: two round trips.
  signInMs: 15_000,
  goodbyeMs: 1_000,
};
