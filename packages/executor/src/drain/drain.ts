import { decidePending } from "@tidemark/events";
import type { Engine } from "@tidemark/memory-engine";
import type {
  AcceptedCommit,
  Cancellable,
  Clock,
  DocId,
  GateName,
  EventId,
  InstanceKey,
  Seq,
  StreamEntry,
} from "@tidemark/protocol";
import type { EventTask } from "@tidemark/scheduler";
import type { ServingPolicy } from "../policy.js";
import type { SpaceStats } from "../stats/counters.js";
import type { StreamLoad } from "../tenure/structure-loads.js";
import type { WaveAccumulator } from "../wave/accumulator.js";
import type { Contribution } from "../wave/contribution.js";
import { endDraft } from "../wave/draft.js";
import type { Fate } from "../wave/plan.js";
import { spendDeferral, type Deferral } from "./deferral.js";
import type { DeliveryResult } from "./delivery.js";
import { InFlightGuard } from "./guard.js";
import { placeKey, runnableOf, type PlaceKey, type Runnable } from "./places.js";
import { ENTRIES_PER_PASS, standingEntries, type Standing } from "./standing.js";
import { StreamTurns } from "./turns.js";

const FIRST = 1 as Seq;

/** What a {@link Drain} is made of. */
export interface DrainOptions {
  readonly entries: Pick<Engine["entries"], "pending" | "consumed">;
  readonly clock: Clock;
  readonly policy: ServingPolicy;
  readonly stats: SpaceStats;
  readonly accumulator: WaveAccumulator;
  /** The ordinary event queue of the scheduler. */
  readonly queue: {
    queueEvent(task: EventTask): void;
    dropQueued(match: (task: EventTask) => boolean): readonly EventTask[];
  };
  /** The seq the replica stands at: what is above it is the next cycle's input. */
  readonly seq: () => Seq;
  /** Moves the replica up to the store, if it may move now. */
  readonly catchUp: () => boolean;
  /** Loads what handles the stream; the reason where nothing does. */
  readonly prepare: (stream: DocId) => StreamLoad;
  /** Whether the load of an instance is on its way. */
  readonly isPending: (key: InstanceKey) => boolean;
  readonly deliver: (event: Runnable) => DeliveryResult | Promise<DeliveryResult>;
  /** Takes back the dispatch whose body has not begun. */
  readonly recall: () => void;
  readonly pass: (gate: GateName, event: EventId) => Promise<void> | undefined;
  readonly live: () => boolean;
  readonly wake: () => void;
  readonly reportFailure: (event: EventId, error: unknown) => void;
}

/**
 * Takes pending entries into the scheduler's queue in arrival order (seed 000 §2, §4): at most one
 * copy of each, nothing past an entry that must be resolved first.
 */
export class Drain {
  readonly #options: DrainOptions;
  readonly #guard = new InFlightGuard();
  readonly #deferrals = new Map<PlaceKey, Deferral>();
  readonly #queued = new Map<string, Runnable>();
  readonly #turns = new StreamTurns();
  #armed = true;
  /** What the feed brought and no pass has looked at. */
  #arrived: StreamEntry[] = [];
  /** The store knows of pending entries that `#arrived` does not hold: the next pass asks it. */
  #askStore = true;
  #pending = 0;
  #backstop: Cancellable | undefined;
  /** Until a pass has looked, any event may be pending. */
  #floor: Seq | undefined = FIRST;
  /** What ended the last pass waits for a load. */
  #loadParked = false;
  /** The head that waits for a load: not dispatched again while that load is pending. */
  #parkedOn: { readonly place: PlaceKey; readonly load: InstanceKey } | undefined;
  /** A pass that began in an earlier one queues nothing more: something ahead of it went back meanwhile. */
  #era = 0;

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  /** Nothing pending was left behind by the last pass, and no pass is owed. */
  get isEmpty(): boolean {
    return !this.#armed && this.#pending === 0 && this.#guard.size === 0;
  }

  /** Whether a pass is owed. */
  get isArmed(): boolean {
    return this.#armed;
  }

  /** Lowest seq whose event is not visible yet: W stays below it (seed 001 §3). */
  get floor(): Seq | undefined {
    return this.#floor;
  }

  /** Whether a stored entry of the stream has its turn before anything that this wave sends there. */
  holds(stream: DocId): boolean {
    return this.#turns.holds(stream);
  }

