import {
  CLOSE_LOST,
  CLOSE_NORMAL,
  type ClientConnection,
  type CloseReason,
  type Connection,
  type Transport,
} from "./transport.js";

/** What a browser's `WebSocket` and the `ws` package's have in common. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: "close",
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
  addEventListener(type: "error", listener: () => void): void;
}

const OPEN = 1;

/** The longest reason that a close frame carries, in characters that are one byte each. */
const MAX_REASON = 120;

/**
 * One side of a socket as a {@link Connection}. Binary messages are no part of the protocol: one ends the connection
 * with 1003. Events of a socket that has ended are inert (field fault SY-07).
 */
class SocketConnection implements ClientConnection {
  readonly #socket: WebSocketLike;
  readonly #outbox: string[] = [];
  readonly #inbox: string[] = [];
  #opened: boolean;
  #ended = false;
  #end: CloseReason | undefined;
  #message: ((text: string) => void) | undefined;
  #close: ((why: CloseReason) => void) | undefined;
  #open: (() => void) | undefined;

  constructor(socket: WebSocketLike) {
    this.#socket = socket;
    this.#opened = socket.readyState === OPEN;
    socket.addEventListener("open", () => this.#onOpened());
    socket.addEventListener("message", ({ data }) => this.#onData(data));
    socket.addEventListener("close", ({ code, reason }) => this.#onEnd({ code, reason }));
    // A close event follows every error event, with the code to show.
    socket.addEventListener("error", () => undefined);
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount + this.#outbox.reduce((sum, text) => sum + text.length, 0);
  }

  send(text: string): void {
    if (this.#ended) return;
    if (this.#opened) this.#socket.send(text);
    else this.#outbox.push(text);
  }

  close(code: number = CLOSE_NORMAL, reason = ""): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket.close(code === CLOSE_LOST ? CLOSE_NORMAL : code, reason.slice(0, MAX_REASON));
  }

  onMessage(fn: (text: string) => void): void {
    this.#message = fn;
    while (!this.#ended && this.#inbox.length > 0) fn(this.#inbox.shift() ?? "");
  }

  onClose(fn: (why: CloseReason) => void): void {
    this.#close = fn;
    if (this.#end) fn(this.#end);
  }

  onOpen(fn: () => void): void {
    this.#open = fn;
    if (this.#opened && !this.#ended) fn();
  }

  #onOpened(): void {
    if (this.#ended) return;
    this.#opened = true;
    for (const text of this.#outbox.splice(0)) this.#socket.send(text);
    this.#open?.();
  }

  #onData(data: unknown): void {
    if (this.#ended) return;
    if (typeof data !== "string") {
      this.#socket.close(1003, "text messages only");
      return;
    }
    if (this.#message === undefined) this.#inbox.push(data);
    else this.#message(data);
  }

  #onEnd(why: CloseReason): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#end = why;
    this.#close?.(why);
  }
}

/** The server's side of an accepted socket. */
export function connectionOver(socket: WebSocketLike): Connection {
  return new SocketConnection(socket);
}

/** A transport that dials a new socket each time: `() => new WebSocket(url)`. */
export function webSocketTransport(dial: () => WebSocketLike): Transport {
  return { connect: () => new SocketConnection(dial()) };
}
