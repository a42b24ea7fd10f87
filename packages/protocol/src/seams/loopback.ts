import type { Clock } from "./system-clock.js";
import {
  CLOSE_LOST,
  CLOSE_NORMAL,
  type ClientConnection,
  type CloseReason,
  type Connection,
  type Transport,
} from "./transport.js";

/** A server and its clients in one process. */
export interface Loopback {
  readonly transport: Transport;
  /** Sets who takes the server's side of new connections. Without one, dialling ends in a close. */
  onConnection(fn: ((connection: Connection) => void) | undefined): void;
  /** Number of connections that neither end has closed. */
  readonly open: number;
  /**
   * The server's process dies: its sides go inert at once and are told nothing; what it had sent
   * still arrives, then the clients see the connection lost.
   */
  drop(code?: number, reason?: string): void;
}

type Delivery = (to: End) => void;

/** One end. Deliveries to it queue here and are made one per macrotask, in order. */
class End implements ClientConnection {
  readonly #clock: Clock;
  readonly #inbox: string[] = [];
  #peer: End | undefined;
  #live = true;
  #opened = false;
  #inFlight = 0;
  #message: ((text: string) => void) | undefined;
  #close: ((why: CloseReason) => void) | undefined;
  #open: (() => void) | undefined;
  #onEnd: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  static join(a: End, b: End, onEnd: () => void): void {
    a.#peer = b;
    b.#peer = a;
    a.#onEnd = onEnd;
    b.#onEnd = onEnd;
  }

  get bufferedBytes(): number {
    return this.#inFlight;
  }

  get live(): boolean {
    return this.#live;
  }

  send(text: string): void {
    if (!this.#live) return;
    this.#inFlight += text.length;
    this.#deliver((peer) => {
      this.#inFlight -= text.length;
      peer.#receive(text);
    });
  }

  close(code: number = CLOSE_NORMAL, reason = ""): void {
    if (!this.#live) return;
    this.die();
    this.#deliver((peer) => peer.end({ code, reason }));
  }

  onMessage(fn: (text: string) => void): void {
    this.#message = fn;
    while (this.#live && this.#inbox.length > 0) fn(this.#inbox.shift() ?? "");
  }

  onClose(fn: (why: CloseReason) => void): void {
    this.#close = fn;
  }

  onOpen(fn: () => void): void {
    this.#open = fn;
    if (this.#opened && this.#live) fn();
  }

  /** The other end accepted. */
  opened(): void {
    if (!this.#live) return;
    this.#opened = true;
    this.#open?.();
  }

  /** The other end went away. */
  end(why: CloseReason): void {
    if (!this.#live) return;
    this.die();
    this.#close?.(why);
  }

  /** Goes inert without a word to anybody. */
  die(): void {
    if (this.#live) this.#onEnd?.();
    this.#live = false;
    this.#inbox.length = 0;
  }

  #receive(text: string): void {
    if (!this.#live) return;
    if (this.#message === undefined) this.#inbox.push(text);
    else this.#message(text);
  }

  #deliver(delivery: Delivery): void {
    const peer = this.#peer;
    if (peer !== undefined) this.#clock.immediate(() => delivery(peer));
  }
}

/**
 * A transport within one process: what is sent on one side is delivered to the other by
 * `clock.immediate`, one macrotask a message, in order; a close travels in the same order.
 * Messages are strings, so no object is ever shared between the sides.
 */
export function createLoopback(clock: Clock): Loopback {
  let accept: ((connection: Connection) => void) | undefined;
  const servers = new Set<End>();

  const dial = (client: End, server: End): void => {
    if (!client.live) return;
    if (accept === undefined) {
      client.end({ code: CLOSE_LOST, reason: "nobody is listening" });
      return;
    }
    servers.add(server);
    client.opened();
    accept(server);
  };

  const connect = (): ClientConnection => {
    const client = new End(clock);
    const server = new End(clock);
    End.join(client, server, () => servers.delete(server));
    clock.immediate(() => dial(client, server));
    return client;
  };

  return {
    transport: { connect },
    onConnection: (fn) => void (accept = fn),
    get open() {
      return servers.size;
    },
    drop(code = CLOSE_LOST, reason = "connection lost") {
      // Deleting from a Set while going through it is defined: each is met once.
      for (const server of servers) server.close(code, reason);
    },
  };
}