  /** Copies in flight. */
  get inFlight(): number {
    return this.#guard.size;
  }

  /** Timers held. */
  get timers(): number {
    return this.#backstop === undefined ? 0 : 1;
  }

  /** A pass over the store's pending entries is owed: a wave spoke, or a deferral's time came. */
  arm(): void {
    this.#armed = true;
    this.#askStore = true;
  }

  /** The feed tells of a commit that a barrier has yet to take in: its events have their turns from now on. */
  admitted({ appends, marks }: Pick<AcceptedCommit, "appends" | "marks">): void {
    for (const mark of marks) this.#turns.done(mark.stream, placeKey(mark));
    for (const entry of appends) {
      if (entry.consequenced !== true) this.#turns.wait(entry.stream, placeKey(entry));
    }
  }

  /** The feed brought a commit: what it appended and did not end is pending. */
  offer({ appends, marks }: Pick<AcceptedCommit, "appends" | "marks">): void {
    const ended = new Set(marks.map(placeKey));
    // What another tenure ended between two barriers is not pending any more.
    if (ended.size > 0) this.#arrived = this.#arrived.filter((one) => !ended.has(placeKey(one)));
    if (appends.length === 0) return;
    this.#armed = true;
    if (this.#askStore) return;
    for (const entry of appends) {
      if (entry.consequenced !== true && !ended.has(placeKey(entry))) this.#arrived.push(entry);
    }
  }

  /** One pass over the pending entries: those that the feed brought, or, where it may not know all, the store's. */
  async scan(): Promise<void> {
    if (!this.#armed || !this.#options.live()) return;
    this.#armed = false;
    this.#floor = undefined;
    this.#loadParked = false;
    const asked = this.#askStore;
    const { entries: pending, beyond } = asked
      ? standingEntries(this.#options)
      : this.#takeArrived();
    this.#pending = pending.length;
    if (asked) this.#arrived = [];
    this.#findTurns(pending, asked, beyond !== undefined);
    const consumed = this.#consumedOf(pending);
    // Where the store was not asked, what is in flight came earlier than everything here.
    const earliest = asked || this.#guard.size === 0;
    for (const [at, entry] of pending.entries()) {
      const visible = entry.seq <= this.#options.seq();
      const taken = visible
        ? this.#take(entry, at === 0 && earliest, consumed)
        : this.#deferUnseen();
      if (typeof taken === "boolean" ? taken : await taken) continue;
      this.#lower(entry.seq);
      this.#askStore = true;
      if (visible) this.#held(pending.length - at - 1);
      return;
    }
    if (asked) this.#askStore = beyond !== undefined;
    if (beyond === undefined) return;
    // No pass has looked at it yet: W stays below it until one has.
    this.#lower(beyond.seq);
    this.#armed = true;
  }

  #findTurns(pending: readonly StreamEntry[], asked: boolean, beyond: boolean): void {
    if (asked) this.#turns.clear();
    const open = pending.filter((entry) => this.#guard.stateOf(placeKey(entry)) !== "sealed");
    this.#turns.found(open, beyond);
  }

  /** Later arrivals that the entry before them holds back. */
  #held(followers: number): void {
    const { events } = this.#options.stats;
    if (this.#loadParked) events.loadParkDeferrals += followers;
    else events.arrivalHeldDeferrals += followers;
  }

  /** Leaves alone what is in flight without looking for it. */
  #takeArrived(): Standing {
    this.#options.stats.events.drainInFlightSkips += this.#guard.size;
    const entries = this.#arrived.splice(0, ENTRIES_PER_PASS);
    return { entries, beyond: this.#arrived[0] };
  }

  /** The wave committed or aborted: what it carried is spoken for. */
  settle(contribution: Contribution, fate: Fate | undefined): void {
    const { delivery } = contribution;
    if (delivery?.place === undefined) return;
    const key = placeKey({ stream: delivery.stream, ...delivery.place });
    const wasNotice = this.#guard.stateOf(key) === "notice";
    this.#guard.release(key);
    if (fate?.kind === "lands" || !wasNotice) this.#deferrals.delete(key);
    if (fate?.kind === "lands") {
      this.#turns.done(delivery.stream, key);
      if (wasNotice) this.arm();
      else if (this.#pending > 0) this.#armed = true;
      return;
    }
    this.#turns.wait(delivery.stream, key);
    this.#lower(delivery.place.seq);
    // Arrival order is the order of processing (R16): what stands behind it in the queue comes again.
    this.#sweep();
    this.#options.recall();
    this.arm();
    this.#options.wake();
  }

  /** Takes back every queued entry, as deferrals and requeues do (seed 000 §5, the in-queue sweep). */
  #sweep(): number {
    this.#era += 1;
    const swept = this.#options.queue.dropQueued((task) => this.#queued.has(task.id));
    for (const task of swept) {
      // It may have arrived before whatever swept it, where a wave had given it back meanwhile.
      const place = this.#queued.get(task.id)?.place;
      if (place !== undefined) this.#lower(place.seq);
      this.#queued.delete(task.id);
      this.#guard.release(task.id);
    }
    return swept.length;
  }

  /** Ends the drain of a tenure: no timer is left. */
  close(): void {
    this.#backstop?.cancel();
    this.#backstop = undefined;
    this.#guard.clear();
    this.#turns.clear();
    this.#queued.clear();
  }

  /** A tenure begins: it scans the store afresh, and every budget and floor is its own (seed 001 §3). */
  reopen(): void {
    this.#deferrals.clear();
    this.restart();
  }

  /** The lease lapsed and came back: whatever is queued may have been delivered by somebody else meanwhile. */
  restart(): void {
    this.#sweep();
    this.#guard.clear();
    this.#turns.clear();
    this.#arrived = [];
    this.#pending = 0;
    this.#floor = FIRST;
    this.arm();
  }

  /** The store has it and the replica does not: input or the backstop has it looked for again. */
  #deferUnseen(): false {
    this.#options.stats.events.visibilityDeferrals += 1;
    this.#armBackstop();
    return false;
  }

  /** True: the scan goes on to the next entry. */
  #take(
    entry: StreamEntry,
    first: boolean,
    consumed: ReadonlyMap<string, StreamEntry>,
  ): boolean | Promise<boolean> {
    const { stats } = this.#options;
    const key = placeKey(entry);
    const state = this.#guard.stateOf(key);
    if (state === "notice") return false;
    if (state !== undefined) {
      stats.events.drainInFlightSkips += 1;
      return true;
    }
    if (this.#passOver(entry, key, consumed.get(eventKey(entry)))) return true;
    const parked = this.#parkedOn;
    if (parked?.place === key && this.#options.isPending(parked.load)) {
      return this.#park(key, parked.load, false);
    }
    const prepared = this.#options.prepare(entry.stream);
    if (!prepared.ok) {
      const { load, reason } = prepared;
      if (load === undefined) return this.#defer(entry, first, reason);
      return this.#park(key, load.on, load.error !== undefined);
    }
    const held = this.#options.pass("drain:before-queue", entry.eventId);
    if (held === undefined) return this.#enqueue(entry, key);
    const era = this.#era;
    return held.then(() => era === this.#era && this.#enqueue(entry, key));
  }

  /** By event, the earliest entry that was consumed and still stands. */
  #consumedOf(pending: readonly StreamEntry[]): ReadonlyMap<string, StreamEntry> {
    const found = new Map<string, StreamEntry>();
    if (pending.length === 0) return found;
    for (const entry of this.#options.entries.consumed(pending)) {
      if (!found.has(eventKey(entry))) found.set(eventKey(entry), entry);
    }
    return found;
  }

  /** A duplicate of a consumed entry is marked and passed over (R1). */
  #passOver(entry: StreamEntry, key: PlaceKey, consumed: StreamEntry | undefined): boolean {
    const decision = decidePending(entry, consumed);
    if (decision.kind === "run") return false;
    this.#options.accumulator.seal(
      endDraft(runnableOf(entry), { kind: "succeeded" }, { duplicate: decision.mark }),
    );
    this.#sealed(entry.stream, key);
    return true;
  }

