import {
  mayRead,
  SPACE_SCOPE_KEY,
  parseInstanceKey,
  type AcceptedCommit,
  type Cancellable,
  type Clock,
  type Cursor,
  type DocId,
  type EventId,
  type EventRef,
  type Gates,
  type Held,
  type InstanceKey,
  type Seq,
  type Watch,
} from "@tidemark/protocol";
import type { Engine } from "../../engine-types.js";
import { mayAppendSomewhere, type AclView } from "../admission/acl-view.js";
import type { ServerPolicy } from "../policy.js";
import type { Channel } from "../space/channel.js";
import type { ServerCounters } from "../stats.js";
import type { DemandCause, ServerLog } from "../types.js";
import { Tracker } from "../watch/tracker.js";
import type { ReadInstance, WalkContext } from "../watch/walk.js";
import { flushOrder, frameFor, type FlushState } from "./evaluate.js";
import { LagWatch } from "./lag.js";
import { PendingPush } from "./pending.js";
import { restoreHeld, resumeFrom } from "./resume.js";
import { RowTexts } from "./rows.js";
import { WaitingSenders } from "./waiting.js";

/** What the push of one space works with. */
export interface PushDeps {
  readonly engine: Engine;
  readonly acl: AclView;
  readonly clock: Clock;
  readonly gates: Gates;
  readonly policy: ServerPolicy;
  readonly counters: ServerCounters;
  readonly log: ServerLog;
  /** Takes in commits of other processes, so that a flush knows what it is up to. */
  readonly catchUp: () => void;
  /** Whether something durable may not be told yet. */
  readonly held: () => boolean;
  /** Some session's tracked set moved, and why. */
  readonly onDemand: (cause: DemandCause) => void;
}

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5_000;
const PIECE_PAGE = 1_000;

/**
 * The push side of one space: collects accepted commits and tells each session, in one frame per
 * flush, what of them it tracks and may see (protocol.md §4). Every frame, first ones included, goes
 * out in a flush, so that a session is always told one state of the space whole.
 */
export class SpacePush {
  readonly #deps: PushDeps;
  readonly #walk: WalkContext;
  readonly #tracker: Tracker;
  readonly #waiting: WaitingSenders;
  readonly #pending = new PendingPush();
  readonly #channels = new Set<Channel>();
  readonly #lag: LagWatch;
  #taken: Seq;
  #watermark: Seq;
  #scheduled: Cancellable | undefined;
  #retryMs = FIRST_RETRY_MS;
  #stopped = false;
  /** A flush broke off half way: what the tracker and the sessions hold is not sure any more. */
  #torn = false;

