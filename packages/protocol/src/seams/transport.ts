/** Why a connection ended; the numbers of RFC 6455 where one fits (1000 normal, 1006 lost). */
export interface CloseReason {
  readonly code: number;
  readonly reason: string;
}

/** The close code of an orderly end. */
export const CLOSE_NORMAL = 1000;
/** The close code of a connection that was lost, not closed. */
export const CLOSE_LOST = 1006;

/**
 * One side of a socket that carries text messages. Messages arrive in the order they were sent, and
 * the close arrives after every message sent before it. A side that is closed, by whichever end, is
 * inert: it calls no handler any more, and `send` and `close` on it do nothing.
 */
export interface Connection {
  /** Sends one message. Before the connection is open, messages wait and keep their order. */
  send(text: string): void;
  close(code?: number, reason?: string): void;
  /** Characters or bytes handed to `send` that have not left this side: what a slow peer costs. */
  readonly bufferedBytes: number;
  /** Sets the one handler of messages. Messages that came before there is one wait for it. */
  onMessage(fn: (text: string) => void): void;
  /** Sets the one handler of the end. It is called once, for a close by the peer or a loss. */
  onClose(fn: (why: CloseReason) => void): void;
}

/** The side that dialled: it opens later. */
export interface ClientConnection extends Connection {
  /** Sets the handler of the opening, called at once if it has already opened. */
  onOpen(fn: () => void): void;
}

/** A way to reach a server. */
export interface Transport {
  /** Dials. The connection opens asynchronously, or ends with a close. */
  connect(): ClientConnection;
}
