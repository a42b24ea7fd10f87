import { marksIn, type CarriedEntry } from "@tidemark/events";
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

  #enqueue(id: string, entry: CarriedEntry, copy: { emitter: number; wave: Wave }): void {
    const event: Runnable = {
      stream: entry.stream,
      eventId: entry.eventId,
      payload: entry.payload,
      firedAt: entry.firedAt,
      at: entry.appendedAt ?? 0,
      marks: marksIn(entry),
    };
    this.#queued.add(id);
    this.#options.queue.queueEvent({
      id,
      run: async () => {
        this.#queued.delete(id);
        try {
          await this.#options.deliver(event, copy);
        } catch (error) {
          this.#options.reportFailure(event, error);
        }
      },
    });
  }
}
