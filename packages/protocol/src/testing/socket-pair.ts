import {
  CLOSE_LOST,
  CLOSE_NORMAL,
  type ClientConnection,
  type CloseReason,
  type Connection,
} from "../seams/transport.js";

type Item = { readonly text: string } | { readonly close: CloseReason };

/** One side of a {@link TestSocketPair}. */
class TestSocket implements ClientConnection {
  /** What this side has sent and nobody has delivered yet. */
  readonly outbox: Item[] = [];
  readonly #early: string[] = [];
  #live = true;
  #message: ((text: string) => void) | undefined;
  #close: ((why: CloseReason) => void) | undefined;

  get live(): boolean {
    return this.#live;
  }

  get bufferedBytes(): number {
    return this.outbox.reduce((sum, item) => sum + ("text" in item ? item.text.length : 0), 0);
  }

  send(text: string): void {
    if (this.#live) this.outbox.push({ text });
  }

  close(code: number = CLOSE_NORMAL, reason = ""): void {
    if (!this.#live) return;
    this.#live = false;
    this.outbox.push({ close: { code, reason } });
  }

  onMessage(fn: (text: string) => void): void {
    this.#message = fn;
    while (this.#live && this.#early.length > 0) fn(this.#early.shift() ?? "");
  }

  onClose(fn: (why: CloseReason) => void): void {
    this.#close = fn;
  }

  onOpen(fn: () => void): void {
    if (this.#live) fn();
  }

  take(item: Item): void {
    if (!this.#live) return;
    if ("close" in item) {
      this.#live = false;
      this.#close?.(item.close);
    } else if (this.#message === undefined) {
      this.#early.push(item.text);
    } else {
      this.#message(item.text);
    }
  }
}

/**
 * Two connected sides between which nothing moves until the test says so (tldraw's TestSocketPair).
 * Messages are strings, so the sides share no object.
 */
export class TestSocketPair {
  readonly #client = new TestSocket();
  readonly #server = new TestSocket();

  get client(): ClientConnection {
    return this.#client;
  }

  get server(): Connection {
    return this.#server;
  }

  /** Messages and closes on their way to the server. */
  get toServer(): readonly string[] {
    return this.#client.outbox.map(show);
  }

  /** Messages and closes on their way to the client. */
  get toClient(): readonly string[] {
    return this.#server.outbox.map(show);
  }

  /** Delivers up to `count` of what the client sent. Returns how many there were. */
  flushToServer(count = Number.POSITIVE_INFINITY): number {
    return move(this.#client, this.#server, count);
  }

  /** Delivers up to `count` of what the server sent. Returns how many there were. */
  flushToClient(count = Number.POSITIVE_INFINITY): number {
    return move(this.#server, this.#client, count);
  }

  /** Delivers in both directions until nothing is under way. Returns how many there were. */
  flush(): number {
    let total = 0;
    for (let moved = 1; moved > 0; total += moved)
      moved = this.flushToServer() + this.flushToClient();
    return total;
  }

  /** The line is cut: what was under way is lost, and both sides see the connection lost. */
  cut(): void {
    this.#client.outbox.length = 0;
    this.#server.outbox.length = 0;
    const close = { code: CLOSE_LOST, reason: "connection lost" };
    this.#client.take({ close });
    this.#server.take({ close });
  }
}

function show(item: Item): string {
  return "text" in item ? item.text : `close ${item.close.code}`;
}

function move(from: TestSocket, to: TestSocket, count: number): number {
  let moved = 0;
  for (; moved < count; moved += 1) {
    const item = from.outbox.shift();
    if (item === undefined) break;
    to.take(item);
  }
  return moved;
}
