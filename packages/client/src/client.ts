import {
  createIdSource,
  genesisMessageToSign,
  LimitError,
  MESSAGE_LIMITS,
} from "@tidemark/protocol";
import type {
  Acl,
  Actor,
  Clock,
  FrameMessage,
  Identity,
  Principal,
  Random,
  Seq,
  SessionId,
  SpaceId,
  Transport,
} from "@tidemark/protocol";
import { PatternRegistry } from "@tidemark/runtime";
import type { Pattern } from "@tidemark/runtime";
import { policyOf } from "./options.js";
import type { PolicyOverrides } from "./options.js";
import type { Observable } from "./session/observable.js";
import { Session } from "./session/session.js";
import { whenOnline } from "./session/when-online.js";
import type { ConnectionStatus } from "./session/status.js";
import type { ClientContext } from "./space/context.js";
import { Space } from "./space/space.js";

/** What {@link connect} takes. */
export interface ConnectOptions {
  readonly transport: Transport;
  /** Who this is; it signs the server's challenge, and its secret never travels. */
  readonly identity: Identity;
  /** The tab's own session id, kept over reloads; minted where there is none. */
  readonly sessionId?: SessionId;
  readonly clock: Clock;
  readonly random: Random;
  /** The patterns whose handlers echo here, by which pieces are shown and created. */
  readonly patterns?: PatternRegistry | Iterable<Pattern>;
  readonly policy?: PolicyOverrides;
  /** Errors that nobody waits for. */
  readonly onError?: (error: unknown) => void;
}

/** Who a client is. */
export interface WhoAmI {
  readonly principal: Principal;
  readonly sessionId: SessionId;
}

/** Connects at once, and stays connected until it is told otherwise. */
export function connect(options: ConnectOptions): Client {
  const client = new Client(options);
  client.reconnect();
  return client;
}

/** A session with a server, and the spaces that it has open. */
export class Client {
  readonly #session: Session;
  readonly #context: ClientContext;
  readonly #spaces = new Map<SpaceId, Space>();
  readonly #frameListeners = new Set<(frame: FrameMessage) => void>();

