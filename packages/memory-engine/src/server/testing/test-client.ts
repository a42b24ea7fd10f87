import {
  WIRE_VERSION,
  applyPatch,
  authMessageToSign,
  encodeClientMessage,
  genesisMessageToSign,
  instanceKey,
  parseServerMessage,
  type Acl,
  type AppendEntry,
  type AuthoredCommit,
  type ChallengeMessage,
  type ClientConnection,
  type ClientRequest,
  type DocId,
  type ErrorMessage,
  type EventId,
  type FrameMessage,
  type Held,
  type Identity,
  type InstanceKey,
  type LocalSeq,
  type RequestType,
  type Results,
  type Row,
  type ServerMessage,
  type SessionId,
  type SpaceId,
} from "@tidemark/protocol";

/** What a test client is made of. */
export interface TestClientOptions {
  readonly identity: Identity;
  readonly sessionId: SessionId;
  readonly openNonce: string;
  readonly connect: () => ClientConnection;
  /** Lets everything runnable run: messages travel, answers come back. */
  readonly run: () => Promise<void>;
}

/** The answer to a request: never a throw, so that refusals are plain to look at. */
export type Answer<T extends RequestType> =
  | { readonly ok: true; readonly result: Results[T] }
  | { readonly ok: false; readonly error: ErrorMessage["error"] };

type Body<T extends RequestType> = Omit<
  Extract<ClientRequest, { readonly type: T }>,
  "type" | "req"
>;

/**
 * A client of the wire and nothing more: it signs, asks, and keeps what frames tell it, as a replica
 * does. Every connection authenticates by challenge; there is no other way here either.
 */
export class TestClient {
  readonly identity: Identity;
  readonly sessionId: SessionId;
  readonly openNonce: string;
  /** Every message of the server, in order, over all connections. */
  readonly received: ServerMessage[] = [];
  /** What frames told, per space. */
  readonly replicas = new Map<SpaceId, Map<InstanceKey, Held>>();
  readonly closes: { readonly code: number; readonly reason: string }[] = [];
  readonly #options: TestClientOptions;
  readonly #answers = new Map<number, Answer<RequestType>>();
  #connection: ClientConnection | undefined;
  #nextReq = 1;
  #nextLocal = 1;

  constructor(options: TestClientOptions) {
    this.#options = options;
    this.identity = options.identity;
    this.sessionId = options.sessionId;
    this.openNonce = options.openNonce;
  }

