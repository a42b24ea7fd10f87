import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { acceptSockets, type SocketsOptions } from "../socket/accept-sockets.js";
import type { SocketPolicy } from "../socket/policy.js";
import { createApp, type HttpSources } from "./app.js";

/** What {@link openWeb} is given. */
export interface WebOptions extends HttpSources, Omit<SocketsOptions, "server" | "policy"> {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly sockets: SocketPolicy;
}

/** The listening side. */
export interface Web {
  readonly url: string;
  close(): void;
}

/**
 * Takes the port: HTTP, and the socket beside it.
 *
 * @throws the system's error (`EADDRINUSE`, `EACCES`, …) where it cannot be taken.
 */
export async function openWeb(options: WebOptions): Promise<Web> {
  const app = createApp(options);
  const server = createServer(getRequestListener(app.fetch));
  const sockets = acceptSockets({
    server,
    clock: options.clock,
    policy: options.sockets,
    onConnection: options.onConnection,
  });
  await startListening(server, options.port, options.host);
  const { port } = server.address() as AddressInfo;
  const name = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${name}:${port}`,
    close() {
      sockets.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

function startListening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
