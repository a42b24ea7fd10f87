import { connect, type Client, type ValueHandle } from "@tidemark/client";
import { lunchPoll } from "@tidemark/patterns";
import {
  generateIdentity,
  type Identity,
  systemClock,
  systemRandom,
  type Transport,
  type WebSocketLike,
  webSocketTransport,
} from "@tidemark/protocol";
import { WebSocket } from "ws";

/** A transport over real sockets to wherever `url` says at the time. */
export function socketsTo(url: () => string): Transport {
  // `ws` types its listeners by its own event classes; the shape that is used is the browser's.
  return webSocketTransport(() => new WebSocket(url()) as unknown as WebSocketLike);
}

/** A person at the demo's poll. */
export function voter(
  transport: Transport,
  demo: { readonly space: string; readonly piece: string },
  identity: Identity = generateIdentity(systemRandom),
) {
  const client: Client = connect({
    transport,
    identity,
    clock: systemClock,
    random: systemRandom,
    policy: { backoff: { baseMs: 20, capMs: 200 } },
  });
  const space = client.open(demo.space as never);
  const poll = space.piece(demo.piece as never, lunchPoll);
  return { client, space, poll, did: identity.did };
}

/** Resolves with the first value that satisfies `accept`. */
export function seen<T>(handle: ValueHandle<T>, accept: (value: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    const end = handle.subscribe((value) => {
      if (value === undefined || !accept(value)) return;
      resolve(value);
      queueMicrotask(() => end());
    });
  });
}