  get connection(): ClientConnection {
    if (this.#connection === undefined) throw new Error("this test client is not connected");
    return this.#connection;
  }

  /** Dials without a word. */
  dial(): ClientConnection {
    const connection = this.#options.connect();
    this.#connection = connection;
    connection.onMessage((text) => this.#receive(text));
    connection.onClose((why) => void this.closes.push(why));
    return connection;
  }

  /** Dials and authenticates. */
  async connect(): Promise<Answer<"auth">> {
    this.dial();
    const challenge = await this.hello();
    return this.auth(challenge.challenge, challenge.serverId);
  }

  /** Asks for a challenge. */
  async hello(): Promise<ChallengeMessage> {
    this.raw(encodeClientMessage({ type: "hello", version: WIRE_VERSION }));
    await this.#options.run();
    const challenge = this.received
      .filter((message): message is ChallengeMessage => message.type === "challenge")
      .at(-1);
    if (challenge === undefined) throw new Error("the server sent no challenge");
    return challenge;
  }

  /** Answers a challenge with a true signature over what is given. */
  auth(challenge: string, serverId: string): Promise<Answer<"auth">> {
    const { identity, sessionId, openNonce } = this;
    const principal = identity.did;
    const text = authMessageToSign({ serverId, challenge, principal, sessionId, openNonce });
    const signature = identity.sign(text);
    return this.call("auth", { principal, sessionId, openNonce, challenge, signature });
  }

  /** Cuts the connection from this side. */
  async disconnect(): Promise<void> {
    this.#connection?.close();
    this.#connection = undefined;
    await this.#options.run();
  }

  raw(text: string): void {
    this.connection.send(text);
  }

  /** Sends a request without waiting; {@link answerTo} tells the outcome later. */
  post<T extends RequestType>(type: T, body: Body<T>): number {
    const req = this.#nextReq;
    this.#nextReq += 1;
    this.raw(JSON.stringify({ type, req, ...body }));
    return req;
  }

  answerTo<T extends RequestType>(req: number): Answer<T> | undefined {
    return this.#answers.get(req) as Answer<T> | undefined;
  }

  /** Sends a request, lets everything run, and returns the answer. */
  async call<T extends RequestType>(type: T, body: Body<T>): Promise<Answer<T>> {
    const req = this.post(type, body);
    await this.#options.run();
    const answer = this.answerTo<T>(req);
    if (answer === undefined) throw new Error(`${type} was not answered`);
    return answer;
  }

  create(space: Identity, acl: Acl): Promise<Answer<"space.create">> {
    const id = space.did as unknown as SpaceId;
    const signature = space.sign(genesisMessageToSign(id, acl));
    return this.call("space.create", { space: id, acl, signature });
  }

  commit(space: SpaceId, commit: Partial<AuthoredCommit>): Promise<Answer<"commit">> {
    const localSeq = commit.localSeq ?? this.localSeq();
    return this.call("commit", { space, commit: { reads: [], ops: [], ...commit, localSeq } });
  }

  append(
    space: SpaceId,
    stream: DocId,
    entry: Partial<AppendEntry> & { readonly eventId: EventId },
    localSeq: LocalSeq = this.localSeq(),
  ): Promise<Answer<"append">> {
    const full = { payload: null, ...entry };
    return this.call("append", { space, append: { localSeq, stream, entry: full } });
  }

  localSeq(): LocalSeq {
    const next = this.#nextLocal;
    this.#nextLocal += 1;
    return next as LocalSeq;
  }

  /** Frames of a space, in order. */
  frames(space?: SpaceId): readonly FrameMessage[] {
    return this.received.filter(
      (message): message is FrameMessage =>
        message.type === "frame" && (space === undefined || message.space === space),
    );
  }

  /** What this client holds of an instance. */
  held(space: SpaceId, key: InstanceKey): Held | undefined {
    return this.replicas.get(space)?.get(key);
  }

  #receive(text: string): void {
    const parsed = parseServerMessage(text, { maxBytes: Number.MAX_SAFE_INTEGER });
    if (!parsed.ok) throw parsed.error;
    const { message } = parsed;
    this.received.push(message);
    if (message.type === "ok") this.#answers.set(message.req, { ok: true, result: message.result });
    else if (message.type === "error" && message.req !== undefined) {
      this.#answers.set(message.req, { ok: false, error: message.error });
    } else if (message.type === "frame") this.#integrate(message);
  }

  #integrate(frame: FrameMessage): void {
    const replica = this.replicas.get(frame.space) ?? new Map<InstanceKey, Held>();
    this.replicas.set(frame.space, replica);
    if (frame.reset === true) replica.clear();
    for (const { id, scopeKey } of frame.gone) replica.delete(instanceKey(id, scopeKey));
    for (const row of frame.rows) {
      const key = instanceKey(row.id, row.scopeKey);
      const value = valueOf(row, replica.get(key));
      replica.set(key, { value, seq: row.seq, coverClass: row.cover });
    }
  }
}

function valueOf(row: Row, held: Held | undefined): Held["value"] {
  if ("absent" in row) return undefined;
  if ("value" in row) return row.value;
  if (held === undefined || held.seq !== row.patch.from) {
    throw new Error(
      `a patch of ${row.id} from seq ${row.patch.from} does not fit what is held (${held?.seq})`,
    );
  }
  return applyPatch(held.value, row.patch.ops);
}
