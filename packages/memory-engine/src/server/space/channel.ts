import type {
  Actor,
  DocId,
  EntryState,
  EventId,
  InstanceKey,
  Seq,
  SpaceId,
  Watch,
} from "@tidemark/protocol";
import type { SessionIdentity } from "../session/registry.js";
import type { DemandShare } from "../types.js";

/** Where a channel's frames go: one connection's send side. */
export interface ChannelSink {
  send(text: string): void;
  readonly bufferedBytes: number;
  /** Cuts the connection off without a polite close (field fault RS-03). */
  terminate(reason: string): void;
  /** The ACL no longer lets the session read the space: takes the channel down and says so. */
  revoked(channel: Channel, reason: string): void;
}

/** What a session holds of one tracked instance. */
export interface TrackedRow {
  /** How many watch roots of the session reach it. */
  roots: number;
  /** Seq of the row the session was sent; `undefined` before first sight. */
  sent: Seq | undefined;
  /** What was sent lies further back than the last flush: only the whole value is sure to fit. */
  whole?: boolean;
}

/** An event of the session whose end it has not been told. */
export interface OutstandingEvent {
  readonly stream: DocId;
  readonly eventId: EventId;
}

/** Names one event of one stream. Neither part can hold a space. */
export function eventKeyOf(stream: DocId, eventId: EventId): string {
  return `${stream} ${eventId}`;
}

/**
 * What a channel tells: the space as the session watches it, or, to one that may append and not read,
 * the ends of its own events alone.
 */
export type ChannelKind = "reader" | "sender";

/**
 * One session's view of one space over one connection. It dies with the connection: what a socket
 * was sent says nothing about what its successor holds (field fault SY-07).
 */
export class Channel {
  readonly space: SpaceId;
  readonly session: SessionIdentity;
  readonly actor: Actor;
  readonly sink: ChannelSink;
  readonly kind: ChannelKind;
  readonly tracked = new Map<InstanceKey, TrackedRow>();
  readonly outstanding = new Map<string, OutstandingEvent>();
  /** States to tell with the next frame, by event. */
  readonly entryNews = new Map<string, EntryState>();
  /** How many outstanding events there are on each stream: whose frontier the session is told. */
  readonly #streams = new Map<DocId, number>();
  /** Instances with news for the session. */
  readonly dirty = new Set<InstanceKey>();
  /** Instances the session was sent and no longer tracks. */
  readonly gone = new Set<InstanceKey>();
  watches: readonly Watch[] = [];
  /** The next frame is a whole one: the session drops what it holds. */
  reset = false;
  /** Owes a frame even if nothing changed: the first one, or the one after `watch.set`. */
  owed = false;
  /** The session does not read: no frame is built until it does, then one resync. */
  lagging = false;
  closed = false;
  #share: DemandShare | undefined;

  constructor(
    space: SpaceId,
    session: SessionIdentity,
    sink: ChannelSink,
    kind: ChannelKind = "reader",
  ) {
    this.space = space;
    this.session = session;
    this.sink = sink;
    this.kind = kind;
    this.actor = { user: session.principal, session: session.sessionId };
  }

  /** One more root reaches the instance; true on first reach. */
  addRoot(key: InstanceKey): boolean {
    const row = this.tracked.get(key);
    if (row !== undefined) {
      row.roots += 1;
      return false;
    }
    this.tracked.set(key, { roots: 1, sent: undefined });
    this.gone.delete(key);
    this.dirty.add(key);
    this.#share = undefined;
    return true;
  }

  /** One root less reaches the instance; true when none is left. */
  dropRoot(key: InstanceKey): boolean {
    const row = this.tracked.get(key);
    if (row === undefined) return false;
    row.roots -= 1;
    if (row.roots > 0) return false;
    this.tracked.delete(key);
    this.dirty.delete(key);
    if (row.sent !== undefined) this.gone.add(key);
    this.#share = undefined;
    return true;
  }

  /** The session waits for the end of one of its events. */
  expect(key: string, event: OutstandingEvent): void {
    if (this.outstanding.has(key)) return;
    this.outstanding.set(key, event);
    this.#streams.set(event.stream, (this.#streams.get(event.stream) ?? 0) + 1);
  }

  /** The session was told the end of the event; true when it waited for it. */
  told(key: string): boolean {
    const event = this.outstanding.get(key);
    if (event === undefined) return false;
    this.outstanding.delete(key);
    const left = (this.#streams.get(event.stream) ?? 1) - 1;
    if (left === 0) this.#streams.delete(event.stream);
    else this.#streams.set(event.stream, left);
    return true;
  }

  /** Streams on which the session has outstanding events. */
  get streams(): ReadonlyMap<DocId, number> {
    return this.#streams;
  }

  /** The tracked set as demand: the same object until the set changes. */
  share(): DemandShare {
    this.#share ??= { actor: this.actor, keys: new Set(this.tracked.keys()) };
    return this.#share;
  }

  /** A frame went out: nothing of what it told is news any more. */
  settle(): void {
    this.dirty.clear();
    this.gone.clear();
    this.reset = false;
    this.owed = false;
  }

  /** Forgets what the session holds: its next frame tells everything. A sender holds nothing. */
  restart(): void {
    if (this.kind === "sender") return;
    this.reset = true;
    this.owed = true;
    this.gone.clear();
    for (const [key, row] of this.tracked) {
      row.sent = undefined;
      this.dirty.add(key);
    }
  }
}
