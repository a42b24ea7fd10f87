import type { Server } from "node:http";
import { type Connection, connectionOver } from "@tidemark/protocol";
import { WebSocketServer } from "ws";
import { gathered } from "./gathered.js";

/** Where the protocol is spoken (seed 001, Anchors). */
export const SOCKET_PATH = "/api/storage/memory";

export interface SocketsOptions {
  readonly server: Server;
  /** Greatest message that is read at all, in bytes; a larger one ends its connection with 1009. */
  readonly maxMessageBytes: number;
  readonly onConnection: (connection: Connection) => void;
}

/** Takes WebSocket connections of an HTTP server on the protocol's path, and on no other. */
export function acceptSockets(options: SocketsOptions): { close(): void } {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: options.maxMessageBytes,
    perMessageDeflate: false,
  });
  options.server.on("upgrade", (request, socket, head) => {
    // A socket that breaks before it is anybody's would otherwise end the process.
    socket.on("error", () => socket.destroy());
    const path = request.url?.split("?", 1)[0];
    if (path !== SOCKET_PATH) {
      socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      options.onConnection(connectionOver(gathered(webSocket, socket)));
    });
  });
  return {
    close() {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
    },
  };
}
