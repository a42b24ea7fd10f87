import { marksIn, type CarriedEntry } from "@tidemark/events";
import type { DocId } from "@tidemark/protocol";
import type { EventTask } from "@tidemark/scheduler";
import type { SpaceStats } from "../stats/counters.js";
import type { Wave, WaveAccumulator } from "../wave/accumulator.js";
import type { Contribution } from "../wave/contribution.js";
import type { CopyOf, DeliveryResult } from "./delivery.js";
import type { Runnable } from "./places.js";

/** What a {@link Cascade} is made of. */
export interface CascadeOptions {
  readonly stats: SpaceStats;
  readonly accumulator: WaveAccumulator;
  readonly queue: {
    queueEvent(task: EventTask): void;
    dropQueued(match: (task: EventTask) => boolean): readonly EventTask[];
  };
  /** Whether a stored entry of the stream has its turn first. */
  readonly holds: (stream: DocId) => boolean;
  readonly deliver: (event: Runnable, copy: CopyOf) => DeliveryResult | Promise<DeliveryResult>;
  readonly reportFailure: (event: Runnable, error: unknown) => void;
}

/**
 * Same-space sends (seed 000 §2, LT1): each is an entry of the wave that its emitter sealed into, and
 * an in-process copy that runs in that wave or not at all. What does not end there is durable input,
 * delivered by the drain alone (§4, one entry, one completed delivery).
 */
export class Cascade {
  readonly #options: CascadeOptions;
  readonly #queued = new Set<string>();
  /** Streams of which a copy of the wave did not end in it. */
  readonly #behind = new WeakMap<Wave, Set<DocId>>();

  constructor(options: CascadeOptions) {
    this.#options = options;
  }

  /** A sealed run sent events: their copies join the queue behind everything that arrived before. */
  follow(contribution: Contribution): void {
    const wave = this.#options.accumulator.open;
    for (const [at, entry] of contribution.sends.entries()) {
      this.#enqueue(`copy ${contribution.id}:${at}`, entry, { emitter: contribution.id, wave });
    }
  }

  /** The flush deadline: copies that have not begun will not (§4, α1). Synchronous. */
  purge(): void {
    const purged = this.#options.queue.dropQueued((task) => this.#queued.has(task.id));
    for (const task of purged) this.#queued.delete(task.id);
    this.#options.stats.events.lt1LeftoversPurged += purged.length;
  }

  #enqueue(id: string, entry: CarriedEntry, copy: CopyOf): void {
    const event: Runnable = {
      stream: entry.stream,
      eventId: entry.eventId,
      payload: entry.payload,
      firedAt: entry.firedAt,
      at: entry.appendedAt ?? 0,
      marks: marksIn(entry),
    };
    this.#queued.add(id);
    this.#options.queue.queueEvent({ id, run: () => this.#run(id, event, copy) });
  }

  /** Within a stream nothing runs ahead of what comes before it (seed 000 §2): the entry is drained in its turn. */
  async #run(id: string, event: Runnable, copy: CopyOf): Promise<void> {
    this.#queued.delete(id);
    const { stream } = event;
    const ends = !this.#holds(stream, copy.wave) && (await this.#delivers(event, copy));
    if (!ends) this.#holdBack(stream, copy.wave);
  }

  async #delivers(event: Runnable, copy: CopyOf): Promise<boolean> {
    try {
      return (await this.#options.deliver(event, copy)).kind === "sealed";
    } catch (error) {
      this.#options.reportFailure(event, error);
      return false;
    }
  }

  #holds(stream: DocId, wave: Wave): boolean {
    return this.#behind.get(wave)?.has(stream) === true || this.#options.holds(stream);
  }

  #holdBack(stream: DocId, wave: Wave): void {
    const behind = this.#behind.get(wave);
    if (behind === undefined) this.#behind.set(wave, new Set([stream]));
    else behind.add(stream);
  }
}
