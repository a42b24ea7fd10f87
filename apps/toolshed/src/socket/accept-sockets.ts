import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { type Clock, type Connection, connectionOver } from "@tidemark/protocol";
import { WebSocketServer } from "ws";
import { gathered } from "./gathered.js";
import type { SocketPolicy } from "./policy.js";
import { Strangers } from "./strangers.js";

/** Where the protocol is spoken (seed 001, Anchors). */
export const SOCKET_PATH = "/api/storage/memory";

export interface SocketsOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly policy: SocketPolicy;
  /** `signedIn` is to be called when the connection has its session: it is bounded as a stranger's until then. */
  readonly onConnection: (connection: Connection, signedIn: () => void) => void;
}

/** Takes WebSocket connections of an HTTP server on the protocol's path, and on no other. */
export function acceptSockets(options: SocketsOptions): { close(): void } {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: options.policy.maxMessageBytes,
    perMessageDeflate: false,
  });
  const strangers = new Strangers(options.policy, options.clock);
  options.server.on("upgrade", (request, socket, head) => {
    // A socket that breaks before it is anybody's would otherwise end the process.
    socket.on("error", () => socket.destroy());
    const path = request.url?.split("?", 1)[0];
    if (path !== SOCKET_PATH) {
      refuse(socket, "404 Not Found");
      return;
    }
    if (strangers.full) {
      refuse(socket, "503 Service Unavailable");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const signedIn = strangers.admit(webSocket, socket);
      options.onConnection(connectionOver(gathered(webSocket, socket)), signedIn);
    });
  });
  return {
    close() {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
    },
  };
}

/** Answers an upgrade and is rid of its socket, whether or not the peer closes its side. */
function refuse(socket: Duplex, status: string): void {
  socket.once("finish", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
