import {
  AuthorizationError,
  isTidemarkError,
  LimitError,
  aclLevel,
  ProtocolError,
  readAppendRefusal,
  type AppendMessage,
  type AclLevel,
  type AppendRequest,
  type CommitMessage,
  type EventRef,
  type LogoutMessage,
  type SpaceCloseMessage,
  type SpaceCreateMessage,
  type SpaceId,
  type SpaceOpenMessage,
  type WatchSetMessage,
} from "@tidemark/protocol";
import { deniedBy, mayAppendSomewhere } from "../admission/acl-view.js";
import type { Envelope } from "../admission/envelope.js";
import { checkGenesis } from "../admission/genesis.js";
import { Channel, type ChannelKind } from "../space/channel.js";
import type { Admitted, Outcome } from "../space/intake.js";
import {
  appendRequest,
  genesisRequest,
  writeRequest,
  type AppendResult,
} from "../space/requests.js";
import type { SpaceCore } from "../space/space-core.js";
import { AppendTurns } from "./append-turns.js";
import type { ClientConnection } from "./client-connection.js";
import type { ConnectionHost } from "./host.js";
import type { SessionIdentity } from "./registry.js";

/** Everything that needs a session, its end excepted. */
export type SpaceMessage =
  | SpaceCreateMessage
  | SpaceOpenMessage
  | SpaceCloseMessage
  | WatchSetMessage
  | CommitMessage
  | AppendMessage;

/** Everything that needs a session. */
export type AuthenticatedMessage = SpaceMessage | LogoutMessage;

/** What one session does over one connection, space by space. */
export class SpaceCommands {
  readonly #host: ConnectionHost;
  readonly #connection: ClientConnection;
  readonly #identity: SessionIdentity;
  readonly #envelope: Envelope;
  readonly #channels = new Map<SpaceId, { readonly core: SpaceCore; readonly channel: Channel }>();
  /** Spaces with requests of this session that wait for their transaction. */
  readonly #busy = new Set<SpaceCore>();
  readonly #turns = new AppendTurns();

  constructor(
    host: ConnectionHost,
    connection: ClientConnection,
    identity: SessionIdentity,
    envelope: Envelope,
  ) {
    this.#host = host;
    this.#connection = connection;
    this.#identity = identity;
    this.#envelope = envelope;
  }

  get open(): number {
    return this.#channels.size;
  }

  /** Runs one request; a promise holds the session's later ones. @throws typed refusals */
  run(message: SpaceMessage): Promise<void> | undefined {
    switch (message.type) {
      case "append":
        return this.#appendBehindGate(message);
      case "commit":
        return this.#commit(message);
      case "space.create":
        return this.#create(message);
      case "space.open":
        return this.#open(message);
      case "watch.set":
        return this.#watch(message);
      case "space.close":
        this.flush();
        this.#drop(message.space);
        this.#turns.closed(message.space);
        this.#connection.answer<"space.close">(message.req, {});
        return undefined;
    }
  }

