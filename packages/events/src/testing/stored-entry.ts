import { docId, eventId, identityFromSeed, sessionId, type StreamEntry } from "@tidemark/protocol";

/** The fields of an entry that a test cares about. */
export type StoredEntryFields = Partial<StreamEntry> & Pick<StreamEntry, "seq">;

const SENDER = identityFromSeed(new Uint8Array(32).fill(1)).did;

/** A stored entry with the given fields over plain ones; its id comes from its seq, `e5` at seq 5. */
export function storedEntry(fields: StoredEntryFields): StreamEntry {
  return {
    stream: docId("stream:votes"),
    index: 0,
    eventId: eventId(`e${fields.seq}`),
    payload: null,
    firedAt: { user: SENDER, session: sessionId("a1") },
    appendedAt: 1_000,
    ...fields,
  };
}
