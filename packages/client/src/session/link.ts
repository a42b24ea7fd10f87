import {
  authMessageToSign,
  ConnectionError,
  encodeClientMessage,
  fromWireError,
  parseServerMessage,
  TimeoutError,
  WIRE_VERSION,
} from "@tidemark/protocol";
import type {
  Cancellable,
  ChallengeMessage,
  ClientConnection,
  ClientMessage,
  ClientRequest,
  Clock,
  FrameMessage,
  Identity,
  RequestType,
  Results,
  RevokedMessage,
  ServerMessage,
  SessionId,
  TidemarkError,
  Transport,
} from "@tidemark/protocol";

/** Why a link ended. */
export type LinkEnd =
  | { readonly kind: "lost"; readonly reason: string }
  /** The server will not have this session: trying again would be refused again. */
  | { readonly kind: "refused"; readonly error: TidemarkError }
  /** A newer open of the same session took over (R27). */
  | { readonly kind: "superseded" };

/** Whom a link speaks for. */
export interface LinkIdentity {
  readonly identity: Identity;
  readonly sessionId: SessionId;
  readonly openNonce: string;
}

/** Timing of a link, in milliseconds. */
export interface LinkPolicy {
  /** From dialling to authenticated. */
  readonly handshakeTimeoutMs: number;
  /** How often an idle link is probed; 0: never. */
  readonly pingMs: number;
  /** How long an answer to a probe may take. */
  readonly pongTimeoutMs: number;
  /** The largest message of the server that is read, in bytes of UTF-8. */
  readonly maxServerMessageBytes: number;
}

/** What a link is given. */
export interface LinkOptions extends LinkIdentity {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly policy: LinkPolicy;
  /** The session is authenticated and requests may be made. */
  onReady(): void;
  onFrame(frame: FrameMessage): void;
  onRevoked(message: RevokedMessage): void;
  /** Called once; nothing is called after it. */
  onEnd(end: LinkEnd): void;
}

/** A request without its number. */
export type RequestBody<T extends RequestType> = T extends RequestType
  ? Omit<Extract<ClientRequest, { readonly type: T }>, "req">
  : never;

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: TidemarkError) => void;
}

/** The request number of the handshake's signature. */
const AUTH_REQ = 0;

/**
 * One connection of a session: a generation of its own (field fault SY-07). Once it has ended it is
 * inert: late messages, errors and closes of its socket reach nobody, and what it was asked and has
 * not answered is rejected with `ConnectionError`, which says that the outcome is not known.
 */
export class Link {
  readonly #options: LinkOptions;
  readonly #connection: ClientConnection;
  readonly #waiting = new Map<number, Waiting>();
  #nextReq = AUTH_REQ + 1;
  #ready = false;
  #ended = false;
  #timer: Cancellable | undefined;
  #heard = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#connection = options.transport.connect();
    this.#connection.onMessage((text) => this.#onMessage(text));
    this.#connection.onClose((why) => this.end({ kind: "lost", reason: why.reason }));
    this.#connection.onOpen(() => this.#send({ type: "hello", version: WIRE_VERSION }));
    this.#timer = options.clock.timer(options.policy.handshakeTimeoutMs, () => {
      this.end({ kind: "lost", reason: "the handshake took too long" });
    });
  }

  /** Whether requests may be made. */
  get ready(): boolean {
    return this.#ready && !this.#ended;
  }

  /**
   * Asks the server. Rejects with its refusal, or with `ConnectionError` if the link ends first. `heard` is called before
   * anything that the server said after its answer, which may be here before whoever awaits the promise goes on.
   */
  request<T extends RequestType>(
    body: RequestBody<T>,
    heard?: (result: Results[T]) => void,
  ): Promise<Results[T]> {
    if (!this.ready) return Promise.reject(notConnected());
    const req = this.#nextReq;
    this.#nextReq += 1;
    return new Promise<Results[T]>((resolve, reject) => {
      const answered = (result: Results[T]): void => {
        heard?.(result);
        resolve(result);
      };
      this.#waiting.set(req, { resolve: answered, reject });
      this.#send({ ...body, req } as unknown as ClientMessage);
    });
  }

  /** Ends the link from this side. */
  close(reason: string): void {
    this.end({ kind: "lost", reason });
  }

  /** Ends the link, once. */
  end(end: LinkEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer?.cancel();
    this.#connection.close();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const request of waiting) request.reject(notConnected());
    this.#options.onEnd(end);
  }

  #send(message: ClientMessage): void {
    if (!this.#ended) this.#connection.send(encodeClientMessage(message));
  }

  #onMessage(text: string): void {
    if (this.#ended) return;
    this.#heard += 1;
    const parsed = parseServerMessage(text, {
      maxBytes: this.#options.policy.maxServerMessageBytes,
    });
    if (parsed.ok) this.#dispatch(parsed.message);
    else this.end({ kind: "lost", reason: `unreadable message: ${parsed.error.message}` });
  }

  #dispatch(message: ServerMessage): void {
    switch (message.type) {
      case "challenge":
        return this.#authenticate(message);
      case "ok":
        return this.#answer(message.req, (waiting) => waiting.resolve(message.result as never));
      case "error":
        return this.#refusal(message.req, fromWireError(message.error));
      case "frame":
        return this.#options.onFrame(message);
      case "revoked":
        return this.#options.onRevoked(message);
      case "superseded":
        return this.end({ kind: "superseded" });
      case "ping":
        return this.#send({ type: "pong" });
      case "pong":
        return undefined;
    }
  }

  #authenticate(challenge: ChallengeMessage): void {
    if (this.#ready) return;
    const { identity, sessionId, openNonce } = this.#options;
    const fields = {
      serverId: challenge.serverId,
      challenge: challenge.challenge,
      principal: identity.did,
      sessionId,
      openNonce,
    };
    this.#waiting.set(AUTH_REQ, {
      resolve: () => this.#onAuthenticated(),
      reject: () => undefined,
    });
    this.#send({
      type: "auth",
      req: AUTH_REQ,
      principal: identity.did,
      sessionId,
      openNonce,
      challenge: challenge.challenge,
      signature: identity.sign(authMessageToSign(fields)),
    });
  }

  #onAuthenticated(): void {
    this.#ready = true;
    this.#timer?.cancel();
    this.#watchForSilence();
    this.#options.onReady();
  }

  #answer(req: number, deliver: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(req);
    this.#waiting.delete(req);
    if (waiting !== undefined) deliver(waiting);
  }

  #refusal(req: number | undefined, error: TidemarkError): void {
    if (!this.#ready) {
      // An expired challenge is answered by a fresh one on the next connection.
      const passing = error instanceof TimeoutError || error instanceof ConnectionError;
      const reason = error.message;
      return this.end(passing ? { kind: "lost", reason } : { kind: "refused", error });
    }
    if (req !== undefined) this.#answer(req, (waiting) => waiting.reject(error));
  }

  /** Probes an idle link, so that a peer that vanished without a word is noticed. */
  #watchForSilence(): void {
    const { clock, policy } = this.#options;
    if (policy.pingMs <= 0) return;
    const heard = this.#heard;
    this.#timer = clock.timer(policy.pingMs, () => {
      if (this.#heard !== heard) return this.#watchForSilence();
      this.#send({ type: "ping" });
      this.#timer = clock.timer(policy.pongTimeoutMs, () => {
        if (this.#heard !== heard) return this.#watchForSilence();
        this.end({ kind: "lost", reason: "the server does not answer" });
      });
    });
  }
}

function notConnected(): ConnectionError {
  return new ConnectionError("the connection ended before the answer; the outcome is not known");
}