  /** Admits what waits: the session's next request, or its end, comes after it. */
  flush(): void {
    for (const core of this.#busy) core.intake.flush();
    this.#busy.clear();
  }

  /** The channel ended by the server's decision. */
  revoked(channel: Channel): void {
    this.#drop(channel.space);
  }

  /** The connection is over. What was admitted stays; what was watched ends. */
  close(): void {
    for (const space of this.#channels.keys()) this.#drop(space);
    this.#busy.clear();
  }

  #create({ req, space, acl, signature }: SpaceCreateMessage): undefined {
    const genesis = { space, acl, signature };
    checkGenesis(genesis);
    const core = this.#host.created(space);
    this.#submit(
      core,
      req,
      () => genesisRequest(core.context, genesis, this.#envelope),
      ({ seq }) => this.#connection.answer<"space.create">(req, { seq }),
    );
    return undefined;
  }

  #open(message: SpaceOpenMessage): undefined {
    this.flush();
    const { req, space, watches, cursor, events } = message;
    const core = this.#existing(space);
    this.#makeRoom(space);
    this.#drop(space);
    core.refresh();
    const level = this.#openLevel(core, events ?? []);
    const channel = this.#channel(core, "reader");
    const resumed = core.push.open(channel, watches, cursor, events ?? []);
    const { engine } = core;
    this.#connection.answer<"space.open">(req, {
      seq: engine.head(),
      watermark: engine.watermark(),
      historyId: engine.historyId,
      level,
      resumed,
    });
    core.sessionsChanged();
    return undefined;
  }

  /**
   * Refuses who may not read. One who may append somewhere is told the ends of its own events all the
   * same: they are its own, and a sender learns how its event ended (R21, seed 000 §4).
   */
  #openLevel(core: SpaceCore, events: readonly EventRef[]): AclLevel {
    try {
      return this.#readLevel(core);
    } catch (error) {
      if (mayAppendSomewhere(core.acl.current().acl, this.#identity.principal)) {
        core.push.listen(this.#channel(core, "sender"), events);
        core.sessionsChanged();
      }
      throw error;
    }
  }

  #channel(core: SpaceCore, kind: ChannelKind): Channel {
    const { space } = core;
    const channel = new Channel(space, this.#identity, this.#connection, kind);
    this.#channels.set(space, { core, channel });
    return channel;
  }

  /** @throws LimitError where the session has as many spaces open as it may. */
  #makeRoom(space: SpaceId): void {
    const { maxOpenSpaces } = this.#host.policy;
    if (this.#channels.has(space) || this.#channels.size < maxOpenSpaces) return;
    throw new LimitError(`this session has ${maxOpenSpaces} spaces open; close one first`, {
      limit: "open spaces",
      max: maxOpenSpaces,
    });
  }

  #watch({ req, space, watches }: WatchSetMessage): undefined {
    this.flush();
    const open = this.#channels.get(space);
    if (open === undefined) {
      throw new ProtocolError(`${space} is not open in this session; open it first`, {
        path: ["space"],
      });
    }
    this.#readLevel(open.core);
    open.core.push.setWatches(open.channel, watches);
    this.#connection.answer<"watch.set">(req, {});
    return undefined;
  }

  #commit({ req, space, commit }: CommitMessage): undefined {
    const core = this.#existing(space);
    this.#submit(
      core,
      req,
      () => writeRequest(core.context, commit, this.#envelope),
      ({ seq }) => {
        this.#host.counters.add("authored");
        this.#connection.answer<"commit">(req, { seq });
      },
    );
    return undefined;
  }

  #appendBehindGate(message: AppendMessage): Promise<void> | undefined {
    const { space, append } = message;
    const at = { space, event: append.entry.eventId };
    const held = this.#host.gates.pass("append:before-admit", at);
    if (held === undefined) {
      this.#append(message);
      return undefined;
    }
    return held.then(
      () => this.#appendUnlessReplaced(message),
      (error: unknown) => this.#refuseAppend(message, error),
    );
  }

  /**
   * A sender that is back on another connection has sent the append there again, and has gone on from
   * the answer it got: this one may come after later events (field faults EV-10, SY-07).
   */
  #appendUnlessReplaced(message: AppendMessage): void {
    if (this.#host.registry.isNewest(this.#identity)) this.#append(message);
  }

  #append(message: AppendMessage): void {
    const { req, space, append } = message;
    try {
      const core = this.#existing(space);
      const admit = (): Admitted<AppendResult> =>
        appendRequest(core.context, append, this.#envelope);
      this.#submit(
        core,
        req,
        () => this.#turns.admit(space, append, admit),
        (result) => this.#appended(core, req, append, result),
        (error) => this.#appendRefused(core, append, error),
      );
    } catch (error) {
      this.#refuseAppend(message, error);
    }
  }

  /** Refused on the way to admission. */
  #refuseAppend({ req, space, append }: AppendMessage, error: unknown): void {
    this.#stands(space, append, error);
    this.#connection.refuse(req, error);
  }

  #appended(core: SpaceCore, req: number, append: AppendRequest, result: AppendResult): void {
    this.#host.counters.add("appends");
    const channel = this.#channels.get(core.space)?.channel;
    const { stream, entry } = append;
    if (channel !== undefined && result.replayed) core.push.ask(channel, stream, entry.eventId);
    else if (channel !== undefined) core.push.expect(channel, stream, entry.eventId);
    const { seq, index } = result;
    this.#connection.answer<"append">(req, { seq, index });
  }

  /** A duplicate counts as delivered for its sender, who is told how the first one ends. */
  #appendRefused(core: SpaceCore, append: AppendRequest, error: unknown): void {
    this.#stands(core.space, append, error);
    const channel = this.#channels.get(core.space)?.channel;
    if (channel === undefined) return;
    const { stream, entry } = append;
    // A disk may tell too late that it failed: the entry stands, and may end before it is sent again.
    if (isTidemarkError(error, "storage")) core.push.expect(channel, stream, entry.eventId);
    if (readAppendRefusal(error) === "delivered") core.push.ask(channel, stream, entry.eventId);
  }

  /** A sender that goes on without sending again what was refused would fill the server's memory. */
  #stands(space: SpaceId, append: AppendRequest, error: unknown): void {
    this.#turns.refused(space, append, error);
    if (this.#turns.size <= this.#host.policy.maxStandingAppends) return;
    this.#connection.terminate("it does not send again what was refused for now");
  }

  #submit<T>(
    core: SpaceCore,
    req: number,
    admit: () => Admitted<T>,
    onAdmitted: (result: T) => void,
    onRefused?: (error: unknown) => void,
  ): void {
    this.#busy.add(core);
    core.intake.submit<T>({
      admit,
      settle: (outcome: Outcome<T>) => {
        if (outcome.ok) {
          onAdmitted(outcome.admitted.result);
        } else {
          onRefused?.(outcome.error);
          this.#connection.refuse(req, outcome.error);
        }
      },
    });
  }

  #existing(space: SpaceId): SpaceCore {
    const core = this.#host.existing(space);
    if (core !== undefined) return core;
    throw new AuthorizationError(`${space} has not begun, or is not served here`, {
      retriable: true,
    });
  }

  /** @throws AuthorizationError where the current ACL gives the session no sight of the space. */
  #readLevel(core: SpaceCore): AclLevel {
    const { principal } = this.#identity;
    const state = core.acl.current();
    const level = aclLevel(state.acl, principal);
    if (level !== undefined) return level;
    throw deniedBy(state, principal, core.space, "read");
  }

  #drop(space: SpaceId): void {
    const open = this.#channels.get(space);
    if (open === undefined) return;
    this.#channels.delete(space);
    open.core.push.drop(open.channel);
    open.core.sessionsChanged();
  }
}
