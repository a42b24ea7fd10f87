import {
  AuthorizationError,
  CLOSE_NORMAL,
  encodeServerMessage,
  isTidemarkError,
  parseClientMessage,
  ProtocolError,
  toWireError,
  TidemarkError,
  type AuthMessage,
  type Cancellable,
  type ClientMessage,
  type Connection,
  type RequestId,
  type Results,
  type RequestType,
} from "@tidemark/protocol";
import type { Channel, ChannelSink } from "../space/channel.js";
import { SpaceCommands, type AuthenticatedMessage } from "./commands.js";
import { Handshake } from "./handshake.js";
import type { ConnectionHost } from "./host.js";
import type { SessionHolder, SessionIdentity } from "./registry.js";

/** Close codes of the application's own range (RFC 6455 §7.4.2). */
const CLOSE_SUPERSEDED = 4001;
const CLOSE_REPLACED = 4002;
const CLOSE_ENDED = 4003;
const CLOSE_CUT_OFF = 4008;
const CLOSE_HOSTILE = 4400;

/**
 * One socket: reads messages in order, answers each with a result or a typed error, and holds at most
 * one session. Once it is over, whatever the socket still delivers is inert (field fault SY-07).
 */
export class ClientConnection implements SessionHolder, ChannelSink {
  readonly #host: ConnectionHost;
  readonly #socket: Connection;
  readonly #handshake: Handshake;
  readonly #onSession: (() => void) | undefined;
  readonly #queue: ClientMessage[] = [];
  #commands: SpaceCommands | undefined;
  #session: SessionIdentity | undefined;
  #blocked = false;
  #over = false;
  #malformedInRow = 0;
  #deadline: Cancellable | undefined;

  constructor(host: ConnectionHost, socket: Connection, onSession?: () => void) {
    this.#host = host;
    this.#socket = socket;
    this.#onSession = onSession;
    this.#handshake = new Handshake(host);
  }