  constructor(deps: PushDeps) {
    const { engine, counters } = deps;
    this.#deps = deps;
    this.#walk = { space: engine.space, limits: deps.policy.walk };
    this.#waiting = new WaitingSenders(engine.entries);
    this.#tracker = new Tracker(
      () => listPieces(engine),
      () => counters.add("walks"),
    );
    this.#lag = new LagWatch(deps, (channel) => this.#caughtUp(channel));
    this.#taken = engine.head();
    this.#watermark = engine.watermark();
  }

  get channels(): ReadonlySet<Channel> {
    return this.#channels;
  }

  /** Instances that some session tracks. */
  get tracked(): number {
    return this.#tracker.size;
  }

  /** Events whose senders wait for the end. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes in the next accepted commit. */
  add(commit: AcceptedCommit): void {
    if (commit.seq <= this.#taken) return;
    this.#taken = commit.seq;
    if (commit.watermark !== undefined) this.#watermark = commit.watermark;
    if (this.#channels.size === 0) return;
    this.#pending.add(commit);
    this.schedule();
  }

  /** Starts telling a session; returns whether it goes on from its cursor. */
  open(
    channel: Channel,
    watches: readonly Watch[],
    cursor: Cursor | undefined,
    events: readonly EventRef[],
  ): boolean {
    const { engine, policy } = this.#deps;
    const resumed = engine.view(() => {
      const read = cachedReader(engine);
      this.#tracker.set(channel, watches, read, this.#walk);
      const resume =
        cursor === undefined ? undefined : resumeFrom(engine, cursor, policy.maxResumeCommits);
      if (resume === undefined) channel.restart();
      else restoreHeld(channel, resume, read, this.#walk);
      for (const { stream, eventId } of events) this.#waiting.ask(channel, stream, eventId);
      return resume !== undefined;
    });
    channel.owed = true;
    this.#channels.add(channel);
    this.#deps.onDemand("watch");
    this.schedule();
    return resumed;
  }

  /** Tells a session that may append and not read how its own events end, and nothing else. */
  listen(channel: Channel, events: readonly EventRef[]): void {
    for (const { stream, eventId } of events) this.#waiting.ask(channel, stream, eventId);
    this.#channels.add(channel);
    this.schedule();
  }

  /** Replaces what a session watches; its next frame carries the first sights. */
  setWatches(channel: Channel, watches: readonly Watch[]): void {
    const { engine } = this.#deps;
    engine.view(() => this.#tracker.set(channel, watches, cachedReader(engine), this.#walk));
    channel.owed = true;
    this.#deps.onDemand("watch");
    this.schedule();
  }

  /** Ends everything of a session here. */
  drop(channel: Channel): void {
    if (!this.#channels.delete(channel)) return;
    channel.closed = true;
    this.#tracker.drop(channel);
    this.#waiting.drop(channel);
    this.#lag.forget(channel);
    if (this.#channels.size === 0) this.#quiesce();
    this.#deps.onDemand("left");
  }

  /** The session appended an event and waits for its end. */
  expect(channel: Channel, stream: DocId, eventId: EventId): void {
    this.#waiting.expect(channel, stream, eventId);
  }

  /** The session sent an event again: it is told how the first one stands. */
  ask(channel: Channel, stream: DocId, eventId: EventId): void {
    if (channel.closed) return;
    this.#waiting.ask(channel, stream, eventId);
    this.schedule();
  }

  stop(): void {
    this.#stopped = true;
    for (const channel of this.#channels) this.drop(channel);
    this.#quiesce();
  }

  /** One flush in a macrotask of its own, however much is committed until then. */
  schedule(): void {
    if (this.#scheduled !== undefined || this.#stopped || this.#channels.size === 0) return;
    this.#scheduled = this.#deps.clock.immediate(() => this.#pass());
  }

  #pass(): void {
    try {
      const held = this.#deps.gates.pass("push:before", { space: this.#deps.engine.space });
      if (held === undefined) this.#flush();
      else
        held.then(
          () => this.#flush(),
          (error: unknown) => this.#retry(error),
        );
    } catch (error) {
      this.#retry(error);
    }
  }

  #flush(): void {
    this.#scheduled = undefined;
    if (this.#stopped) return;
    // While something durable may not be told, nothing is: a row read now would tell it.
    if (this.#deps.held()) return;
    try {
      this.#deps.catchUp();
      this.#deps.engine.view(() => this.#tell());
      this.#torn = false;
      this.#retryMs = FIRST_RETRY_MS;
    } catch (error) {
      this.#torn = true;
      this.#retry(error);
    }
  }

  #retry(error: unknown): void {
    const { clock, counters, log, engine } = this.#deps;
    counters.add("failures");
    log("warn", "a flush failed and is repeated", { space: engine.space, error: `${error}` });
    if (this.#stopped || this.#channels.size === 0) return;
    this.#scheduled = clock.timer(this.#retryMs, () => this.#pass());
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  #tell(): void {
    const { engine, counters } = this.#deps;
    // Another process may have committed since the feed was read: a frame tells one moment.
    if (engine.head() > this.#taken) {
      for (const commit of engine.commitsSince(this.#taken)) this.add(commit);
    }
    counters.add("flushes");
    const batch = this.#pending.take();
    if (batch?.aclChanged === true) this.#enforceAcl();
    const read = cachedReader(engine);
    const { moves, growth } = this.#tracker;
    if (this.#torn) this.#rebuild(read);
    if (batch !== undefined) {
      this.#tracker.changed(batch.rows.keys(), read, this.#walk);
      this.#waiting.marked(batch.marks);
    }
    // A derivation that a wave's own write made reachable is demand from here on (seed 001 §1).
    if (this.#tracker.moves !== moves) {
      this.#deps.onDemand(this.#tracker.growth === growth ? "left" : "growth");
    }
    this.#sendAll({
      batch,
      rows: new RowTexts(read, batch?.rows),
      seq: this.#taken,
      watermark: this.#watermark,
      watermarkMoved: batch?.watermark !== undefined,
    });
  }

  /** Walks everything anew and tells everybody everything. */
  #rebuild(read: ReadInstance): void {
    for (const channel of this.#channels) {
      const { watches } = channel;
      this.#tracker.drop(channel);
      this.#tracker.set(channel, watches, read, this.#walk);
      channel.restart();
      this.#waiting.askAgain(channel);
    }
  }

  #sendAll(flush: FlushState): void {
    const { first, followers, rest } = flushOrder(this.#channels, flush.batch);
    const { counters } = this.#deps;
    if (first.length > 0 && followers.length > 0) {
      counters.add("mixedFlushes");
      counters.add("prioritizedSessions", first.length);
      counters.add("followerSessions", followers.length);
    }
    for (const group of [first, followers, rest]) {
      for (const channel of group) this.#send(channel, flush);
    }
  }

  #send(channel: Channel, flush: FlushState): void {
    if (channel.closed || channel.lagging) return;
    const frame = frameFor(channel, flush);
    if (frame === undefined) {
      channel.dirty.clear();
      return;
    }
    if (!this.#lag.admits(channel, frame.text)) return;
    if (channel.reset) this.#deps.counters.add("resyncs");
    this.#deps.counters.add("frames");
    for (const [row, seq] of frame.sent) {
      row.sent = seq;
      row.whole = false;
    }
    this.#waiting.sent(channel);
    channel.settle();
    channel.sink.send(frame.text);
  }

  #enforceAcl(): void {
    const { acl } = this.#deps.acl.current();
    for (const channel of this.#channels) {
      const { principal } = channel.session;
      if (mayRead(acl, principal)) continue;
      if (channel.kind === "sender" && mayAppendSomewhere(acl, principal)) continue;
      channel.sink.revoked(channel, "the access list no longer lets this session read the space");
    }
  }

  /** A session that did not read reads again: one resync stands for all the frames it missed. */
  #caughtUp(channel: Channel): void {
    channel.restart();
    this.#waiting.askAgain(channel);
    this.schedule();
  }

  #quiesce(): void {
    this.#scheduled?.cancel();
    this.#scheduled = undefined;
    this.#pending.take();
  }
}

function cachedReader(engine: Engine): ReadInstance {
  const cache = new Map<InstanceKey, Held>();
  return (key) => {
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const { id, scopeKey } = parseInstanceKey(key);
    const held = engine.read(id, scopeKey);
    cache.set(key, held);
    return held;
  };
}

function listPieces(engine: Engine): readonly DocId[] {
  const found: DocId[] = [];
  for (;;) {
    const after = found.at(-1);
    const page = engine.listByPrefix("piece:", SPACE_SCOPE_KEY, {
      limit: PIECE_PAGE,
      ...(after === undefined ? {} : { after }),
    });
    for (const { id } of page) found.push(id);
    if (page.length < PIECE_PAGE) return found;
  }
}