  constructor(options: ConnectOptions) {
    const { clock, random, identity } = options;
    const policy = policyOf(options.policy);
    this.#session = new Session({
      transport: options.transport,
      identity,
      sessionId: options.sessionId,
      clock,
      random,
      backoff: policy.backoff,
      link: policy.link,
      listener: {
        onOnline: () => this.#eachSpace((space) => space.core.online()),
        onOffline: () => this.#eachSpace((space) => space.core.offline()),
        onFrame: (frame) => this.#onFrame(frame),
        onRevoked: ({ space, reason }) => this.#spaces.get(space)?.core.revoked(reason),
        onRenewed: () => this.#eachSpace((space) => space.core.renewed()),
      },
    });
    this.#context = contextOf(options, policy, this.#session);
  }

  /** What the connection is doing, live. */
  get status(): Observable<ConnectionStatus> {
    return this.#session.status;
  }

  /** Who this client acts as. */
  get whoami(): WhoAmI {
    return { principal: this.#context.identity.did, sessionId: this.#session.sessionId };
  }

  /** The patterns this client knows. */
  get patterns(): PatternRegistry {
    return this.#context.registry;
  }

  /** Appends not yet acknowledged, in all spaces. */
  get queuedEvents(): number {
    let queued = 0;
    for (const space of this.#spaces.values()) queued += space.queuedEvents;
    return queued;
  }

  /** Live overlay entries, in all spaces. */
  get speculative(): number {
    let entries = 0;
    for (const space of this.#spaces.values()) entries += space.speculative;
    return entries;
  }

  /** Whether anything that was received or done here is still being worked in. */
  get busy(): boolean {
    return [...this.#spaces.values()].some((space) => space.core.local.busy);
  }

  /**
   * Resolves when the client is online, now or by the attempts under way; rejects where there are none:
   * taken offline, or stopped by a refusal that would come again.
   */
  whenOnline(): Promise<void> {
    return whenOnline(this.#session.status);
  }

  /** The space, opened on this connection and every later one. `space.ready`: it has come. */
  open(id: SpaceId): Space {
    const known = this.#spaces.get(id);
    if (known !== undefined) return known;
    const space = new Space(id, this.#context);
    this.#spaces.set(id, space);
    if (this.#session.online) space.core.online();
    return space;
  }

  /**
   * Founds a space: the one commit that its own key signs (R31). Twice with the same list does nothing.
   * Waits for a connection that is on its way.
   *
   * @returns the seq of the genesis.
   */
  async createSpace(
    key: Identity,
    acl: Acl,
  ): Promise<{ readonly space: SpaceId; readonly seq: Seq }> {
    const space = key.did as unknown as SpaceId;
    const signature = key.sign(genesisMessageToSign(space, acl));
    const request = { type: "space.create", space, acl, signature } as const;
    await this.whenOnline();
    const { seq } = await this.#session.request<"space.create">(request);
    return { space, seq };
  }

  /** Stops following a space. What was not acknowledged ends visibly. */
  closeSpace(id: SpaceId): void {
    const space = this.#spaces.get(id);
    if (space === undefined) return;
    this.#spaces.delete(id);
    space.core.abandon("the space was closed before it was sent");
    space.core.link.close();
    space.core.dispose();
  }

  /** Goes offline and stays there; what is done meanwhile shows and waits. */
  disconnect(): void {
    this.#session.disconnect();
  }

  /** Goes online. */
  reconnect(): void {
    this.#session.connect();
  }

  /**
   * Logs out: the session ends, in every space. What was not acknowledged ends as `append-refused`:
   * it is this user's and waits for nobody else (field fault IS-07).
   */
  async close(): Promise<void> {
    this.#eachSpace((space) => space.core.abandon("signed out before it was sent"));
    if (this.#session.online)
      await this.#session.request({ type: "logout" }).catch(() => undefined);
    this.#stop("signed out");
  }

  /** As a tab that is reloaded: everything in memory is lost, the session stays. */
  drop(): void {
    this.#stop("dropped");
  }

  /** Calls `fn` for every frame as it arrives. Returns what ends it. For tools and tests. */
  onFrame(fn: (frame: FrameMessage) => void): () => void {
    this.#frameListeners.add(fn);
    return () => void this.#frameListeners.delete(fn);
  }

  #onFrame(frame: FrameMessage): void {
    for (const listener of this.#frameListeners) listener(frame);
    this.#spaces.get(frame.space)?.core.frame(frame);
  }

  #stop(reason: string): void {
    this.#session.stop(reason);
    this.#eachSpace((space) => space.core.dispose());
    this.#spaces.clear();
  }

  #eachSpace(fn: (space: Space) => void): void {
    for (const space of this.#spaces.values()) fn(space);
  }
}

function contextOf(
  options: ConnectOptions,
  policy: ClientContext["policy"],
  session: Session,
): ClientContext {
  const { clock, random, identity, patterns = [] } = options;
  let clientSeq = 0;
  return {
    session,
    identity,
    clock,
    random,
    policy,
    ids: createIdSource(clock, random),
    registry: patterns instanceof PatternRegistry ? patterns : new PatternRegistry(patterns),
    actor: (): Actor => ({ user: identity.did, session: session.sessionId }),
    nextClientSeq: () => (clientSeq += 1),
    sizeError: (message) => sizeError(message, policy.maxMessageBytes),
    report: (error) => options.onError?.(error),
  };
}

/** Room for what the message wraps around its content. */
const ENVELOPE_BYTES = 1024;

function sizeError(message: unknown, max: number): LimitError | undefined {
  // UTF-8 takes up to three bytes for a unit of JSON text; what is below a third needs no counting.
  const text = JSON.stringify(message);
  const room = Math.min(max, MESSAGE_LIMITS.maxBytes) - ENVELOPE_BYTES;
  if (text.length * 3 <= room) return undefined;
  const actual = utf8Length(text);
  if (actual <= room) return undefined;
  const what = `this is ${actual} bytes, and a message holds ${room}; send less at once`;
  return new LimitError(what, { limit: "message bytes", max: room, actual });
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const char of text) {
    const point = char.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}
