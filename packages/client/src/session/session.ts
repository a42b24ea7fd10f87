import { ConnectionError, sessionId as toSessionId } from "@tidemark/protocol";
import type {
  Cancellable,
  Clock,
  FrameMessage,
  Identity,
  LocalSeq,
  Random,
  RequestType,
  Results,
  RevokedMessage,
  SessionId,
  Transport,
} from "@tidemark/protocol";
import { backoffDelayMs } from "./backoff.js";
import type { BackoffPolicy } from "./backoff.js";
import { Link } from "./link.js";
import type { LinkEnd, LinkPolicy, RequestBody } from "./link.js";
import { Observable } from "./observable.js";
import { TRANSITIONS } from "./status.js";
import type { ConnectionEvent, ConnectionStatus } from "./status.js";

/** What a session tells its owner. */
export interface SessionListener {
  /** Authenticated, on a connection that nothing has been said on. */
  onOnline(): void;
  onOffline(): void;
  onFrame(frame: FrameMessage): void;
  onRevoked(message: RevokedMessage): void;
  /** Another tab took the session over; this one goes on under a session id of its own. */
  onRenewed(): void;
}

/** What a session is given. */
export interface SessionOptions {
  readonly transport: Transport;
  readonly identity: Identity;
  readonly sessionId: SessionId | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly backoff: BackoffPolicy;
  readonly link: LinkPolicy;
  readonly listener: SessionListener;
}

const ID_BYTES = 16;

/** An id or nonce of 128 random bits, in hex. */
export function randomHex(random: Random): string {
  return [...random.bytes(ID_BYTES)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * One session over the connections that come and go. It keeps trying with growing, spread-out delays;
 * the attempts are forgotten only after authentication and a minimum lifetime, and a refusal that
 * would come again stops it and shows (field fault OB-08).
 */
export class Session {
  readonly status: Observable<ConnectionStatus>;
  readonly #options: SessionOptions;
  #sessionId: SessionId;
  #openNonce: string;
  #nextLocalSeq = 1;
  #link: Link | undefined;
  #attempt = 0;
  #retry: Cancellable | undefined;
  #lifetime: Cancellable | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#sessionId = options.sessionId ?? mintSessionId(options.random);
    this.#openNonce = randomHex(options.random);
    this.status = new Observable<ConnectionStatus>(this.#describe("offline", {}));
  }

  get sessionId(): SessionId {
    return this.#sessionId;
  }

  get online(): boolean {
    return this.#link?.ready === true;
  }

  /** The next number of this open of the session (R27). Numbers go on over reconnects. */
  nextLocalSeq(): LocalSeq {
    const next = this.#nextLocalSeq;
    this.#nextLocalSeq += 1;
    return next as LocalSeq;
  }

  /** Dials now, if offline or waiting. */
  connect(): void {
    if (!this.#move("dial", {})) return;
    this.#retry?.cancel();
    this.#dial();
  }

  /** Goes offline and stays there until {@link connect}. The session is kept. */
  disconnect(): void {
    if (!this.#move("disconnect", { reason: "disconnected" })) return;
    this.#hangUp();
  }

  /** Ends the session object. */
  stop(reason: string): void {
    if (!this.#move("close", { reason })) return;
    this.#hangUp();
  }

  /** Asks the server; see {@link Link.request}. */
  request<T extends RequestType>(
    body: RequestBody<T>,
    heard?: (result: Results[T]) => void,
  ): Promise<Results[T]> {
    const link = this.#link;
    return link === undefined
      ? Promise.reject(new ConnectionError("the client is not connected"))
      : link.request(body, heard);
  }

  /** Drops the present connection as if it had been lost; it is tried again. */
  reset(reason: string): void {
    this.#link?.close(reason);
  }

  #dial(): void {
    const { transport, identity, clock, listener } = this.#options;
    const link = new Link({
      transport,
      clock,
      policy: this.#options.link,
      identity,
      sessionId: this.#sessionId,
      openNonce: this.#openNonce,
      onReady: () => this.#onReady(),
      onFrame: (frame) => listener.onFrame(frame),
      onRevoked: (message) => listener.onRevoked(message),
      onEnd: (end) => {
        // A link that this session has already let go of changes nothing.
        if (this.#link === link) this.#onEnd(end);
      },
    });
    this.#link = link;
  }

  #onReady(): void {
    const { clock, backoff, listener } = this.#options;
    this.#lifetime = clock.timer(backoff.minLifetimeMs, () => {
      this.#attempt = 0;
    });
    this.#move("ready", {});
    listener.onOnline();
  }

  #onEnd(end: LinkEnd): void {
    const wasOnline = this.status.value.state === "online";
    this.#link = undefined;
    this.#lifetime?.cancel();
    if (end.kind === "refused") {
      this.#move("refused", { reason: end.error.message, error: end.error });
      if (wasOnline) this.#options.listener.onOffline();
      return;
    }
    if (end.kind === "superseded") this.#renew();
    const reason = end.kind === "lost" ? end.reason : "another tab took the session over";
    const retryInMs = backoffDelayMs(this.#attempt, this.#options.backoff, this.#options.random);
    this.#attempt += 1;
    this.#move("lost", { reason, retryInMs });
    if (wasOnline) this.#options.listener.onOffline();
    if (end.kind === "superseded") this.#options.listener.onRenewed();
    this.#retry = this.#options.clock.timer(retryInMs, () => this.connect());
  }

  /** The newest open wins; this one mints its own id (R27). */
  #renew(): void {
    this.#sessionId = mintSessionId(this.#options.random);
    this.#openNonce = randomHex(this.#options.random);
  }

  #hangUp(): void {
    this.#retry?.cancel();
    this.#lifetime?.cancel();
    const link = this.#link;
    this.#link = undefined;
    this.#attempt = 0;
    if (link === undefined) return;
    const wasReady = link.ready;
    link.close("closed by this client");
    if (wasReady) this.#options.listener.onOffline();
  }

  #move(event: ConnectionEvent, more: Partial<ConnectionStatus>): boolean {
    const next = TRANSITIONS[this.status.value.state][event];
    if (next === undefined) return false;
    this.status.set(this.#describe(next, more));
    return true;
  }

  #describe(state: ConnectionStatus["state"], more: Partial<ConnectionStatus>): ConnectionStatus {
    const principal = this.#options.identity.did;
    return { state, principal, sessionId: this.#sessionId, ...more };
  }
}

function mintSessionId(random: Random): SessionId {
  return toSessionId(`s-${randomHex(random)}`);
}
