import {
  type Client,
  connect,
  type FiredEvent,
  type PieceHandle,
  type Space,
} from "@tidemark/client";
import {
  type DocId,
  type DocOperation,
  type EventId,
  type Identity,
  instanceKey,
  type InstanceKey,
  type JsonValue,
  type PatchOp,
  type Path,
  type Random,
  type SessionId,
  type SpaceId,
  type Transport,
} from "@tidemark/protocol";
import type { ChildClock } from "@tidemark/protocol/testing";
import type { Pattern, PatternRegistry } from "@tidemark/runtime";
import type { Place } from "./places.js";

/** What a client of a scenario is made of. */
export interface ScenarioClientOptions {
  readonly name: string;
  readonly user: string;
  readonly identity: Identity;
  readonly sessionId: SessionId;
  readonly transport: Transport;
  readonly clock: ChildClock;
  readonly random: Random;
  readonly patterns: PatternRegistry;
  readonly pacing: { readonly burst: number; readonly ratePerSecond: number } | undefined;
  readonly onError: (error: unknown) => void;
}

/** Which parts of a piece a client watches: the whole result, these nodes, or nothing. */
export type Watched = "whole" | readonly string[];

/** Names an instance of a space in what frames carried. */
const seenKey = (space: SpaceId, key: InstanceKey): string => `${space} ${key}`;

/** One client: a session of the real client library, and what its person sees. */
export class ScenarioClient {
  readonly name: string;
  readonly user: string;
  readonly identity: Identity;
  readonly sessionId: SessionId;
  readonly clock: ChildClock;
  readonly client: Client;
  readonly #pieces = new Map<DocId, PieceHandle>();
  readonly #carried = new Set<string>();
  readonly #mentioned = new Set<string>();
  #online = true;
  #live = true;

  constructor(options: ScenarioClientOptions) {
    this.name = options.name;
    this.user = options.user;
    this.identity = options.identity;
    this.sessionId = options.sessionId;
    this.clock = options.clock;
    this.client = connect({
      transport: options.transport,
      identity: options.identity,
      sessionId: options.sessionId,
      clock: options.clock,
      random: options.random,
      patterns: options.patterns,
      policy: options.pacing ? { appendPacing: options.pacing } : {},
      onError: options.onError,
    });
    this.client.onFrame((frame) => {
      for (const row of frame.rows) {
        const key = seenKey(frame.space, instanceKey(row.id, row.scopeKey));
        this.#mentioned.add(key);
        if (!("absent" in row)) this.#carried.add(key);
      }
    });
  }

  /** Whether it is meant to be connected. */
  get online(): boolean {
    return this.#live && this.#online;
  }

  get live(): boolean {
    return this.#live;
  }

  open(space: SpaceId): Space {
    return this.client.open(space);
  }

  /** Looks at a piece. */
  watch(space: SpaceId, id: DocId, watched: Watched): void {
    const options = watched === "whole" ? {} : { watch: watched };
    if (!this.#pieces.has(id)) this.#pieces.set(id, this.open(space).piece(id, options));
  }

  /** Creates a piece, and looks at it as this client looks at pieces. */
  create(
    space: SpaceId,
    pattern: Pattern,
    argument: JsonValue,
    cause: JsonValue,
    watched: Watched,
  ): { readonly id: DocId; readonly created: Promise<unknown> } {
    const options = watched === "whole" ? { cause } : { cause, watch: watched };
    const { piece, created } = this.open(space).create(pattern, argument, options);
    this.#pieces.set(piece.id, piece as unknown as PieceHandle);
    return { id: piece.id, created };
  }

  /** What the client renders for a node. */
  see(place: Place): { readonly value: unknown; readonly pending: boolean } {
    const piece = this.#pieces.get(place.piece);
    if (!piece) return { value: undefined, pending: true };
    const handle = piece.get(place.node);
    return { value: handle.value, pending: handle.pending };
  }

  fire(space: SpaceId, stream: DocId, payload: JsonValue): FiredEvent {
    return this.open(space).raw.fire(stream, payload);
  }

  append(space: SpaceId, stream: DocId, entry: Readonly<Record<string, JsonValue>>) {
    // What a hostile client may send is no entry by its type: admission is what judges it.
    return this.open(space).raw.append({ stream, entry: entry as never });
  }

  /** A bound edit; where the client does not hold the piece, a raw commit of the same. */
  write(place: Place, value: JsonValue, path: Path): Promise<unknown> {
    const piece = this.#pieces.get(place.piece);
    if (piece?.model) return piece.set(place.node, value, path);
    return this.#commit(
      place,
      path.length === 0
        ? { op: "set", value, ...addressOf(place) }
        : { op: "patch", value: [{ op: "replace", path, value }], ...addressOf(place) },
    );
  }

  patch(place: Place, ops: readonly PatchOp[]): Promise<unknown> {
    const piece = this.#pieces.get(place.piece);
    if (piece?.model) return piece.patch(place.node, ops);
    return this.#commit(place, { op: "patch", value: ops, ...addressOf(place) });
  }

  swap(space: SpaceId, id: DocId, pattern: Pattern): Promise<unknown> {
    const piece = this.#pieces.get(id) ?? this.open(space).piece(id);
    this.#pieces.set(id, piece);
    return piece.swap(pattern);
  }

  /** Whether some frame carried the instance; with `mentioned`, even as absent. */
  received(space: SpaceId, key: InstanceKey, how: "carried" | "mentioned"): boolean {
    return (how === "carried" ? this.#carried : this.#mentioned).has(seenKey(space, key));
  }

  /** Frames of an earlier life of the same tab count too. */
  inherit(earlier: ScenarioClient): void {
    for (const key of earlier.#carried) this.#carried.add(key);
    for (const key of earlier.#mentioned) this.#mentioned.add(key);
  }

  /** Appends and writes not yet acknowledged in a space. */
  unsent(space: SpaceId): number {
    return this.open(space).queued;
  }

  setOnline(online: boolean): void {
    this.#online = online;
    if (online) this.client.reconnect();
    else this.client.disconnect();
  }

  /** The tab reloads: its memory is lost. */
  drop(): void {
    this.#live = false;
    this.client.drop();
    this.clock.kill();
  }

  /** Logs out. */
  async logOut(): Promise<void> {
    await this.client.close();
    this.#live = false;
  }

  #commit(place: Place, operation: DocOperation): Promise<unknown> {
    return this.open(place.space).raw.commit({ reads: [], ops: [operation] });
  }
}

function addressOf(place: Place): Pick<DocOperation, "id" | "scope"> {
  return place.scope === "space" ? { id: place.id } : { id: place.id, scope: place.scope };
}

/** An event that a step named. */
export interface NamedEvent {
  readonly eventId: EventId;
  readonly space: SpaceId;
  readonly stream: DocId;
  readonly payload: JsonValue;
  /** Present for an event that a client fired. */
  readonly fired: FiredEvent | undefined;
  /** Present for a raw append, once admitted. */
  readonly seq: number | undefined;
}
