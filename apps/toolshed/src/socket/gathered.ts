import type { Duplex } from "node:stream";
import type { WebSocketLike } from "@tidemark/protocol";
import type { WebSocket } from "ws";

/**
 * A socket whose messages of one turn leave in one write: a group of events is acknowledged by as many messages, and a
 * system call for each costs the server more than making them.
 */
export function gathered(webSocket: WebSocket, stream: Duplex): WebSocketLike {
  // `ws` types its listeners by its own event classes; the shape that is used is the browser's.
  const socket = webSocket as unknown as WebSocketLike;
  let gathering = false;
  const release = (): void => {
    gathering = false;
    stream.uncork();
  };
  const gather = (): void => {
    if (gathering) return;
    gathering = true;
    stream.cork();
    process.nextTick(release);
  };
  return {
    get readyState() {
      return socket.readyState;
    },
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send(text) {
      gather();
      socket.send(text);
    },
    close: (code, reason) => socket.close(code, reason),
    addEventListener: (type: never, listener: never) => socket.addEventListener(type, listener),
  };
}