  /** Its end is in the open wave: what comes later to its stream may follow it there. */
  #sealed(stream: DocId, key: PlaceKey): void {
    this.#guard.set(key, "sealed");
    this.#turns.done(stream, key);
  }

  #enqueue(entry: StreamEntry, key: PlaceKey): boolean {
    if (!this.#options.live()) return false;
    const event = runnableOf(entry);
    this.#guard.set(key, "queued");
    this.#queued.set(key, event);
    this.#options.queue.queueEvent({ id: key, run: () => this.#run(entry, key, event) });
    return true;
  }

  #run(entry: StreamEntry, key: PlaceKey, event: Runnable): Promise<void> | undefined {
    this.#queued.delete(key);
    if (!this.#options.live()) return undefined;
    this.#guard.set(key, "running");
    const ended = (result: DeliveryResult): void => {
      if (this.#options.live()) this.#conclude(entry, key, result);
    };
    const failed = (error: unknown): void => {
      this.#options.reportFailure(event.eventId, error);
      ended({ kind: "failed" });
    };
    let result: DeliveryResult | Promise<DeliveryResult>;
    try {
      result = this.#options.deliver(event);
    } catch (error) {
      failed(error);
      return undefined;
    }
    if (result instanceof Promise) return result.then(ended, failed);
    ended(result);
    return undefined;
  }

  #conclude(entry: StreamEntry, key: PlaceKey, result: DeliveryResult): void {
    const { stats } = this.#options;
    if (result.kind !== "sealed") this.#lower(entry.seq);
    switch (result.kind) {
      case "sealed":
        // Its wave may have committed before the delivery's promise got here: then the store has spoken already.
        if (this.#guard.stateOf(key) === "running") this.#sealed(entry.stream, key);
        return;
      case "requeued":
        this.#guard.release(key);
        this.#sweep();
        this.arm();
        this.#options.wake();
        return;
      case "not-run":
        stats.events.handlerNotRunDeferrals += 1;
        this.#guard.release(key);
        this.#askStore = true;
        // What is swept behind any head is counted with the barrier's followers (seed 001 §7).
        stats.events.loadParkDeferrals += this.#sweep();
        this.#defer(entry, this.#isFirst(entry), result.reason);
        return;
      case "load-parked":
        this.#guard.release(key);
        this.#askStore = true;
        this.#park(key, result.on, result.failed);
        stats.events.loadParkDeferrals += this.#sweep();
        return;
      case "failed":
        this.#guard.release(key);
        this.#sweep();
        this.#askStore = true;
        this.#armBackstop();
        return;
      case "abandoned":
        return;
    }
  }

  #lower(seq: Seq): void {
    if (this.#floor === undefined || seq < this.#floor) this.#floor = seq;
  }

  #isFirst(entry: StreamEntry): boolean {
    const [first] = this.#options.entries.pending(1);
    return first !== undefined && placeKey(first) === placeKey(entry);
  }

  /**
   * An entry nothing can run holds every later arrival of the space. Only the earliest pending one
   * spends its budget; spent, it drops with a notice (seed 000 §5, T3). Always false: the scan ends.
   */
  #defer(entry: StreamEntry, first: boolean, reason: string): false {
    const { stats, clock, policy, accumulator } = this.#options;
    if (!first) {
      stats.events.arrivalHeldDeferrals += 1;
      return false;
    }
    const key = placeKey(entry);
    const step = spendDeferral(this.#deferrals.get(key), clock.monotonic(), {
      threshold: policy.deferralThreshold,
      backstopMs: policy.deferralBackstopMs,
    });
    this.#deferrals.set(key, step.deferral);
    if (!step.exhausted) {
      this.#armBackstop();
      return false;
    }
    stats.events.dropped += 1;
    accumulator.seal(endDraft(runnableOf(entry), { kind: "dropped", reason }));
    this.#guard.set(key, "notice");
    return false;
  }

  /**
   * Parks the head on a load (R22): it holds every later arrival and spends no deferral. The load's end
   * has it scanned again; one that failed is tried again at the backstop. Always false: the scan ends.
   */
  #park(place: PlaceKey, load: InstanceKey, failed: boolean): false {
    const { events } = this.#options.stats;
    this.#loadParked = true;
    this.#parkedOn = { place, load };
    events.loadParkDeferrals += 1;
    if (!failed) return false;
    events.loadParkFailures += 1;
    this.#armBackstop();
    return false;
  }

  #armBackstop(): void {
    const { clock, policy, stats, live } = this.#options;
    if (this.#backstop !== undefined || !live()) return;
    stats.events.deferredRescansArmed += 1;
    this.#backstop = clock.timer(policy.deferralBackstopMs, () => {
      this.#backstop = undefined;
      stats.events.deferredRescansFired += 1;
      this.arm();
      this.#options.wake();
    });
  }
}

function eventKey({ stream, eventId }: Pick<StreamEntry, "stream" | "eventId">): string {
  return `${stream} ${eventId}`;
}
