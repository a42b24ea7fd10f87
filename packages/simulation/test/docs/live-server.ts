import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ExecutorHost } from "@tidemark/executor";
import { MemoryServer } from "@tidemark/memory-engine";
import { createTestStores } from "@tidemark/memory-engine/testing";
import {
  connectionOver,
  openGates,
  systemClock as clock,
  systemRandom as random,
  type WebSocketLike,
} from "@tidemark/protocol";
import { type Pattern, PatternRegistry } from "@tidemark/runtime";
import { WebSocketServer } from "ws";

/** A server on a socket, with real time and stores in memory: what a guide's program talks to. */
export interface LiveServer {
  readonly socketUrl: string;
  /** Patterns that the server is to serve; a guide's program declares its own. */
  serve(pattern: Pattern): void;
  stop(): Promise<void>;
}

/** Listens on a free port of this machine. */
export async function startLiveServer(): Promise<LiveServer> {
  const stores = createTestStores({ storeClock: clock, random });
  const patterns = new PatternRegistry();
  const gates = openGates;
  const memory = new MemoryServer({ clock, random, gates, stores, serverId: "guide" });
  const host = new ExecutorHost({ memory, stores, patterns, clock, random, gates });
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  sockets.on("connection", (socket) => {
    memory.accept(connectionOver(socket as unknown as WebSocketLike));
  });
  host.start();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    socketUrl: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`,
    serve: (pattern) => void patterns.register(pattern),
    async stop() {
      await host.stop();
      await memory.stop();
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      http.close();
    },
  };
}