  /** Starts reading. Apart from the constructor: the host has to know the connection first. */
  start(): void {
    const { clock, policy } = this.#host;
    this.#deadline = clock.timer(policy.authDeadlineMs, () =>
      this.#closeWith(CLOSE_CUT_OFF, "no session within the time for one"),
    );
    this.#socket.onClose(() => this.#finish());
    this.#socket.onMessage((text) => this.#receive(text));
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes;
  }

  /** Channels that are open. */
  get channels(): number {
    return this.#commands?.open ?? 0;
  }

  send(text: string): void {
    if (!this.#over) this.#socket.send(text);
  }

  supersede(): void {
    this.send(encodeServerMessage({ type: "superseded" }));
    this.#closeWith(CLOSE_SUPERSEDED, "a newer open of this session took over");
  }

  replace(): void {
    this.#closeWith(CLOSE_REPLACED, "this session reconnected");
  }

  end(reason: string): void {
    this.#closeWith(CLOSE_ENDED, reason);
  }

  terminate(reason: string): void {
    this.#closeWith(CLOSE_CUT_OFF, reason);
  }

  /** The server stops. */
  shutDown(): void {
    this.#closeWith(CLOSE_NORMAL, "the server stops");
  }

  /** The ACL no longer lets the session read the space. */
  revoked(channel: Channel, reason: string): void {
    this.#commands?.revoked(channel);
    this.send(encodeServerMessage({ type: "revoked", space: channel.space, reason }));
  }

  #receive(text: string): void {
    if (this.#over) return;
    this.#host.counters.add("messages");
    const parsed = parseClientMessage(text, { maxBytes: this.#host.policy.maxMessageBytes });
    if (!parsed.ok) {
      this.#refuse(parsed.req, parsed.error);
      this.#malformed();
      return;
    }
    this.#malformedInRow = 0;
    this.#enqueue(parsed.message);
  }

  /** A connection that says nothing well formed is not worth its socket. */
  #malformed(): void {
    this.#malformedInRow += 1;
    if (this.#malformedInRow < this.#host.policy.maxMalformedInRow) return;
    this.#closeWith(CLOSE_HOSTILE, "too many malformed messages");
  }

  /** Messages of one connection keep their order, also behind a gate that holds one of them. */
  #enqueue(message: ClientMessage): void {
    if (!this.#blocked) {
      this.#handle(message);
      return;
    }
    const { maxQueuedMessages } = this.#host.policy;
    if (this.#queue.length < maxQueuedMessages) {
      this.#queue.push(message);
      return;
    }
    // Refused alone, an event would be overtaken by the next one; cut off, its sender sends all of them again.
    this.#closeWith(CLOSE_CUT_OFF, "too many messages wait on this connection");
  }

  #handle(message: ClientMessage): void {
    let pending: Promise<void> | undefined;
    try {
      pending = this.#dispatch(message);
    } catch (error) {
      this.#refuse("req" in message ? message.req : undefined, error);
      return;
    }
    if (pending === undefined) return;
    this.#blocked = true;
    void pending.then(() => this.#unblock());
  }

  #unblock(): void {
    this.#blocked = false;
    while (!this.#blocked && !this.#over) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#handle(next);
    }
  }

  #dispatch(message: ClientMessage): Promise<void> | undefined {
    switch (message.type) {
      case "ping":
        this.#reply(encodeServerMessage({ type: "pong" }));
        return undefined;
      case "pong":
        return undefined;
      case "hello":
        this.#expectStranger();
        this.#reply(encodeServerMessage(this.#handshake.hello(message)));
        return undefined;
      case "auth":
        this.#expectStranger();
        this.#open(message);
        return undefined;
      default:
        return this.#authenticated(message);
    }
  }

  /** A connection never changes hands (field fault IS-07). */
  #expectStranger(): void {
    if (this.#session === undefined) return;
    throw new ProtocolError(
      "this connection has its session already; connect anew for another",
      {},
    );
  }

  #open(message: AuthMessage): void {
    const identity = this.#handshake.auth(message);
    this.#session = identity;
    this.#deadline?.cancel();
    const { openNonce } = message;
    const { principal, sessionId: session } = identity;
    this.#host.registry.sweep(this.#host.clock.monotonic());
    const resumed = this.#host.registry.open(identity, openNonce, this);
    this.#commands = new SpaceCommands(this.#host, this, identity, {
      principal,
      session,
      openNonce,
    });
    this.#onSession?.();
    this.answer<"auth">(message.req, { resumed });
  }

  #authenticated(message: AuthenticatedMessage): Promise<void> | undefined {
    const commands = this.#commands;
    if (commands === undefined || this.#session === undefined) {
      throw new AuthorizationError(
        `${message.type} needs an authenticated session: say hello first`,
        {
          retriable: true,
        },
      );
    }
    if (message.type !== "logout") return commands.run(message);
    commands.flush();
    this.answer<"logout">(message.req, {});
    this.#host.registry.end(this.#session.ref, this);
    this.end("logged out");
    return undefined;
  }

  /** Answers a request. */
  answer<T extends RequestType>(req: RequestId, result: Results[T]): void {
    this.#reply(encodeServerMessage({ type: "ok", req, result }));
  }

  /**
   * An answer. Frames have bounds of their own; whoever goes on asking and reads nothing would fill the server's memory
   * with answers (field fault RS-03).
   */
  #reply(text: string): void {
    const { maxBufferedBytes, maxFrameBytes } = this.#host.policy;
    if (this.bufferedBytes <= maxBufferedBytes + maxFrameBytes) {
      this.send(text);
      return;
    }
    if (this.#over) return;
    this.#host.counters.add("cutOff");
    this.terminate("it does not read its answers");
  }

  /** Refuses a request, counted by the error's code. */
  refuse(req: RequestId, error: unknown): void {
    this.#refuse(req, error);
  }

  #refuse(req: RequestId | undefined, error: unknown): void {
    const known = isTidemarkError(error);
    if (!known) this.#host.log("error", "a request failed", { error: String(error) });
    const told = known
      ? error
      : new TidemarkError("the server failed at this request", {}, { cause: error });
    this.#host.counters.refuse(told.code);
    const wire = toWireError(told);
    this.#reply(
      encodeServerMessage(
        req === undefined ? { type: "error", error: wire } : { type: "error", req, error: wire },
      ),
    );
  }

  #closeWith(code: number, reason: string): void {
    if (this.#over) return;
    this.#socket.close(code, reason);
    this.#finish();
  }

  /** Everything that the connection holds, its hold on the session included, returns. */
  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#deadline?.cancel();
    this.#queue.length = 0;
    this.#commands?.close();
    if (this.#session !== undefined) {
      this.#host.registry.release(this.#session.ref, this, this.#host.clock.monotonic());
    }
    this.#host.closed(this);
  }
}
