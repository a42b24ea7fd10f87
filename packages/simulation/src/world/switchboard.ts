import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type CloseReason,
  type Clock,
  type Connection,
  connectionOver,
  createLoopback,
  type Transport,
  type WebSocketLike,
  webSocketTransport,
} from "@tidemark/protocol";
import { WebSocket, WebSocketServer } from "ws";

/** How clients reach one server process. */
export interface Listener {
  readonly transport: Transport;
  /** Messages and handshakes on their way: the world is not at rest while there are some. */
  readonly inFlight: number;
  /** The process is gone: its sides are inert at once, what it had sent still arrives. */
  drop(): void;
  close(): Promise<void>;
}

/** The two transports of the runner. */
export type TransportKind = "loopback" | "ws";

/** Opens a listener whose new connections go to `accept`. */
export function listen(
  kind: TransportKind,
  clocks: ListenerClocks,
  accept: (connection: Connection) => void,
): Promise<Listener> {
  return kind === "loopback"
    ? Promise.resolve(listenLoopback(clocks, accept))
    : listenWebSocket(accept);
}

/** Whose time moves what: a process that stands still or is dead takes nothing in, what it has sent travels on. */
export interface ListenerClocks {
  readonly network: Clock;
  readonly process: Clock;
}

function listenLoopback(
  { network, process }: ListenerClocks,
  accept: (connection: Connection) => void,
): Listener {
  const loopback = createLoopback(network);
  loopback.onConnection((connection) => {
    const heard = heardBy(process, connection);
    process.immediate(() => accept(heard));
  });
  const drop = (): void => {
    loopback.onConnection(undefined);
    loopback.drop();
  };
  return {
    transport: loopback.transport,
    // Deliveries are immediates of the clock: whoever drains it has waited for them.
    inFlight: 0,
    drop,
    close: () => Promise.resolve(drop()),
  };
}

/** A connection whose messages and close reach the process in its own time. */
function heardBy(process: Clock, connection: Connection): Connection {
  let told: ((why: CloseReason) => void) | undefined;
  // Whoever dials may be gone again before a process that stands still has taken it in.
  connection.onClose((why) => void process.immediate(() => told?.(why)));
  return {
    get bufferedBytes() {
      return connection.bufferedBytes;
    },
    send: (text) => connection.send(text),
    close: (code, reason) => connection.close(code, reason),
    onMessage: (fn) => connection.onMessage((text) => void process.immediate(() => fn(text))),
    onClose: (fn) => void (told = fn),
  };
}

/** Counts what has been sent over real sockets and not arrived. */
class Traffic {
  #inFlight = 0;

  get inFlight(): number {
    return this.#inFlight;
  }

  start(): void {
    this.#inFlight += 1;
  }

  end(): void {
    this.#inFlight -= 1;
  }
}

/** What one socket's two ends have on their way to each other. */
class Wire {
  readonly #traffic: Traffic;
  #pending = 0;
  #ended = 0;

  constructor(traffic: Traffic) {
    this.#traffic = traffic;
    // The handshake.
    this.sent();
  }

  sent(): void {
    if (this.#ended > 0) return;
    this.#pending += 1;
    this.#traffic.start();
  }

  arrived(): void {
    if (this.#pending === 0) return;
    this.#pending -= 1;
    this.#traffic.end();
  }

  /** One end has seen the close. When both have, nothing more arrives. */
  end(): void {
    this.#ended += 1;
    while (this.#pending > 0) this.arrived();
  }
}

async function listenWebSocket(accept: (connection: Connection) => void): Promise<Listener> {
  const traffic = new Traffic();
  const wires = new Map<string, Wire>();
  const http = createServer();
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
  let alive = true;
  const connections = new Set<Connection>();
  sockets.on("connection", (socket, request) => {
    const wire = wires.get(request.url ?? "");
    const connection = connectionOver(counted(socket as unknown as WebSocketLike, wire));
    if (!alive) {
      connection.close();
      return;
    }
    connections.add(connection);
    accept(connection);
  });
  const port = await startListening(http);
  let dialled = 0;
  const drop = (): void => {
    alive = false;
    for (const connection of connections) connection.close();
    http.close();
  };
  return {
    transport: webSocketTransport(() => {
      const path = `/${(dialled += 1)}`;
      const wire = new Wire(traffic);
      wires.set(path, wire);
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false });
      const like = counted(socket as unknown as WebSocketLike, wire);
      like.addEventListener("open", () => wire.arrived());
      return like;
    }),
    get inFlight() {
      return traffic.inFlight;
    },
    drop,
    close() {
      drop();
      for (const socket of sockets.clients) socket.terminate();
      return new Promise((resolve) => void sockets.close(() => resolve()));
    },
  };
}

function startListening(http: Server): Promise<number> {
  return new Promise((resolve) => {
    http.listen(0, "127.0.0.1", () => resolve((http.address() as AddressInfo).port));
  });
}

/** A socket whose messages are counted from the send to the arrival. */
function counted(socket: WebSocketLike, wire: Wire | undefined): WebSocketLike {
  if (!wire) return socket;
  socket.addEventListener("close", () => wire.end());
  return {
    get readyState() {
      return socket.readyState;
    },
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send(text) {
      wire.sent();
      socket.send(text);
    },
    close(code, reason) {
      wire.sent();
      socket.close(code, reason);
    },
    addEventListener(type: string, listener: (event: never) => void) {
      const heard =
        type === "message"
          ? (event: never) => {
              wire.arrived();
              listener(event);
            }
          : listener;
      (socket.addEventListener as (type: string, fn: (event: never) => void) => void).call(
        socket,
        type,
        heard,
      );
    },
  };
}

/** A transport to whichever process clients are to reach now. */
export function switchedTransport(clock: Clock, current: () => Listener | undefined): Transport {
  const nowhere = createLoopback(clock).transport;
  return { connect: () => (current()?.transport ?? nowhere).connect() };
}
