import type { Principal, SessionId, TidemarkError } from "@tidemark/protocol";

/** What the session's connection is doing. */
export type ConnectionState =
  /** Taken down by `disconnect`, until `reconnect`. */
  | "offline"
  /** Dialling or authenticating. */
  | "connecting"
  /** Authenticated. */
  | "online"
  /** Lost; the next attempt is planned. */
  | "waiting"
  /** Ended for good: a refusal that would come again, or `close`. */
  | "stopped";

/** What happens to a connection. */
export type ConnectionEvent = "dial" | "ready" | "lost" | "refused" | "disconnect" | "close";

/** Every transition. `undefined`: the event means nothing in that state. */
export const TRANSITIONS: Readonly<
  Record<ConnectionState, Readonly<Record<ConnectionEvent, ConnectionState | undefined>>>
> = {
  offline: {
    dial: "connecting",
    ready: undefined,
    lost: undefined,
    refused: undefined,
    disconnect: undefined,
    close: "stopped",
  },
  connecting: {
    dial: undefined,
    ready: "online",
    lost: "waiting",
    refused: "stopped",
    disconnect: "offline",
    close: "stopped",
  },
  online: {
    dial: undefined,
    ready: undefined,
    lost: "waiting",
    refused: "stopped",
    disconnect: "offline",
    close: "stopped",
  },
  waiting: {
    dial: "connecting",
    ready: undefined,
    lost: undefined,
    refused: undefined,
    disconnect: "offline",
    close: "stopped",
  },
  stopped: {
    dial: undefined,
    ready: undefined,
    lost: undefined,
    refused: undefined,
    disconnect: undefined,
    close: undefined,
  },
};

/** What a client shows of its connection. */
export interface ConnectionStatus {
  readonly state: ConnectionState;
  readonly principal: Principal;
  /** Another one than was asked for when a newer tab took that one over (R27). */
  readonly sessionId: SessionId;
  /** Why it is waiting or stopped, in words. */
  readonly reason?: string;
  /** The refusal that stopped it. */
  readonly error?: TidemarkError;
  /** Milliseconds until the next attempt, as planned when it was lost. */
  readonly retryInMs?: number;
}
