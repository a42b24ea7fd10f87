import {
  authMessageToSign,
  type ClientConnection,
  type ClientRequest,
  encodeClientMessage,
  fromWireError,
  generateIdentity,
  genesisMessageToSign,
  type Identity,
  parseServerMessage,
  type RequestType,
  type Results,
  type SessionId,
  type SpaceId,
  systemRandom,
  type Transport,
  WIRE_VERSION,
} from "@tidemark/protocol";

type Body<T extends RequestType> = Omit<Extract<ClientRequest, { readonly type: T }>, "req">;

interface Waiting {
  resolve(result: never): void;
  reject(error: Error): void;
}

/** The wire and nothing more: signs, asks, waits for answers. Measures a server without a client library in front of it. */
export class WireSession {
  readonly identity: Identity = generateIdentity(systemRandom);
  readonly #connection: ClientConnection;
  readonly #waiting = new Map<number, Waiting>();
  #challenged: ((message: { challenge: string; serverId: string }) => void) | undefined;
  #nextReq = 1;

  constructor(transport: Transport) {
    this.#connection = transport.connect();
    this.#connection.onMessage((text) => this.#receive(text));
  }

  /** Answers the server's challenge. */
  async open(): Promise<void> {
    const challenged = new Promise<{ challenge: string; serverId: string }>((resolve) => {
      this.#challenged = resolve;
    });
    this.#connection.send(encodeClientMessage({ type: "hello", version: WIRE_VERSION }));
    const { challenge, serverId } = await challenged;
    const principal = this.identity.did;
    const sessionId = "bench" as SessionId;
    const openNonce = "bench";
    const text = authMessageToSign({ serverId, challenge, principal, sessionId, openNonce });
    const signature = this.identity.sign(text);
    await this.ask({ type: "auth", principal, sessionId, openNonce, challenge, signature });
  }

  /** Founds a space of its own. */
  async createSpace(): Promise<SpaceId> {
    const key = generateIdentity(systemRandom);
    const space = key.did as string as SpaceId;
    const acl = { [this.identity.did]: "OWNER" } as const;
    const signature = key.sign(genesisMessageToSign(space, acl));
    await this.ask({ type: "space.create", space, acl, signature });
    return space;
  }

  /** Resolves with the answer; rejects with the refusal. */
  ask<T extends RequestType>(body: Body<T> & { readonly type: T }): Promise<Results[T]> {
    const req = this.#nextReq;
    this.#nextReq += 1;
    this.#connection.send(encodeClientMessage({ ...body, req } as unknown as ClientRequest));
    return new Promise((resolve, reject) => {
      this.#waiting.set(req, { resolve, reject });
    });
  }

  close(): void {
    this.#connection.close();
  }

  #receive(text: string): void {
    const parsed = parseServerMessage(text);
    if (!parsed.ok) throw parsed.error;
    const { message } = parsed;
    if (message.type === "challenge") this.#challenged?.(message);
    if (message.type !== "ok" && message.type !== "error") return;
    const { req } = message;
    const waiting = req === undefined ? undefined : this.#waiting.get(req);
    if (req === undefined || waiting === undefined) return;
    this.#waiting.delete(req);
    if (message.type === "ok") waiting.resolve(message.result as never);
    else waiting.reject(fromWireError(message.error));
  }
}
