import type { Duplex } from "node:stream";
import type { Cancellable, Clock } from "@tidemark/protocol";
import type { WebSocket } from "ws";
import type { SocketPolicy } from "./policy.js";

/** "Cut off" of the wire protocol. */
const CLOSE_CUT_OFF = 4008;

/** What an arrival costs beside its bytes: a peer that sends them one by one makes a buffer of each. */
const ARRIVAL_BYTES = 64;

/**
 * The connections that have not signed in. Anybody may open one, so they are bounded: in their number, in what each may
 * send, and in their time (field fault RS-03).
 */
export class Strangers {
  readonly #policy: SocketPolicy;
  readonly #clock: Clock;
  #count = 0;

  constructor(policy: SocketPolicy, clock: Clock) {
    this.#policy = policy;
    this.#clock = clock;
  }

  /** No further one is let in. */
  get full(): boolean {
    return this.#count >= this.#policy.maxStrangers;
  }

  /** Takes a connection in; what it returns is to be called when the connection has signed in. */
  admit(webSocket: WebSocket, stream: Duplex): () => void {
    const { maxStrangerBytes, signInMs, goodbyeMs } = this.#policy;
    const endIn = (ms: number): Cancellable => this.#clock.timer(ms, () => webSocket.terminate());
    // The memory server says goodbye in time; this is for a peer that does not go then.
    let end = endIn(signInMs + goodbyeMs);
    let left = maxStrangerBytes;
    let stranger = true;
    // `ws` buffers a message until it is whole, so the bytes are counted as they arrive. Its own listener came first: an
    // arrival with the sign-in in it is no stranger's any more.
    const count = (data: Buffer): void => {
      if (!stranger) return;
      left -= data.length + ARRIVAL_BYTES;
      if (left >= 0) return;
      stream.off("data", count);
      webSocket.close(CLOSE_CUT_OFF, "too much was sent without a session");
      // Nothing more is read, the peer's own goodbye included.
      webSocket.pause();
      end.cancel();
      end = endIn(goodbyeMs);
    };
    const leave = (): void => {
      if (!stranger) return;
      stranger = false;
      this.#count -= 1;
      stream.off("data", count);
      if (left >= 0) end.cancel();
    };
    this.#count += 1;
    stream.on("data", count);
    stream.once("close", () => {
      leave();
      end.cancel();
    });
    return leave;
  }
}
