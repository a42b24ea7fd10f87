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

  /** The entries to ask about when the space is opened. */
  refs(): readonly EventRef[] {
    return [...this.#records.values()].map(({ stream, eventId }) => ({ stream, eventId }));
  }

  /** Ends an event. Returns its record if it had not ended. */
  settle(eventId: EventId, outcome: Outcome): EventRecord | undefined {
    const record = this.#records.get(eventId);
    this.#records.delete(eventId);
    return record?.settle(outcome) === true ? record : undefined;
  }

  /**
   * Events that an entry state ends, with their outcomes. An entry that was admitted and is not in the
   * stream any more was consumed and compacted; W or the frontier says so. One that was never answered
   * is simply not there yet.
   */
  endsIn(
    states: readonly EntryState[],
    passed: (record: EventRecord, seq: Seq) => boolean,
  ): readonly { readonly eventId: EventId; readonly outcome: Outcome }[] {
    const ends: { eventId: EventId; outcome: Outcome }[] = [];
    for (const state of states) {
      const record = this.#records.get(state.eventId);
      if (record === undefined || record.stream !== state.stream) continue;
      if (!("unknown" in state)) record.markAppended({ seq: state.seq });
      const seq = record.position?.seq;
      const gone = "unknown" in state && seq !== undefined && passed(record, seq);
      const outcome = gone ? ({ kind: "consequenced" } as const) : outcomeOf(state);
      if (outcome !== undefined) ends.push({ eventId: state.eventId, outcome });
    }
    return ends;
  }

  /** Events whose place the watermarks have passed without another sign. */
  passed(isPassed: (record: EventRecord, seq: Seq) => boolean): readonly EventId[] {
    const passed: EventId[] = [];
    for (const record of this.#records.values()) {
      const seq = record.position?.seq;
      if (seq !== undefined && isPassed(record, seq)) passed.push(record.eventId);
    }
    return passed;
  }
}
