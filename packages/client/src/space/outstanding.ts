import type { EntryState, EventId, EventRef, Seq } from "@tidemark/protocol";
import { failedOutcome } from "../handle/outcome.js";
import type { Outcome } from "../handle/outcome.js";
import type { EventRecord } from "../handle/fired-event.js";

/** How an entry's end reads for its sender (R33); `undefined`: it has not ended. */
export function outcomeOf(state: EntryState): Outcome | undefined {
  if ("unknown" in state || state.consequenced !== true) return undefined;
  if (state.status === undefined) return { kind: "consequenced" };
  const reason = state.error ?? state.reason ?? state.status;
  return failedOutcome(state.status, reason, state.eventId);
}

/** About 2 MB on the wire: half of what the server reads at once. */
const MAX_ASKED = 16_384;

/** An event whose handling has ended, and how. */
export interface End {
  readonly record: EventRecord;
  readonly outcome: Outcome;
}

/**
 * The events of this session whose handling has not ended, as their senders see it. Their stream
 * entries stay watched for it, across reconnects too.
 */
export class Outstanding {
  readonly #records = new Map<EventId, EventRecord>();

  get size(): number {
    return this.#records.size;
  }

  add(record: EventRecord): void {
    this.#records.set(record.eventId, record);
  }

  get(eventId: EventId): EventRecord | undefined {
    return this.#records.get(eventId);
  }

  /**
   * The entries to ask about when the space is opened, as many as one message holds: those that are known to be durable
   * first, since the answer to an append that is sent again brings news of that one anyway.
   */
  refs(): readonly EventRef[] {
    const records = [...this.#records.values()];
    const durable = records.filter(({ position }) => position !== undefined);
    const others = records.filter(({ position }) => position === undefined);
    const asked = [...durable, ...others].slice(0, MAX_ASKED);
    return asked.map(({ stream, eventId }) => ({ stream, eventId }));
  }

  /** Ends an event otherwise than by a frame. */
  settle(eventId: EventId, outcome: Outcome): void {
    const record = this.#records.get(eventId);
    this.#records.delete(eventId);
    record?.settle(outcome);
  }

  /**
   * Takes out the events that frame number `nth` ends: nobody else may say another end of them from here on.
   *
   * The server tells how each ended in the frame that brings it. Where one was passed in silence by a frame that came
   * after its append was answered, or is not in the stream any more, W or the frontier stands in for the word
   * (speculation.md §Reconcile 2). A frame from before the answer says nothing: the word may be on its way.
   */
  takeEnds(
    states: readonly EntryState[],
    nth: number,
    passed: (record: EventRecord, seq: Seq) => boolean,
  ): readonly End[] {
    const ends: End[] = [];
    for (const state of states) {
      const record = this.#records.get(state.eventId);
      if (record === undefined || record.stream !== state.stream) continue;
      if (!("unknown" in state)) record.markAppended({ seq: state.seq }, nth);
      const outcome = outcomeOf(state);
      if (outcome !== undefined) ends.push({ record, outcome });
    }
    for (const { record } of ends) this.#records.delete(record.eventId);
    return [...ends, ...this.#takePassed(nth, passed)];
  }

  #takePassed(nth: number, passed: (record: EventRecord, seq: Seq) => boolean): readonly End[] {
    const ends: End[] = [];
    for (const record of this.#records.values()) {
      const seq = record.position?.seq;
      if (seq === undefined || !record.knownBefore(nth) || !passed(record, seq)) continue;
      ends.push({ record, outcome: { kind: "consequenced" } });
    }
    for (const { record } of ends) this.#records.delete(record.eventId);
    return ends;
  }
}
