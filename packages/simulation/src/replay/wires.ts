import {
  type ClientConnection,
  type CloseReason,
  type Transport,
  type WebSocketLike,
  webSocketTransport,
} from "@tidemark/protocol";
import { WebSocket } from "ws";

/** Whether a message answers a request. */
export function isAnswer(text: string): boolean {
  return text.includes('"type":"ok"');
}

/**
 * Sockets to a server that may be killed. They can be made deaf: what is on its way to the client at the moment of a
 * kill is lost or not as the kernels please, and where it is lost the client does not know what became of its requests.
 */
export class Wires {
  readonly #open = new Set<Wire>();

  /** A transport to wherever `url` says at the time. */
  transport(url: () => string): Transport {
    // `ws` types its listeners by its own event classes; the shape that is used is the browser's.
    const inner = webSocketTransport(
      () => new WebSocket(url(), { perMessageDeflate: false }) as unknown as WebSocketLike,
    );
    return {
      connect: () => {
        const wire = new Wire(inner.connect(), () => this.#open.delete(wire));
        this.#open.add(wire);
        return wire;
      },
    };
  }

  /**
   * Connections of this moment hear nothing any more; later ones do.
   *
   * @returns resolves when a message was lost that `counts`.
   */
  deafen(counts: (text: string) => boolean): Promise<void> {
    return new Promise((resolve) => {
      for (const wire of this.#open) {
        wire.deafen((text) => {
          if (counts(text)) resolve();
        });
      }
    });
  }
}

class Wire implements ClientConnection {
  readonly #inner: ClientConnection;
  readonly #ended: () => void;
  #lost: ((text: string) => void) | undefined;

  constructor(inner: ClientConnection, ended: () => void) {
    this.#inner = inner;
    this.#ended = ended;
  }

  get bufferedBytes(): number {
    return this.#inner.bufferedBytes;
  }

  deafen(lost: (text: string) => void): void {
    this.#lost = lost;
  }

  send(text: string): void {
    this.#inner.send(text);
  }

  close(code?: number, reason?: string): void {
    this.#ended();
    this.#inner.close(code, reason);
  }

  onOpen(fn: () => void): void {
    this.#inner.onOpen(fn);
  }

  onMessage(fn: (text: string) => void): void {
    this.#inner.onMessage((text) => {
      if (this.#lost === undefined) fn(text);
      else this.#lost(text);
    });
  }

  onClose(fn: (why: CloseReason) => void): void {
    this.#inner.onClose((why) => {
      this.#ended();
      fn(why);
    });
  }
}
